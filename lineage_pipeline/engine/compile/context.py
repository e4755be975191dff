"""What the compilers of one statement share while they work on it."""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from typing import Any

from sqlglot import exp
from sqlglot.tokens import Token

from lineage_pipeline.dialects.folding import Folding, fold, spoken
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.outside import FILE, outside
from lineage_pipeline.engine.compile.parse import Items
from lineage_pipeline.engine.compile.pieces import Piece
from lineage_pipeline.engine.faults import MalformedTree
from lineage_pipeline.vocabulary import ir

CompileQuery = Callable[["Context", exp.Expr], int]

Compilers = tuple[CompileQuery, Callable[["Context", exp.Expr], dict[str, Any]]]
"""Who compiles a query, and who a statement that writes."""

_BEHIND_VALUES = frozenset("WHERE FROM WHEN OUTPUT RETURNING ORDER LIMIT DELETE OPTION".split())
"""What may follow the last assignment of a statement or an arm."""


class Context:
    """The statement at hand: its text and rules, and what has been compiled of it so far."""

    def __init__(self, text: str, piece: Piece, items: Items, traits: Traits, compilers: Compilers) -> None:
        """Start on a statement; `compilers` are for the queries inside expressions and the writes inside queries."""
        self.text = text
        self.tokens = piece.tokens
        self.origin = piece.start
        self.items = items
        self.traits = traits
        self.dialect = traits.name
        self._columns, self._tables, self._aliases = _folds_of(traits)
        self.compile_query, self.compile_change = compilers
        self.relations: list[ir.Relation | None] = []
        self.ctes: Mapping[str, int] = {}
        self.common: list[tuple[int, ir.Name]] = []
        self.recursions: set[int] = set()
        self.visible: frozenset[str] = frozenset()  # aliases whose arrays a FROM may name, where the dialect lets it
        self.shared: set[int] = set()
        self.depth = 0
        self.constants: Mapping[str, exp.Expr] = {}
        self.named: Mapping[str, exp.Expr] = {}
        self.expansions = 0
        self.windows: Mapping[str, exp.Expr] = {}
        self.findings: list[ir.Finding] = []
        self.features: set[str] = set()
        self.calls: list[ir.Invocation] = []
        self.changes: list[ir.Write] = []
        self.declared: Mapping[str, str] = {}  # the types of variables

    def restart(self) -> None:
        """Forget what has been compiled."""
        self.relations.clear()
        self.findings.clear()
        self.calls.clear()
        self.changes.clear()

    def reserve(self) -> int:
        """The index of a relation that is still to be compiled."""
        self.relations.append(None)
        return len(self.relations) - 1

    def add(self, relation: ir.Relation) -> int:
        """The index of a relation."""
        self.relations.append(relation)
        return len(self.relations) - 1

    def invoke(self, call: ir.Invocation) -> None:
        """Keep a call of what may be a function of the user's own, once for each name."""
        if all(known.name.parts != call.name.parts for known in self.calls):
            self.calls.append(call)

    def report(self, code: str, start: int, end: int, **values: str) -> None:
        """Keep a finding at absolute offsets."""
        self.findings.append(ir.Finding(code, tuple(values.items()), start - self.origin, end - self.origin))

    @property
    def end(self) -> int:
        """The offset behind the last token."""
        return int(self.tokens[-1].end) + 1

    @cached_property
    def _ordered(self) -> list[Token]:
        return sorted(self.tokens, key=lambda token: token.start)

    def value_behind(self, offset: int) -> tuple[int, int]:
        """The place of the value of an assignment whose left side begins at an offset."""
        tokens = self._ordered
        index = bisect_left(tokens, offset, key=lambda token: token.start)
        while index < len(tokens) and tokens[index].text not in ("=", ":="):
            index += 1
        first, depth = index + 1, 0
        index = first
        while index < len(tokens):
            word = tokens[index].text.upper()
            if depth == 0 and (word in _BEHIND_VALUES or word in (",", ")")):
                break
            depth += (word in ("(", "[", "CASE")) - (word in (")", "]", "END"))
            index += 1
        if first >= index:
            return ir.NOWHERE, ir.NOWHERE
        return tokens[first].start - self.origin, int(tokens[index - 1].end) + 1 - self.origin

    def item_place(self, node: exp.Expr) -> tuple[int, int]:
        """The place of an item of a list, where the parser recorded it."""
        recorded = self.items.nodes.get(id(node))
        if recorded is None or self.items.tokens[recorded[1]].start < self.origin:
            return ir.NOWHERE, ir.NOWHERE
        first, last = (self.items.tokens[index] for index in recorded[1:])
        return first.start - self.origin, int(last.end) + 1 - self.origin

    def column(self, identifier: exp.Expr) -> str:
        """The folded name of a column."""
        args = identifier.args
        name = args.get("this")
        return self._columns[bool(args.get("quoted"))](name if type(name) is str else identifier.name)

    def reference(self, table: exp.Expr, name: exp.Expr) -> ir.Ref:
        """A column by its qualifier and its name: nothing is more frequent, so that nothing is asked twice."""
        of_table, of_name = table.args, name.args
        if len(of_table) > 2 or type(of_table["this"]) is not str or type(of_name["this"]) is not str:
            return ir.Ref((self.alias(table), self.column(name)), *self.stretch(table, name))
        owner = self._aliases[bool(of_table.get("quoted"))](of_table["this"])
        own = self._columns[bool(of_name.get("quoted"))](of_name["this"])
        start, end, origin = table.meta.get("start"), name.meta.get("end"), self.origin
        if start is None or end is None or start < origin:
            return ir.Ref((owner, own), *self.stretch(table, name))
        return ir.Ref((owner, own), start - origin, end + 1 - origin)

    def contains(self, text: str) -> bool:
        """Whether a text stands anywhere in the statement."""
        return self.text.find(text, self.origin, self.tokens[-1].end + 1) >= 0

    def mentions(self, word: str) -> bool:
        """Whether a lower-case word stands anywhere in the statement, in whatever case."""
        return word in self.text[self.origin : self.tokens[-1].end + 1].lower()

    def fold_column(self, name: str) -> str:
        """The folded form of an unquoted name of a column."""
        return self._columns[0](name)

    def fold_table(self, name: str) -> str:
        """The folded form of an unquoted name of an object."""
        return self._tables[0](name)

    def variable(self, node: exp.Expr) -> str:
        """The name of a variable: `@v` keeps its mark, `:v` is a name like any other."""
        plain = isinstance(node, exp.Placeholder) and isinstance(node.args.get("this"), str)
        return fold(node.name, False, self.traits.columns) if plain else "@" + node.name.lower()

    def called(self, name: ir.Name) -> str:
        """What a query calls an object to which it gives no other name."""
        return spoken(name.parts[-1:], self.traits.aliases)[0]

    def alias(self, identifier: exp.Expr) -> str:
        """The folded name of a source as a query calls it: an alias, a CTE, what qualifies a column."""
        args = identifier.args
        name = args.get("this")
        name = self._aliases[bool(args.get("quoted"))](name if type(name) is str else identifier.name)
        if len(args) > 2:
            return "#" + name if args.get("temporary") else "##" + name if args.get("global_") else name
        return name

    def table(self, identifier: exp.Expr) -> str:
        """The folded name of an object or a part of one; a temporary object keeps its mark."""
        args = identifier.args
        name = args.get("this")
        name = self._tables[bool(args.get("quoted"))](name if type(name) is str else identifier.name)
        if len(args) > 2:
            return "#" + name if args.get("temporary") else "##" + name if args.get("global_") else name
        return name

    def place_of(self, name: exp.Expr) -> tuple[int, int]:
        """The characters of one name, relative to the statement."""
        meta = name.meta
        end = meta.get("end")
        if end is None or meta["start"] < self.origin:
            return ir.NOWHERE, ir.NOWHERE
        return meta["start"] - self.origin, end + 1 - self.origin

    def stretch(self, first: exp.Expr, last: exp.Expr) -> tuple[int, int]:
        """The characters from one name to another one behind it, relative to the statement."""
        start, end = first.meta.get("start"), last.meta.get("end")
        if start is None or end is None:
            return self.place(first, last)
        origin = self.origin
        return (start - origin, end + 1 - origin) if start >= origin else (ir.NOWHERE, ir.NOWHERE)

    def place(self, *nodes: exp.Expr | None) -> tuple[int, int]:
        """The characters from the first to the last of the given names, relative to the statement."""
        known = [node.meta for node in nodes if node is not None]
        known = [meta for meta in known if meta.get("end") is not None]
        if not known:
            return ir.NOWHERE, ir.NOWHERE
        start = min([meta["start"] for meta in known]) - self.origin
        if start < 0:  # a source that the INSERTs of one statement share stands before them
            return ir.NOWHERE, ir.NOWHERE
        return start, max([meta["end"] for meta in known]) + 1 - self.origin


