"""Accounting: every table that the tokens of a statement name, and every item of its select lists, is in its IR.

The check knows nothing of the compilers: it follows FROM, JOIN, INTO, UPDATE, USING, TABLE and REFERENCES through the
brackets. What is missing becomes UNACCOUNTED_REFERENCE; a missing source is read all the same, at table level.
"""

from collections.abc import Iterator, Sequence

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.engine.compile.split.raw_statements import RawStatement
from lineage_pipeline.engine.compile.tokens import STRING_TOKENS, is_name_at, keyword, read_dotted_name, skip_brackets
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import RUNTIME_PLACEHOLDER

SOURCE, TARGET, ALIAS_OR_TARGET, ITEM = "source", "target", "alias or target", "item"
"""What is expected: a table that is read, an object that is written or defined, an item of a select list."""

PASSED, RETURNED = "passed", "returned"
"""States behind a select list that something has ended, so that a FROM may follow, and behind RETURNING."""

_LISTS = frozenset({SOURCE, ITEM, ALIAS_OR_TARGET})
"""States in which a comma separates what is expected."""

_FROM, _JOIN, _SELECT, _COMMA = TokenType.FROM, TokenType.JOIN, TokenType.SELECT, TokenType.COMMA
_OPEN, _CLOSE, _INTO, _USING = TokenType.L_PAREN, TokenType.R_PAREN, TokenType.INTO, TokenType.USING
_CLOSING_BRACKETS = frozenset({TokenType.R_BRACKET, TokenType.R_BRACE})
_BRACKETS = _CLOSING_BRACKETS | {TokenType.L_BRACKET, TokenType.L_BRACE}
_LIST_ENDS = frozenset(
    {
        TokenType.WHERE,
        TokenType.PREWHERE,
        TokenType.GROUP_BY,
        TokenType.HAVING,
        TokenType.QUALIFY,
        TokenType.ORDER_BY,
        TokenType.SORT_BY,
        TokenType.CLUSTER_BY,
        TokenType.DISTRIBUTE_BY,
        TokenType.LIMIT,
        TokenType.FETCH,
        TokenType.OFFSET,
        TokenType.WINDOW,
        TokenType.UNION,
        TokenType.EXCEPT,
        TokenType.INTERSECT,
        TokenType.SET,
        TokenType.SETTINGS,
        TokenType.FORMAT,
        TokenType.VALUES,
        TokenType.VIEW,  # LATERAL VIEW f(x) t AS a, b
        TokenType.FOR,
        TokenType.START_WITH,
        TokenType.CONNECT_BY,
        TokenType.RETURNING,
        TokenType.PIPE_GT,
        TokenType.OPTION,
        TokenType.WITH,
    }
)
"""Tokens after which a comma separates neither sources nor items of a select list."""

_FUNCTION_NAMES = frozenset({TokenType.FORMAT, TokenType.WINDOW, TokenType.OFFSET})
"""Those of them that are functions in front of a parenthesis."""

_EXPECTING = frozenset(
    {_SELECT, _FROM, _JOIN, _USING, _INTO, TokenType.UPDATE, TokenType.DELETE, TokenType.TABLE, TokenType.REFERENCES}
)
"""Tokens behind which a table or an item is expected."""

_FOLLOWED = _LIST_ENDS | _BRACKETS | _EXPECTING | {_OPEN, _CLOSE, _COMMA}
_WRITERS = frozenset({TokenType.INSERT, TokenType.COPY, TokenType.MERGE, TokenType.OVERWRITE, TokenType.REPLACE})
_DEFINERS = frozenset({TokenType.CREATE, TokenType.DROP, TokenType.TRUNCATE})
_PERMISSIONS = frozenset({TokenType.GRANT, TokenType.REVOKE})
_WITH_SOURCES = frozenset({TokenType.UPDATE, TokenType.DELETE, TokenType.WITH})
"""First tokens of statements with a FROM that follows no select list."""

_OPENING = frozenset({_OPEN, TokenType.L_BRACKET, TokenType.L_BRACE})

