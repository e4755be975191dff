"""Statements: what each kind defines, writes, reads and drops. `STATEMENTS` says who compiles what."""

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from lineage_pipeline.engine.compile.changes import delete, update
from lineage_pipeline.engine.compile.context import Context, name_of
from lineage_pipeline.engine.compile.definitions import alter, create, drop
from lineage_pipeline.engine.compile.merges import merge
from lineage_pipeline.engine.compile.queries import query
from lineage_pipeline.engine.compile.variables import assignments, assigns_variables, declare, select_into_variables
from lineage_pipeline.engine.compile.writes import insert, into, multi_insert
from lineage_pipeline.vocabulary import ir

Parts = dict[str, Any]
"""The fields of a statement that its compiler fills."""


def statement_parts(context: Context, tree: exp.Expr) -> Parts | None:
    """What a statement does, or None where nobody knows its kind."""
    compiler = STATEMENTS.get(type(tree))
    if compiler is not None:
        return compiler(context, tree)
    if isinstance(tree, exp.Query | exp.Values | exp.Pivot):
        return bare_query(context, tree)
    return None


def change(context: Context, tree: exp.Expr) -> Parts:
    """What a statement that writes does where it stands inside another one."""
    return STATEMENTS[type(tree)](context, tree)


def bare_query(context: Context, tree: exp.Expr) -> Parts:
    """A query that stands for itself, goes INTO a table, or into variables."""
    if context.traits.select_assigns and assigns_variables(tree):
        return select_into_variables(context, tree)
    first = tree
    while isinstance(first, exp.SetOperation):  # the first branch says where the rows of all go
        first = first.this
    target = first.args.get("into")
    if target is not None and isinstance(target.this, exp.Table):
        return into(context, tree, target)
    return {"kind": "SELECT", "result": query(context, tree)}


def truncate(context: Context, tree: exp.Expr) -> Parts:
    """TRUNCATE empties tables and changes no lineage."""
    emptied = tuple(ir.Alteration(name_of(context, table), "truncate") for table in tree.expressions)
    return {"kind": "TRUNCATE", "alterations": emptied}


def use(context: Context, tree: exp.Expr) -> Parts:
    """USE completes the names that follow."""
    given = tree.args.get("kind")
    kind = (given.name if isinstance(given, exp.Expr) else str(given or "")).upper()
    table = tree.this
    named = isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier)
    parts = name_of(context, table).parts if named and kind not in _NO_NAMESPACE else ()
    return {"kind": "USE", "context": (kind, *parts)}


_NO_NAMESPACE = ("ROLE", "WAREHOUSE", "SECONDARY ROLES")


def cache(context: Context, tree: exp.Expr) -> Parts:
    """Spark: a cached query is a temporary view."""
    body = tree.args.get("expression")
    if not isinstance(body, exp.Query) or not isinstance(tree.this, exp.Table):
        return {"kind": "CACHE"}
    name = name_of(context, tree.this)
    definition = ir.Definition(name, "view", relation=query(context, body), temporary=True, replace=True)
    return {"kind": "CACHE", "definition": definition}


def set_(context: Context, tree: exp.Expr) -> Parts:
    """SET search_path completes names, SET of variables assigns; other options have no bearing on lineage."""
    for item in tree.expressions:
        assignment = item.this if isinstance(item, exp.SetItem) else None
        if isinstance(assignment, exp.EQ) and assignment.this.name.lower() == "search_path":
            values = assignment.expression
            names = values.expressions if isinstance(values, exp.Tuple) else [values]
            return {"kind": "SET", "context": ("SEARCH_PATH", *(context.table(value) for value in names))}
        if isinstance(assignment, exp.EQ) and assignment.this.name.lower() in ("schema", "current_schema"):
            return {"kind": "SET", "context": ("SCHEMA", *assignment.expression.name.split("."))}
    return assignments(context, tree)


def execute(context: Context, tree: exp.Expr) -> Parts:
    """A procedure that is called by name."""
    table = tree.this
    if isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier) and not table.this.name.startswith("@"):
        return {"kind": "EXECUTE", "calls": (ir.Invocation(name_of(context, table)),)}
    context.report("DYNAMIC_SQL", context.origin, context.tokens[-1].end + 1, share="0")
    return {"kind": "EXECUTE", "status": "partial"}


def comment(context: Context, tree: exp.Expr) -> Parts:
    """COMMENT ON describes an object."""
    return {"kind": "COMMENT"}


def silent(kind: str) -> Callable[[Context, exp.Expr], Parts]:
    """A compiler for a kind of statement that carries no lineage."""
    return lambda context, tree: {"kind": kind}


STATEMENTS: dict[type[exp.Expr], Callable[[Context, exp.Expr], Parts]] = {
    exp.Alter: alter,
    exp.Analyze: silent("ANALYZE"),
    exp.Attach: silent("ATTACH"),
    exp.Cache: cache,
    exp.Comment: comment,
    exp.Commit: silent("COMMIT"),
    exp.Create: create,
    exp.Declare: declare,
    exp.Delete: delete,
    exp.Describe: silent("DESCRIBE"),
    exp.Detach: silent("DETACH"),
    exp.Drop: drop,
    exp.Execute: execute,
    exp.Grant: silent("GRANT"),
    exp.Insert: insert,
    exp.Kill: silent("KILL"),
    exp.Merge: merge,
    exp.MultitableInserts: multi_insert,
    exp.Pragma: silent("PRAGMA"),
    exp.Refresh: silent("REFRESH"),
    exp.Revoke: silent("REVOKE"),
    exp.Rollback: silent("ROLLBACK"),
    exp.Set: set_,
    exp.Show: silent("SHOW"),
    exp.Transaction: silent("BEGIN TRANSACTION"),
    exp.TruncateTable: truncate,
    exp.Uncache: silent("UNCACHE"),
    exp.Update: update,
    exp.Use: use,
}
