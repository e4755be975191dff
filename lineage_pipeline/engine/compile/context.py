"""CompileContext: the statement being compiled, its names, source spans, relations and findings."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.identifier_folding import IdentifierFolding, fold_for_alias, fold_identifier
from lineage_pipeline.engine.compile.external_objects import FILE_NAME_PATTERN, build_external_name
from lineage_pipeline.engine.compile.grammar.parser import SpanRecorder
from lineage_pipeline.engine.compile.split.raw_statements import RawStatement
from lineage_pipeline.engine.compile.tokens import retype_token
from lineage_pipeline.engine.faults import MalformedTree
from lineage_pipeline.model import ir

CompileQuery = Callable[["CompileContext", exp.Expr], int]
"""Compiles a query and returns the index of its relation."""

Compilers = tuple[CompileQuery, Callable[["CompileContext", exp.Expr], dict[str, Any]]]
"""The compiler of queries, and the compiler of statements that write."""

_ASSIGNMENT_ENDS = frozenset("WHERE FROM WHEN OUTPUT RETURNING ORDER LIMIT DELETE OPTION".split())
"""Keywords that may follow the last assignment of a SET clause."""


class CompileContext:
    """The statement being compiled: its text and dialect, and what has been compiled of it so far."""

    def __init__(
        self, text: str, piece: RawStatement, items: SpanRecorder, traits: DialectTraits, compilers: Compilers
    ) -> None:
        """Start a statement; `compilers` compile queries inside expressions and writes inside queries."""
        self.text = text
        self.tokens = piece.tokens
        self.origin = piece.start
        self.items = items
        self.traits = traits
        self.dialect = traits.name
        self._columns, self._tables, self._aliases = _folds_of_traits(traits)
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

    def reset(self) -> None:
        """Forget everything compiled so far."""
        self.relations.clear()
        self.findings.clear()
        self.calls.clear()
        self.changes.clear()

    def reserve_relation(self) -> int:
        """Reserve the index of a relation that is compiled later."""
        self.relations.append(None)
        return len(self.relations) - 1

    def add_relation(self, relation: ir.Relation) -> int:
        """Add a relation and return its index."""
        self.relations.append(relation)
        return len(self.relations) - 1

    def add_call(self, call: ir.Invocation) -> None:
        """Record a call of a possible user-defined function, once per name."""
        if all(known.name.parts != call.name.parts for known in self.calls):
            self.calls.append(call)

    def report(self, code: str, start: int, end: int, **values: str) -> None:
        """Record a finding at absolute offsets."""
        self.findings.append(ir.Finding(code, tuple(values.items()), start - self.origin, end - self.origin))

    @property
    def end(self) -> int:
        """The offset after the last token."""
        return int(self.tokens[-1].end) + 1

    @cached_property
    def _sorted_tokens(self) -> list[Token]:
        return sorted(self.tokens, key=lambda token: token.start)

    @cached_property
    def _token_starts(self) -> list[int]:
        return [token.start for token in self._sorted_tokens]

    def source_tokens(self, start: int, end: int) -> list[Token]:
        """The tokens of a span as they are written, before any rewrite."""
        starts = self._token_starts
        first = bisect_left(starts, self.origin + start)
        found = self._sorted_tokens[first : bisect_left(starts, self.origin + end, first)]
        if found and found[0].token_type is TokenType.VAR:  # in CALL another word stands for the procedure
            found[0] = retype_token(found[0], TokenType.VAR, self.text[found[0].start : found[0].end + 1])
        return found

    def assigned_value_span(self, offset: int) -> tuple[int, int]:
        """The span of the assigned value, given the offset of the left side of the assignment."""
        tokens = self._sorted_tokens
        index = bisect_left(self._token_starts, offset)
        while index < len(tokens) and tokens[index].text not in ("=", ":="):
            index += 1
        first, depth = index + 1, 0
        index = first
        while index < len(tokens):
            word = tokens[index].text.upper()
            if depth == 0 and (word in _ASSIGNMENT_ENDS or word in (",", ")")):
                break
            depth += (word in ("(", "[", "CASE")) - (word in (")", "]", "END"))
            index += 1
        if first >= index:
            return ir.NOWHERE, ir.NOWHERE
        return tokens[first].start - self.origin, int(tokens[index - 1].end) + 1 - self.origin

    def item_span(self, node: exp.Expr) -> tuple[int, int]:
        """The span of a list item, where the parser recorded it."""
        recorded = self.items.nodes.get(id(node))
        if recorded is None or self.items.tokens[recorded[1]].start < self.origin:
            return ir.NOWHERE, ir.NOWHERE
        first, last = (self.items.tokens[index] for index in recorded[1:])
        return first.start - self.origin, int(last.end) + 1 - self.origin

    def column_name(self, identifier: exp.Expr) -> str:
        """The folded name of a column."""
        args = identifier.args
        name = args.get("this")
        return self._columns[bool(args.get("quoted"))](name if type(name) is str else identifier.name)

    def column_reference(self, table: exp.Expr, name: exp.Expr) -> ir.Ref:
        """A qualified column reference; this is the fast path, since it is the most frequent expression."""
        of_table, of_name = table.args, name.args
        if len(of_table) > 2 or type(of_table["this"]) is not str or type(of_name["this"]) is not str:
            return ir.Ref((self.alias_name(table), self.column_name(name)), *self.span_between(table, name))
        owner = self._aliases[bool(of_table.get("quoted"))](of_table["this"])
        own = self._columns[bool(of_name.get("quoted"))](of_name["this"])
        start, end, origin = table.meta.get("start"), name.meta.get("end"), self.origin
        if start is None or end is None or start < origin:
            return ir.Ref((owner, own), *self.span_between(table, name))
        return ir.Ref((owner, own), start - origin, end + 1 - origin)

    def contains(self, text: str) -> bool:
        """Whether the statement contains a text."""
        return self.text.find(text, self.origin, self.tokens[-1].end + 1) >= 0

    def mentions(self, word: str) -> bool:
        """Whether the statement contains a lower-case word, ignoring case."""
        return word in self.text[self.origin : self.tokens[-1].end + 1].lower()

    def fold_column(self, name: str) -> str:
        """The folded form of an unquoted column name."""
        return self._columns[0](name)

    def fold_table(self, name: str) -> str:
        """The folded form of an unquoted object name."""
        return self._tables[0](name)

    def variable_name(self, node: exp.Expr) -> str:
        """The name of a variable: `@v` keeps its prefix, `:v` does not."""
        plain = isinstance(node, exp.Placeholder) and isinstance(node.args.get("this"), str)
        return fold_identifier(node.name, False, self.traits.columns) if plain else "@" + node.name.lower()

    def default_alias(self, name: ir.Name) -> str:
        """The alias of an object for which the query gives none."""
        return fold_for_alias(name.parts[-1:], self.traits.aliases)[0]

    def alias_name(self, identifier: exp.Expr) -> str:
        """The folded name of a source in a query: an alias, a CTE, or the qualifier of a column."""
        args = identifier.args
        name = args.get("this")
        name = self._aliases[bool(args.get("quoted"))](name if type(name) is str else identifier.name)
        if len(args) > 2:
            return "#" + name if args.get("temporary") else "##" + name if args.get("global_") else name
        return name

    def table_alias(self, node: exp.Expr) -> tuple[str, tuple[str, ...]]:
        """The alias of a source and the names that it gives to its columns."""
        alias = node.args.get("alias")
        if not isinstance(alias, exp.TableAlias):
            return "", ()
        name, listed = alias.args.get("this"), alias.args.get("columns")
        names = [item.this if isinstance(item, exp.ColumnDef) else item for item in listed or ()]
        columns = tuple([self.column_name(item) for item in names])
        return (self.alias_name(name) if name is not None else ""), columns

    def table_name(self, identifier: exp.Expr) -> str:
        """The folded name of an object or of one part of it; a temporary object keeps its `#`."""
        args = identifier.args
        name = args.get("this")
        name = self._tables[bool(args.get("quoted"))](name if type(name) is str else identifier.name)
        if len(args) > 2:
            return "#" + name if args.get("temporary") else "##" + name if args.get("global_") else name
        return name

    def name_span(self, name: exp.Expr) -> tuple[int, int]:
        """The span of one name, relative to the statement."""
        meta = name.meta
        end = meta.get("end")
        if end is None or meta["start"] < self.origin:
            return ir.NOWHERE, ir.NOWHERE
        return meta["start"] - self.origin, end + 1 - self.origin

    def reads_stage_columns(self) -> bool:
        """Whether the statement reads columns as those of a stage are read; `@db.t` may be a parameter, too."""
        return _STAGE_COLUMN.search(self.text, self.origin, self.end) is not None

    def span_between(self, first: exp.Expr, last: exp.Expr) -> tuple[int, int]:
        """The span from one name to a later one, relative to the statement."""
        start, end = first.meta.get("start"), last.meta.get("end")
        if start is None or end is None:
            return self.span_of(first, last)
        origin = self.origin
        return (start - origin, end + 1 - origin) if start >= origin else (ir.NOWHERE, ir.NOWHERE)

    def span_of(self, *nodes: exp.Expr | None) -> tuple[int, int]:
        """The span that covers all given names, relative to the statement."""
        known = [node.meta for node in nodes if node is not None]
        known = [meta for meta in known if meta.get("end") is not None]
        if not known:
            return ir.NOWHERE, ir.NOWHERE
        start = min([meta["start"] for meta in known]) - self.origin
        if start < 0:  # a source that the INSERTs of one statement share stands before them
            return ir.NOWHERE, ir.NOWHERE
        return start, max([meta["end"] for meta in known]) + 1 - self.origin


FoldPair = tuple[Callable[[str], str], Callable[[str], str]]
"""How unquoted and quoted names are folded."""


_FOLD_CACHE: dict[int, tuple[DialectTraits, tuple[FoldPair, FoldPair, FoldPair]]] = {}
"""Fold functions by the id of the traits; the traits are kept so that the id cannot be reused."""


def _folds_of_traits(traits: DialectTraits) -> tuple[FoldPair, FoldPair, FoldPair]:
    """The fold functions of columns, objects and aliases."""
    found = _FOLD_CACHE.get(id(traits))
    if found is None:
        folds = (
            _fold_methods(traits.columns),
            _fold_methods(traits.tables),
            _fold_methods(traits.aliases or traits.tables),
        )
        found = _FOLD_CACHE[id(traits)] = (traits, folds)
    return found[1]


@cache
def _fold_methods(folding: IdentifierFolding) -> FoldPair:
    """`fold` as methods of `str`, since there are many names."""
    methods: dict[str, Callable[[str], str]] = {"ab": str.lower, "AB": str.upper, "aB": str}
    return methods[fold_identifier("aB", False, folding)], methods[fold_identifier("aB", True, folding)]


def compile_object_name(context: CompileContext, table: exp.Expr) -> ir.Name:
    """The name in a table node, outermost part first; `db..t` keeps its empty part."""
    found = _compile_plain_name(context, table) or _compile_any_name(context, table)
    if not found.parts:
        raise MalformedTree("a statement that lacks a name")
    return found


def _compile_plain_name(context: CompileContext, table: exp.Expr) -> ir.Name | None:
    """A name of plain identifiers, the usual case; None for anything else."""
    args, traits = table.args, context.traits
    last, schema, catalog = args.get("this"), args.get("db"), args.get("catalog")
    if type(last) is not exp.Identifier or (traits.file_tables and FILE_NAME_PATTERN.search(last.name)):
        return None
    parts = (last,) if schema is None else (schema, last) if catalog is None else (catalog, schema, last)
    for part in parts[:-1]:
        if type(part) is not exp.Identifier:
            return None
    names = tuple([context.table_name(part) for part in parts])
    if (
        (schema is None and catalog is not None)
        or names[-1][:1] in _SPECIAL_PREFIXES
        or (traits.decorators or "\0") in names[-1]
    ):
        return None
    if traits.virtual and names[0] in traits.virtual:
        return None
    return ir.Name(names, last.name, *context.span_between(parts[0], last))


_STAGE_COLUMN = re.compile(r"\$\d|METADATA\$", re.IGNORECASE)
"""How a column of a staged file is written: by its position, or as metadata of the file."""

_SPECIAL_PREFIXES = ("", "#")
"""First characters of a name that is empty or that of a temporary table."""


def _compile_any_name(context: CompileContext, table: exp.Expr) -> ir.Name:
    args = table.args
    identifiers = [part for part in (args.get("catalog"), args.get("db"), args.get("this")) if part is not None]
    if args.get("db") is None and args.get("catalog") is not None:
        identifiers.insert(1, None)
    if identifiers and isinstance(identifiers[-1], exp.Dot):  # more than three parts come as a chain of dots
        identifiers.extend(part for part in identifiers.pop().flatten() if isinstance(part, exp.Identifier))
    last = identifiers[-1] if identifiers else None
    if isinstance(last, exp.Parameter):  # a variable that is a table
        return ir.Name(("@" + last.name.lower(),), "@" + last.name, *context.span_of(last))
    listed = isinstance(last, exp.DirectoryStage)  # Snowflake: DIRECTORY(@stage), the list of its files
    last = last.this if isinstance(last, exp.DirectoryStage) else last
    staged = listed or (context.traits.stages and isinstance(last, exp.Var) and context.reads_stage_columns())
    if isinstance(last, exp.Var) and "." in last.name and "/" not in last.name and not staged:  # a schema by parameter
        first, *rest = last.name.split(".")
        return ir.Name((first, *(fold_identifier(part, False, context.traits.tables) for part in rest)), last.name)
    if isinstance(last, exp.Var | exp.Literal):  # a stage or a file
        return build_external_name(last.name, context.traits, *context.span_of(last))
    if context.traits.file_tables and isinstance(last, exp.Identifier) and FILE_NAME_PATTERN.search(last.name):
        return build_external_name(last.name, context.traits, *context.span_of(last))
    named = [part for part in identifiers if type(part) is exp.Identifier]
    parts = tuple([context.table_name(part) if type(part) is exp.Identifier else "" for part in identifiers])
    if context.traits.virtual and len(parts) > 1 and parts[0] in context.traits.virtual:
        parts = parts[1:]  # a schema that is no part of the name
    mark = context.traits.decorators
    if mark and parts and mark in parts[-1][1:]:
        parts = (*parts[:-1], parts[-1].split(mark, 1)[0])
    start, end = context.span_of(*named)
    if start > 0 and parts and parts[-1].startswith("#") and context.text[context.origin + start - 1] == "#":
        start -= len(parts[-1]) - len(parts[-1].lstrip("#"))  # sqlglot leaves the mark of a temp table out
    return ir.Name(parts, named[-1].name if named else "", start, end)


def compile_target(context: CompileContext, node: exp.Expr) -> tuple[ir.Name | None, tuple[str, ...] | None]:
    """The object that is written, and its column list if there is one."""
    columns: tuple[str, ...] | None = None
    if isinstance(node, exp.Schema):
        columns = tuple(context.column_name(item) for item in target_columns_of(node)) or None
        node = node.this
    name = compile_object_name(context, node) if isinstance(node, exp.Table) else None
    return (name if name is not None and any(name.parts) else None), columns  # a function has no name of a table


def find_item_span(context: CompileContext, node: exp.Expr, alias: exp.Expr | None) -> tuple[int, int]:
    """The span of the expression of a list item without its alias; NOWHERE if not recorded."""
    items = context.items
    found = items.nodes.get(id(node))
    named = alias.meta.get("start") if type(alias) is exp.Identifier else None
    if found is not None:
        _, first, last = found
        if named is not None:
            last = _find_token_before_alias(items.tokens, last, named)
    elif named is not None and named in items.comparisons:  # `alias = expression`
        first, last = items.comparisons[named]
        first += 2
    else:
        return ir.NOWHERE, ir.NOWHERE
    origin = context.origin
    start, end = items.tokens[first].start - origin, items.tokens[last].end + 1 - origin
    return (start, end) if 0 <= start < end else (ir.NOWHERE, ir.NOWHERE)


def build_text_alias(context: CompileContext, item: exp.Expr) -> exp.Identifier:
    """T-SQL: the alias in `'name' = expression`."""
    alias = exp.Identifier(this=item.this.name, quoted=True)
    found = context.items.nodes.get(id(item))
    if found is not None:
        alias.meta["start"] = context.items.tokens[found[1]].start
    return alias


def _find_token_before_alias(tokens: Sequence[Token], last: int, named: int) -> int:
    """The last token of an expression whose alias begins at an offset."""
    while last > 0 and tokens[last].start != named:
        last -= 1
    last -= 1
    while last > 0 and tokens[last].text.upper() in ("AS", "("):
        last -= 1
    return last


def name_listed_columns(items: Iterable[exp.Expr]) -> None:
    """Turn values into names in a list of columns: sqlglot reads TRUE, NULL or CURRENT_DATE as values there, too."""
    for item in items:
        value = item.this if isinstance(item, exp.ColumnDef) else item
        if isinstance(value, exp.Boolean | exp.Null):
            value.replace(exp.to_identifier(value.sql(comments=False).lower()))
        elif isinstance(value, exp.Func) and not any(value.args.values()):
            value.replace(exp.to_identifier(value.sql_name().lower()))


def target_columns_of(node: exp.Expr) -> list[exp.Identifier]:
    """The columns listed in parentheses after the object that is written."""
    if not isinstance(node, exp.Schema | exp.Tuple):
        return []
    name_listed_columns(node.expressions)
    items = node.expressions
    names = [item.this if isinstance(item, exp.ColumnDef | exp.Column) else item for item in items]
    return [item for item in names if isinstance(item, exp.Identifier)]


def column_offsets_of(context: CompileContext, columns: list[exp.Identifier]) -> tuple[int, ...]:
    """The offsets of columns, relative to the statement."""
    origin = context.origin
    return tuple(item.meta.get("start", origin + ir.NOWHERE) - origin for item in columns)


def find_values_row(context: CompileContext, number: int = 0) -> int:
    """The offset of a row of the first VALUES, or NOWHERE."""
    depth, rows, inside = 0, -1, False
    for token in context.tokens:
        kind = token.token_type
        if not inside:
            inside = kind is TokenType.VALUES
        elif kind is TokenType.L_PAREN:
            rows += depth == 0
            if depth == 0 and rows == number:
                return int(token.start)
            depth += 1
        elif kind is TokenType.R_PAREN:
            depth -= 1
    return ir.NOWHERE


StatementFields = dict[str, Any]
"""The fields of a statement that its compiler fills."""


ReadFields = dict[str, Any]
"""The fields of a statement that is read from its tokens."""