_JOIN_KINDS = frozenset(
    {TokenType.LEFT, TokenType.RIGHT, TokenType.FULL, TokenType.INNER, TokenType.OUTER, TokenType.CROSS}
    | {TokenType.SEMI, TokenType.ANTI, TokenType.NATURAL, TokenType.ASOF, TokenType.PIPE_GT}
)

_PIVOT_STATEMENTS = frozenset({TokenType.PIVOT, TokenType.UNPIVOT})
"""DuckDB: `FROM (UNPIVOT t ON a, b)`, where commas separate columns."""

_HEAD = 6
"""How many tokens may stand between CREATE and TABLE."""


def find_unmatched(piece: RawStatement, names: set[int], items: set[int]) -> list[tuple[int, str]]:
    """The tokens where a table or an item of a select list is expected and nothing of the IR begins, and which it is.

    `names` and `items` are the offsets of the names and of the items in the IR.
    """
    tokens, kinds, base = piece.tokens, piece.token_types, piece.start
    stack: list[str] = []
    unmatched: list[tuple[int, str]] = []
    state, source, last = "", -1, len(kinds) - 1  # `source` is where a source is expected
    for index in [index for index, kind in enumerate(kinds) if kind in _FOLLOWED]:
        kind = kinds[index]
        if kind is _OPEN:
            stack.append(state)
            if index != source or (index < last and kinds[index + 1] in _PIVOT_STATEMENTS):
                state = ""
                continue
            found = SOURCE  # FROM ((a JOIN b …) JOIN c …)
        elif kind is _CLOSE:
            state = stack.pop() if stack else ""
            continue
        elif kind is _COMMA:
            if state is ITEM and index < last and tokens[index + 1].start - base in items:
                continue
            found = state if state in _LISTS else ""
        elif kind in _BRACKETS:
            state = _pass_bracket(kind, state, stack)
            continue
        else:
            found, state = _pass_keyword(tokens, kinds, index, state, bool(stack))
        if found and index < last:
            source = index + 1 if found is SOURCE else -1
            if tokens[index + 1].start - base not in (items if found is ITEM else names):
                unmatched.append((index + 1, found))
    return unmatched


def _pass_bracket(kind: TokenType, state: str, stack: list[str]) -> str:
    """The state inside `[` and `{`, and behind `]` and `}`."""
    if kind in _CLOSING_BRACKETS:
        return stack.pop() if stack else ""
    stack.append(state)
    return ""


def _pass_keyword(
    tokens: Sequence[Token], kinds: Sequence[TokenType], index: int, state: str, nested: bool
) -> tuple[str, str]:
    """What is expected behind a keyword, and the list that goes on behind it."""
    kind, head, before = kinds[index], kinds[0], kinds[index - 1] if index else None
    if kind in _FUNCTION_NAMES and _is_open(tokens, index + 1):
        return "", state
    if kind is _SELECT:
        return ("", PASSED) if _is_no_query(tokens, index) else (ITEM, ITEM)
    if kind is _FROM:
        if not _begins_sources(tokens, index, state, nested):
            return "", state
        return (ALIAS_OR_TARGET, ALIAS_OR_TARGET) if before is TokenType.DELETE else (SOURCE, SOURCE)
    if kind is _JOIN:
        joins = (state in (SOURCE, ALIAS_OR_TARGET) and before is not TokenType.ARRAY) or before in _JOIN_KINDS
        return (SOURCE, SOURCE) if joins else ("", "")
    if kind is _USING or kind is _INTO:
        return _pass_using_or_into(tokens, kinds, index, state, nested)
    if kind is TokenType.UPDATE or kind is TokenType.DELETE:
        if index and before not in (_OPEN, _CLOSE):
            return "", state
        return ALIAS_OR_TARGET, SOURCE if kind is TokenType.UPDATE else state  # MySQL: UPDATE t JOIN u … SET
    if kind is TokenType.TABLE or kind is TokenType.REFERENCES:
        return (_expect_table(head, before, index) if kind is TokenType.TABLE else TARGET), state
    return "", RETURNED if kind is TokenType.RETURNING else PASSED if state is ITEM or state is PASSED else ""


