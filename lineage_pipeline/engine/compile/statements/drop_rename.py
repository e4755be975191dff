"""DROP, RENAME TABLE, EXCHANGE TABLES and DROP INDEX."""

from typing import Any

from sqlglot import exp

from lineage_pipeline.engine.compile.context import CompileContext, ReadFields, compile_object_name
from lineage_pipeline.engine.compile.statements.alter import swap_tables
from lineage_pipeline.engine.compile.statements.create import RELATION_KINDS
from lineage_pipeline.engine.compile.tokens import TokenReader
from lineage_pipeline.model import ir


def compile_rename(context: CompileContext, cursor: TokenReader) -> ReadFields | None:
    """RENAME TABLE a TO b, c TO d; Oracle omits TABLE."""
    cursor.index = 1
    if cursor.take_any("DATABASE"):
        return {"kind": "RENAME DATABASE"}
    cursor.take_any("TABLE", "TABLES", "OBJECT", "VIEW", "DICTIONARY")
    cursor.take("IF", "EXISTS")
    renamed = []
    while not cursor.done:
        old = cursor.read_name()
        new = cursor.read_name() if cursor.take_any("TO", "AS") else None
        if old is None or new is None:
            return None
        renamed.append(ir.Alteration(old, "rename table", to=new))
        cursor.read_item()
    return {"kind": "RENAME TABLE", "alterations": tuple(renamed)}


def compile_exchange_tables(context: CompileContext, cursor: TokenReader) -> ReadFields | None:
    """ClickHouse: EXCHANGE TABLES a AND b."""
    cursor.index = 2
    one = cursor.read_name()
    two = cursor.read_name() if cursor.take("AND") else None
    if one is None or two is None:
        return None
    return {"kind": "EXCHANGE TABLES", "alterations": tuple(swap_tables(one, two))}


def compile_drop_index(context: CompileContext, cursor: TokenReader) -> ReadFields | None:
    """DROP INDEX removes the constraint of a unique index, whether it names the table or not."""
    if cursor.word(1) != "INDEX":
        return None
    cursor.index = 2
    cursor.take("CONCURRENTLY")
    found = []
    while not cursor.done:
        cursor.take("IF", "EXISTS")
        name = cursor.read_name()
        if name is None:
            break
        table = cursor.read_name() if cursor.take("ON") else None
        found.append(ir.Alteration(table or name, "release" if table else ir.DROP_INDEX_ACTION, name.parts[-1]))
        if not cursor.take(","):
            break
    return {"kind": "DROP INDEX", "alterations": tuple(found)} if found else None


def compile_drop(context: CompileContext, tree: exp.Expr) -> dict[str, Any]:
    """DROP of a table or view removes an object."""
    kind = str(tree.args.get("kind") or "").upper()
    if kind not in RELATION_KINDS:
        return {"kind": f"DROP {kind}"}
    tables = [*(tree.args.get("tables") or ()), *(item for item in tree.expressions if isinstance(item, exp.Table))]
    if isinstance(tree.args.get("this"), exp.Table):
        tables.insert(0, tree.this)
    return {
        "kind": f"DROP {kind}",
        "drops": tuple(ir.Drop(compile_object_name(context, table), kind.lower()) for table in tables),
    }
