"""Generated SQL: the parts of a case, written out as a query, as views or as a statement.

Texts hold their aliases in marks (`‹a1›`), so that a case can be written again under other names. Every column knows
which table columns give its values: the generator never asks the engine.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lineage_pipeline_tests.support.dialect_syntax import TARGET_COLUMNS, DialectSyntax

ValueInputs = frozenset[tuple[str, str]]
"""The columns that give a value, as pairs of table and column."""

ALIAS_MARK = re.compile(r"‹(\w+)›")


@dataclass(frozen=True)
class Column:
    """One column of a source or a query, and where its values come from."""

    name: str
    inputs: ValueInputs


@dataclass(frozen=True)
class Query:
    """A query without its WITH: its text, and its columns."""

    text: str
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class CommonTable:
    """A common table expression; `header` renames its columns, `recursive` lets it read itself."""

    mark: str
    query: Query
    header: tuple[str, ...] = ()
    recursive: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        """Its columns under the names that others see."""
        names = self.header or tuple(column.name for column in self.query.columns)
        return tuple(Column(name, column.inputs) for name, column in zip(names, self.query.columns, strict=True))

    @property
    def head(self) -> str:
        """Its name with the list of its columns."""
        return f"{self.mark} ({', '.join(self.header)})" if self.header else self.mark


@dataclass(frozen=True)
class GeneratedProgram:
    """A query with its common table expressions, in one dialect."""

    flavour: DialectSyntax
    commons: tuple[CommonTable, ...]
    query: Query

    def prefix(self) -> str:
        """WITH and its list, or nothing."""
        return _with_clause(self.flavour, self.commons)

    def text(self) -> str:
        """The whole query."""
        return self.prefix() + self.query.text

    def wrapped(self) -> list[str]:
        """The same rows once more: through another common table expression, and through a derived table."""
        last = CommonTable("‹w›", self.query)
        alias = self.flavour.alias
        return [
            _with_clause(self.flavour, (*self.commons, last)) + "select * from ‹w›",
            f"{self.prefix()}select * from ({self.query.text}) {alias}‹w›",
            f"{self.prefix()}select {', '.join(self.names())} from ({self.query.text}) {alias}‹w›",
        ]

    def names(self) -> list[str]:
        """The columns of the result, as they are written."""
        return [column.name for column in self.query.columns]

    def views(self) -> str:
        """Each common table expression as a view, then the query over them."""
        batch = "\ngo\n" if self.flavour.dialect == "tsql" else "\n"
        made = [_view_statement(self.flavour, item) for item in self.commons]
        return batch.join(f"{statement};" for statement in [*made, self.query.text])

    def statements(self) -> dict[str, str]:
        """The query as part of each kind of statement that the dialect has, by what the kind is called."""
        prefix, query, flavour = self.prefix(), self.query.text, self.flavour
        outer, inner = (prefix, "") if flavour.with_first else ("", prefix)
        names, width = self.names(), len(self.query.columns)
        found = {
            "view": f"create view s.made as {prefix}{query}",
            "insert with a list": f"{outer}insert into s.target ({', '.join(TARGET_COLUMNS[:width])}) {inner}{query}",
            "insert": f"{outer}insert into s.target_{width} {inner}{query}",
        }
        if not flavour.with_first:
            found["table"] = f"create table s.made as {prefix}{query}"
        sets = ", ".join(f"{to} = ‹u›.{name}" for to, name in zip(TARGET_COLUMNS, names, strict=False))
        if flavour.update:
            found["update"] = outer + flavour.update.format(sets=sets, query=inner + query, key=names[0])
        if flavour.merge:
            alias = flavour.alias
            values = ", ".join(f"‹u›.{name}" for name in names)
            found["merge"] = (
                f"{outer}merge into s.target {alias}‹t› using ({inner}{query}) {alias}‹u› on (‹t›.c1 = ‹u›.{names[0]}) "
                f"when matched then update set {sets} "
                f"when not matched then insert ({', '.join(TARGET_COLUMNS[:width])}) values ({values})"
            )
        return found


def _with_clause(flavour: DialectSyntax, commons: tuple[CommonTable, ...]) -> str:
    if not commons:
        return ""
    word = flavour.recursive if any(item.recursive for item in commons) else "with"
    return f"{word} " + ", ".join(f"{item.head} as ({item.query.text})" for item in commons) + " "


def _view_statement(flavour: DialectSyntax, item: CommonTable) -> str:
    if not item.recursive:
        return f"create view {item.head} as {item.query.text}"
    inner = CommonTable("‹r›", Query(item.query.text.replace(item.mark, "‹r›"), item.query.columns), item.header, True)
    return f"create view {item.mark} as {_with_clause(flavour, (inner,))}select * from ‹r›"


def fill_aliases(text: str, names: Mapping[str, str] | None = None) -> str:
    """A text with its aliases filled in: the given names, or the marks themselves."""
    return ALIAS_MARK.sub(lambda match: (names or {}).get(match[1], match[1]), text)


def list_aliases(text: str) -> list[str]:
    """The aliases of a text, each once."""
    return list(dict.fromkeys(ALIAS_MARK.findall(text)))