def _expect_table(head: TokenType, before: TokenType | None, index: int) -> str:
    """What is expected behind TABLE: `CREATE TABLE t`, `INSERT OVERWRITE TABLE t`, `f(TABLE t)`, `TABLE t UNION …`."""
    if head in _DEFINERS:
        return TARGET if index < _HEAD else ""
    if before is TokenType.OVERWRITE:
        return TARGET
    return SOURCE if head in _TABLE_QUERIES and before in _BEFORE_TABLE_QUERY else ""


_TABLE_QUERIES = frozenset({_SELECT, TokenType.WITH, TokenType.INSERT, TokenType.TABLE, TokenType.VALUES, _FROM})
"""First tokens of statements in which `TABLE t` is a query."""

_BEFORE_TABLE_QUERY = frozenset(
    {None, _OPEN, _CLOSE, _COMMA, TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT, TokenType.ALL}
    | {TokenType.DISTINCT, TokenType.FARROW, TokenType.ALIAS, TokenType.VAR, TokenType.IDENTIFIER}
)
"""Tokens before such a query; elsewhere TABLE is a column."""


def _pass_using_or_into(
    tokens: Sequence[Token], kinds: Sequence[TokenType], index: int, state: str, nested: bool
) -> tuple[str, str]:
    kind, head, before = kinds[index], kinds[0], kinds[index - 1] if index else None
    if kind is _USING:
        source = head is TokenType.MERGE and state != SOURCE  # not that of `USING s USING (id)`
        if not nested and (source or (head is TokenType.DELETE and not _is_open(tokens, index + 1))):
            return SOURCE, SOURCE
        program = index + 1 < len(tokens) and kinds[index + 1] in STRING_TOKENS
        merged = state == SOURCE and not _is_open(tokens, index + 1)  # ClickHouse: JOIN t USING a, b
        return "", PASSED if program or merged else state  # Hive: SELECT TRANSFORM(a) USING 'program' AS k, v FROM t
    written = state == ITEM or before in _WRITERS or (head is TokenType.INSERT and not nested and state != RETURNED)
    written = written or any(keyword(token) == "OUTPUT" for token in tokens[:index])  # T-SQL: OUTPUT … INTO log
    written = written and keyword(tokens[index - 1]) != "ERRORS"  # Oracle: LOG ERRORS INTO t
    return (TARGET, PASSED) if written else ("", state)


def _is_open(tokens: Sequence[Token], index: int) -> bool:
    return index < len(tokens) and tokens[index].token_type is _OPEN


def _is_no_query(tokens: Sequence[Token], index: int) -> bool:
    """GRANT SELECT, `INSERT INTO (SELECT …)` with the columns of a table, and `SELECT TRANSFORM(…) … AS a, b`."""
    if index and tokens[index - 1].token_type in _PERMISSIONS:
        return True
    if index > 1 and tokens[index - 1].token_type is _OPEN and tokens[index - 2].token_type is _INTO:
        return True
    if index + 1 < len(tokens) and keyword(tokens[index + 1]) in ("TRANSFORM", "MAP", "REDUCE"):
        after = skip_brackets(tokens, index + 2) if _is_open(tokens, index + 2) else len(tokens)
        return after < len(tokens) and tokens[after].token_type is _USING
    return False


def _skip_select_options(tokens: Sequence[Token], index: int) -> int:
    """The position after `TOP (10) PERCENT WITH TIES` and DISTINCT."""
    while index < len(tokens) and keyword(tokens[index]) in _SELECT_OPTIONS:
        index += 1
        if keyword(tokens[index - 1]) == "TOP":
            index = skip_brackets(tokens, index) if _is_open(tokens, index) else index + 1
    return index


_SELECT_OPTIONS = frozenset("DISTINCT ALL TOP PERCENT WITH TIES APPROXIMATE".split())


