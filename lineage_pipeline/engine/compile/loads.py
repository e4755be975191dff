"""LOAD DATA: files that fill tables, by columns, by variables, and by what is made of those."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.engine.compile.cursor import Cursor
from lineage_pipeline.engine.compile.outside import outside
from lineage_pipeline.engine.compile.transfers import Parts, columns_in_brackets, loaded, query_of, strings_behind
from lineage_pipeline.engine.compile.words import made
from lineage_pipeline.vocabulary import ir

ItemT = TypeVar("ItemT")


def load(context: Context, cursor: Cursor) -> Parts | None:
    """LOAD DATA of Hive, MySQL and BigQuery."""
    if not cursor.take("LOAD", "DATA") and not cursor.take("LOAD", "XML"):
        return None
    words = ("DATA",) if cursor.word() in _SYSTEMS else ("INPATH", "INFILE", "URIS")
    scheme = f"{cursor.word().lower()}://" if cursor.word() in _SYSTEMS else ""
    files = [outside(scheme + item.text, cursor.traits) for item in strings_behind(cursor, *words)]
    if not cursor.find("INTO", "OVERWRITE"):
        return None
    while cursor.take_any("INTO", "OVERWRITE", "TABLE", "TEMP", "TEMPORARY"):
        pass
    target = cursor.name()
    if target is None or not files:
        return None
    fixed = _fixed(cursor) if cursor.take("PARTITION") else ()
    columns, variables = columns_in_brackets(cursor), frozenset[str]()
    if columns is None and (scheme or "INFILE" in cursor.words):
        columns, variables = _listed_columns(cursor)
    computed = dict(_computed(cursor)) if "INFILE" in cursor.words and cursor.take("SET") else {}
    parts = loaded(context, "LOAD DATA", target, files, columns)
    fixed = (*fixed, *computed)
    writes = tuple(msgspec.structs.replace(write, fixed=fixed) for write in parts["writes"])
    made_of = tuple(_made(context, cursor, target, file, (computed, variables)) for file in files if computed)
    return {**parts, "writes": (*writes, *made_of)}


_SYSTEMS = frozenset("S3 GCS AZURE HDFS KAFKA MYSQL MONGODB".split())
"""SingleStore: what may stand before the address of what is loaded."""


def _fixed(cursor: Cursor) -> tuple[str, ...]:
    """The columns that a PARTITION clause gives a value."""
    return tuple(Cursor(item, cursor.traits).column() for item in cursor.brackets() if len(item) > 1)


def _listed_columns(cursor: Cursor) -> tuple[tuple[str, ...] | None, frozenset[str]]:
    """MySQL: the columns behind the options of a file, and the variables that take what no column gets."""
    while not cursor.done:
        if cursor.opens() and cursor.word(-1) not in ("PARTITION", "IN"):
            listed = cursor.brackets()
            marked = [item for item in listed if item[0].token_type is TokenType.PARAMETER]
            named = [item for item in listed if item[0].token_type is not TokenType.PARAMETER]
            variables = frozenset("@" + item[1].text.lower() for item in marked if len(item) > 1)
            return tuple(Cursor(item, cursor.traits).column() for item in named), variables
        if cursor.word() == "SET" and cursor.word(-1) != "CHARACTER":
            break
        cursor.index += 1
    return None, frozenset()


def _computed(cursor: Cursor) -> Iterator[tuple[str, list[Token]]]:
    """The columns that SET fills, each with the tokens of its value."""
    while not cursor.done:
        name = cursor.column()
        cursor.index += 1  # the sign between them
        yield name, cursor.rest()


def _made(
    context: Context,
    cursor: Cursor,
    target: ir.Name,
    file: ir.Name,
    given: tuple[dict[str, list[Token]], frozenset[str]],
) -> ir.Write:
    """What SET makes of the fields of a file; a variable is the field that it takes."""
    computed, variables = given
    separator = made(",", cursor.tokens[0])
    listed = [token for value in computed.values() for token in (separator, *value)]
    index = query_of(context, [made("SELECT", cursor.tokens[0]), *listed[1:]])
    query = context.relations[index]
    if isinstance(query, ir.Select):
        fields = _with_fields(query.outputs, variables)
        context.relations[index] = ir.Select((ir.Source("", name=file),), fields)
    return ir.Write(target, index, "insert", tuple(computed))


def _with_fields(item: ItemT, variables: frozenset[str]) -> ItemT:
    """An expression with fields of the file in the place of variables."""
    if isinstance(item, ir.Variable):
        return ir.Ref((item.name,), item.start, item.end) if item.name in variables else item  # type: ignore[return-value]
    if isinstance(item, tuple):
        return tuple(_with_fields(part, variables) for part in item)  # type: ignore[return-value]
    if isinstance(item, ir.Node):
        fields: Sequence[str] = item.__struct_fields__
        return msgspec.structs.replace(item, **{name: _with_fields(getattr(item, name), variables) for name in fields})
    return item