Folds = tuple[Callable[[str], str], Callable[[str], str]]
"""How unquoted and quoted names are folded."""


_FOLDS: dict[int, tuple[Traits, tuple[Folds, Folds, Folds]]] = {}
"""The folds of traits by their id; the traits are kept beside it, so that no others can get the same one."""


def _folds_of(traits: Traits) -> tuple[Folds, Folds, Folds]:
    """How the names of columns, objects and aliases are folded."""
    found = _FOLDS.get(id(traits))
    if found is None:
        folds = _folds(traits.columns), _folds(traits.tables), _folds(traits.aliases or traits.tables)
        found = _FOLDS[id(traits)] = (traits, folds)
    return found[1]


@cache
def _folds(folding: Folding) -> Folds:
    """What `fold` does, as methods of `str`: there are many names."""
    methods: dict[str, Callable[[str], str]] = {"ab": str.lower, "AB": str.upper, "aB": str}
    return methods[fold("aB", False, folding)], methods[fold("aB", True, folding)]


def name_of(context: Context, table: exp.Expr) -> ir.Name:
    """The name in a table node: its parts from the outermost in, `db..t` keeping its empty part."""
    found = _plain_name(context, table) or _any_name(context, table)
    if not found.parts:
        raise MalformedTree("a statement that lacks a name")
    return found