def _begins_sources(tokens: Sequence[Token], index: int, state: str, nested: bool) -> bool:
    """Whether a FROM begins sources, unlike those of IS DISTINCT, EXTRACT(… FROM d), FILL and NTH_VALUE(…)."""
    before = tokens[index - 1].token_type if index else None
    if index and keyword(tokens[index - 1]) == "FILL":
        return False  # ClickHouse: ORDER BY a WITH FILL FROM b TO c
    if before is TokenType.DISTINCT:
        return index < 2 or tokens[index - 2].token_type not in (TokenType.IS, TokenType.NOT)
    following = [keyword(token) for token in tokens[index + 1 : index + 3]]
    if following[:1] in (["FIRST"], ["LAST"]) and following[1:] in (["RESPECT"], ["IGNORE"], ["OVER"]):
        return False
    if state is ITEM or state is PASSED or before in (_OPEN, TokenType.DELETE, TokenType.ALIAS):
        return True
    return not nested and (index == 0 or tokens[0].token_type in _WITH_SOURCES)


def account_for_references(piece: RawStatement, placed: ir.Placed, traits: DialectTraits, text: str) -> ir.Placed:
    """The statement with a finding for each table and each item of a select list that is not in it.

    A statement that is ignored on purpose may hold a query (PRINT, ASSERT, a policy): it reads its tables.
    """
    statement = placed.statement
    header = piece.kind is not None and (piece.stop >= 0 or statement.definition is not None)
    if statement.status == "failed" or header or not piece.tokens:
        return placed  # what the splitter takes apart is checked piece by piece
    if any(finding.code in _TOLD_BY for finding in statement.findings) or _EXPECTING.isdisjoint(piece.token_types):
        return placed
    names, items = _list_positions(statement)
    unmatched = find_unmatched(piece, names, items) if piece.token_types[0] not in _PERMISSIONS else ()
    missing = list(_find_missing(piece, statement, traits, unmatched)) if unmatched else []
    if not missing:
        return placed
    reads = (*statement.reads, *(name for name, expected in missing if expected is SOURCE))
    if not any(getattr(statement, part) for part in _LINEAGE_PARTS):
        return msgspec.structs.replace(placed, statement=msgspec.structs.replace(statement, reads=reads))
    tables = [name for name, expected in missing if expected is not ITEM]
    findings = tuple(
        ir.Finding("UNACCOUNTED_REFERENCE", (("name", _quote_source(text, piece, name)),), name.start, name.end)
        for name in tables or [item for item, _ in missing]  # the items of a lost query are not lost apart from it
    )
    accounted = msgspec.structs.replace(
        statement, status="partial", reads=reads, findings=(*statement.findings, *findings)
    )
    return msgspec.structs.replace(placed, statement=accounted)


def _quote_source(text: str, piece: RawStatement, name: ir.Name) -> str:
    """A table or an item as it is written, shortened."""
    written = " ".join(text[piece.start + name.start : piece.start + name.end].split())
    return written if len(written) <= _MAX_QUOTED else f"{written[:_MAX_QUOTED]}…"


_MAX_QUOTED = 60

_TOLD_BY = frozenset({"LIMIT_EXCEEDED", "UNSUPPORTED_SYNTAX", "INTERNAL_ERROR"})
"""Findings that say already that parts of a statement are not followed."""

_LINEAGE_PARTS = ("relations", "definition", "writes", "alterations", "drops", "calls", "assigns")
"""What a statement with lineage has; one that is ignored on purpose has none of it."""


def _find_missing(
    piece: RawStatement, statement: ir.Statement, traits: DialectTraits, unmatched: Sequence[tuple[int, str]]
) -> Iterator[tuple[ir.Name, str]]:
    """The tables and items at unmatched tokens that the IR lacks; most of those tokens begin no table or item."""
    tokens, base = piece.tokens, piece.start
    (names, items), stars = _list_positions(statement), _list_stars(statement)
    missing: list[ir.Name] = []
    known: KnownNames | None = None
    for index, expected in unmatched:
        if tokens[index].start < base:
            continue  # the FROM of several INSERTs belongs to each of them
        if expected is ITEM:
            item = _read_item(tokens, _skip_select_options(tokens, index), base, items)
            if item is not None and not _is_covered(item, items if _holds_items(tokens, index) else stars):
                missing.append(item)
            continue
        if keyword(tokens[index]) == "EXPLAIN" and tokens[index - 1].token_type is _OPEN:
            continue  # ClickHouse: the plan of a query as rows
        name = _read_table(tokens, index, base, traits, expected)
        if name is None or _is_covered(name, names):
            continue
        known = known or _list_known_names(statement)
        if not known.covers(name, expected):
            yield name, expected
    if missing and len(missing) > _count_unplaced(statement, piece.use is not None or _has_star(missing)):
        yield from ((item, ITEM) for item in missing)


def _holds_items(tokens: Sequence[Token], index: int) -> bool:
    """Whether items stand inside of an item: in an escape of ODBC, `{fn f(a)}`, or in `t.COLUMNS(a, b)`."""
    return tokens[index].token_type is TokenType.L_BRACE or "COLUMNS" in map(keyword, tokens[index : index + 3 : 2])


def _has_star(items: Sequence[ir.Name]) -> bool:
    return any("*" in item.written or "COLUMNS" in item.written.upper() for item in items)


def _count_unplaced(statement: ir.Statement, stars: bool) -> float:
    """How many columns and perhaps stars of select lists have no position: any number if there is no select at all."""
    selects = [relation for relation in statement.relations if isinstance(relation, ir.Select)]
    outputs = [output for select in selects for output in select.outputs if output.start < 0]
    return sum(stars or isinstance(output, ir.Output) for output in outputs) if selects else float("inf")


def _list_stars(statement: ir.Statement) -> set[int]:
    """The positions of stars, which may stand inside a function: DuckDB's `max(columns(*))`."""
    selects = [relation for relation in statement.relations if isinstance(relation, ir.Select)]
    return {output.start for select in selects for output in select.outputs if isinstance(output, ir.Star)}


def _is_covered(name: ir.Name, positions: set[int]) -> bool:
    return any(name.start <= position < name.end for position in positions)


def _list_positions(statement: ir.Statement) -> tuple[set[int], set[int]]:
    """The positions of all names in a statement, and of all items of its select lists."""
    names = {name.start for name in statement.reads}
    items: set[int] = set()
    for relation in statement.relations:
        if isinstance(relation, ir.Select):
            names.update([source.name.start for source in relation.sources if source.name is not None])
            items.update([output.start for output in relation.outputs])
    names.update([write.target.start for write in statement.writes])
    names.update([drop.name.start for drop in statement.drops])
    names.update([call.name.start for call in statement.calls])
    for alteration in statement.alterations:
        names.add(alteration.name.start)
        if alteration.to is not None:
            names.add(alteration.to.start)
        if alteration.constraint is not None and alteration.constraint.references is not None:
            names.add(alteration.constraint.references.start)
    definition = statement.definition
    if definition is not None:
        names.add(definition.name.start)
        names.update([key.references.start for key in definition.constraints if key.references is not None])
        names.update([name.start for name in (definition.like, definition.watches) if name is not None])
    return names, items


class KnownNames(msgspec.Struct, frozen=True):
    """The names in a statement that are no tables."""

    common: set[str]
    """CTEs, variables, and a recursive view inside itself."""
    aliases: set[str]
    """Aliases of sources."""
    writes: bool
    """Whether the statement writes anything."""

    def covers(self, name: ir.Name, expected: str) -> bool:
        """Whether a name is one of them: `t.items` an array of the source t, `UPDATE x` the alias of a source."""
        if expected is ALIAS_OR_TARGET and not self.writes:
            return False
        if name.parts[-1].lower() in self.common:
            return True
        return (len(name.parts) > 1 or expected is ALIAS_OR_TARGET) and name.parts[0].lower() in self.aliases