def _plain_name(context: Context, table: exp.Expr) -> ir.Name | None:
    """A name of plain parts, as most are; None where there is more to it."""
    args, traits = table.args, context.traits
    last, schema, catalog = args.get("this"), args.get("db"), args.get("catalog")
    if type(last) is not exp.Identifier or (traits.file_tables and FILE.search(last.name)):
        return None
    parts = (last,) if schema is None else (schema, last) if catalog is None else (catalog, schema, last)
    for part in parts[:-1]:
        if type(part) is not exp.Identifier:
            return None
    names = tuple([context.table(part) for part in parts])
    if (schema is None and catalog is not None) or names[-1][:1] in _MARKED or (traits.decorators or "\0") in names[-1]:
        return None
    if traits.virtual and names[0] in traits.virtual:
        return None
    return ir.Name(names, last.name, *context.stretch(parts[0], last))


_MARKED = ("", "#")
"""What a name begins with that is none, or that of a temporary table."""


def _any_name(context: Context, table: exp.Expr) -> ir.Name:
    args = table.args
    identifiers = [part for part in (args.get("catalog"), args.get("db"), args.get("this")) if part is not None]
    if args.get("db") is None and args.get("catalog") is not None:
        identifiers.insert(1, None)
    if identifiers and isinstance(identifiers[-1], exp.Dot):  # more than three parts come as a chain of dots
        identifiers.extend(part for part in identifiers.pop().flatten() if isinstance(part, exp.Identifier))
    last = identifiers[-1] if identifiers else None
    if isinstance(last, exp.Parameter):  # a variable that is a table
        return ir.Name(("@" + last.name.lower(),), "@" + last.name, *context.place(last))
    if isinstance(last, exp.Var) and "." in last.name and "/" not in last.name:  # a parameter stands for a schema
        first, *rest = last.name.split(".")
        return ir.Name((first, *(fold(part, False, context.traits.tables) for part in rest)), last.name)
    if isinstance(last, exp.Var | exp.Literal):  # a stage or a file
        return outside(last.name, context.traits, *context.place(last))
    if context.traits.file_tables and isinstance(last, exp.Identifier) and FILE.search(last.name):
        return outside(last.name, context.traits, *context.place(last))
    named = [part for part in identifiers if type(part) is exp.Identifier]
    parts = tuple([context.table(part) if type(part) is exp.Identifier else "" for part in identifiers])
    if context.traits.virtual and len(parts) > 1 and parts[0] in context.traits.virtual:
        parts = parts[1:]  # a schema that is no part of the name
    mark = context.traits.decorators
    if mark and parts and mark in parts[-1][1:]:
        parts = (*parts[:-1], parts[-1].split(mark, 1)[0])
    start, end = context.place(*named)
    if start > 0 and parts and parts[-1].startswith("#") and context.text[context.origin + start - 1] == "#":
        start -= len(parts[-1]) - len(parts[-1].lstrip("#"))  # sqlglot leaves the mark of a temp table out
    return ir.Name(parts, named[-1].name if named else "", start, end)


def target_of(context: Context, node: exp.Expr) -> tuple[ir.Name | None, tuple[str, ...] | None]:
    """The object that is written, and the column list where there is one."""
    columns: tuple[str, ...] | None = None
    if isinstance(node, exp.Schema):
        names = [item.this if isinstance(item, exp.ColumnDef | exp.Column) else item for item in node.expressions]
        columns = tuple(context.column(item) for item in names if isinstance(item, exp.Identifier)) or None
        node = node.this
    return (name_of(context, node) if isinstance(node, exp.Table) else None), columns