def _list_known_names(statement: ir.Statement) -> KnownNames:
    common = {"dual", *(name.written.lower() for _, name in statement.ctes)}
    common.update(variable.lower() for assignment in statement.assigns for variable in assignment.variables)
    aliases: set[str] = set()
    for relation in statement.relations:
        if isinstance(relation, ir.Select):
            aliases.update(source.alias.lower() for source in relation.sources)
            common.update(source.record.lower() for source in relation.sources)
        elif isinstance(relation, ir.Recursive) and statement.definition is not None:
            common.add(statement.definition.name.parts[-1].lower())
    return KnownNames(common, aliases, bool(statement.writes) or statement.kind == "DELETE")


_SOURCE_MODIFIERS = frozenset("ONLY LATERAL TABLE STREAM UNIQUEJOIN PRESERVE".split())
"""Keywords between FROM or JOIN and a name."""

_TARGET_MODIFIERS = frozenset(
    "IF NOT EXISTS ONLY INTO TABLE TEMP TEMPORARY LOCAL OR IGNORE ABORT FAIL REPLACE ROLLBACK TOP PERCENT "
    "LOW_PRIORITY QUICK UNLOGGED".split()
)
"""Keywords between INTO, UPDATE or TABLE and a name."""

_NO_TABLES = frozenset(
    "SELECT WITH VALUES FROM UNNEST ARRAY ROWS MATCH PIVOT UNPIVOT INSERT UPDATE DELETE MERGE SUMMARIZE SHOW DESCRIBE "
    "FUNCTION INFILE OUTFILE DUMPFILE EXTERN STDIN STDOUT".split()
)
"""Keywords in the place of a table that begin something else."""


def _read_table(tokens: Sequence[Token], index: int, base: int, traits: DialectTraits, expected: str) -> ir.Name | None:
    """The name of a table at a position; None if there is a query, a function, a file or a variable."""
    modifiers = _SOURCE_MODIFIERS if expected is SOURCE else _TARGET_MODIFIERS
    while index + 1 < len(tokens) and keyword(tokens[index]) in modifiers:
        index += 1
        if keyword(tokens[index - 1]) == "TOP" and _is_open(tokens, index):
            index = skip_brackets(tokens, index)
    if index >= len(tokens) or not is_name_at(tokens, index):
        return None
    token = tokens[index]
    if token.token_type in STRING_TOKENS or token.token_type in _LIST_ENDS or keyword(token) in _NO_TABLES:
        return None
    name, after = read_dotted_name(tokens, index, 0, traits)
    if expected == SOURCE and after < len(tokens) and tokens[after].token_type is TokenType.COLON:
        return _read_table(tokens, after + 1, base, traits, expected)  # DuckDB: FROM alias : t
    shift = tokens[0].start - base
    if expected == SOURCE and _is_open(tokens, after):
        return None
    if RUNTIME_PLACEHOLDER in name.written:
        return None
    return msgspec.structs.replace(name, start=name.start + shift, end=name.end + shift) if shift else name


def _read_item(tokens: Sequence[Token], index: int, base: int, items: set[int]) -> ir.Name | None:
    """An item of a select list as a name with its text; None if something of the IR begins in it, outside brackets."""
    depth, end = 0, index
    while end < len(tokens):
        kind = tokens[end].token_type
        if depth == 0:
            called = kind in _FUNCTION_NAMES and _is_open(tokens, end + 1)
            if (kind in _ITEM_ENDS and not called) or kind is _CLOSE:
                break
            if tokens[end].start - base in items:
                return None
        depth += (kind in _OPENING) - (kind is _CLOSE or kind in _CLOSING_BRACKETS)
        end += 1
    if end == index:
        return None
    written = " ".join(token.text for token in tokens[index : min(end, index + 8)])
    return ir.Name((), written, tokens[index].start - base, tokens[end - 1].end + 1 - base)


_ITEM_ENDS = _LIST_ENDS | {_COMMA, _FROM, _INTO}
