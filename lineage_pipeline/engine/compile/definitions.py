"""CREATE, ALTER and DROP: which objects there are and what columns they declare."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from sqlglot import exp

from lineage_pipeline.engine.compile.constraints import constraints, counts
from lineage_pipeline.engine.compile.context import Context, name_of
from lineage_pipeline.engine.compile.dictionaries import dictionary
from lineage_pipeline.engine.compile.expressions import expression
from lineage_pipeline.engine.compile.labels import NOTHING, label_of
from lineage_pipeline.engine.compile.outside import outside
from lineage_pipeline.engine.compile.properties import partition_columns, properties_of
from lineage_pipeline.engine.compile.queries import bind_with, query
from lineage_pipeline.engine.compile.types import spelling
from lineage_pipeline.vocabulary import ir

_RELATIONS = ("TABLE", "VIEW", "DYNAMIC TABLE", "EXTERNAL TABLE", "SOURCE", "MODEL")
_MODULES = ("PROCEDURE", "FUNCTION", "TRIGGER")


def create(context: Context, tree: exp.Expr) -> dict[str, Any]:
    """CREATE of a table or view defines an object; of anything else it is only named."""
    kind = str(tree.args.get("kind") or "").upper()
    return _relation(context, tree, kind) if kind in _RELATIONS else _other(context, tree, kind)


def _other(context: Context, tree: exp.Expr, kind: str) -> dict[str, Any]:
    if kind in _MODULES:
        return _module(context, tree, kind)
    if kind == "DICTIONARY" and isinstance(tree.this, exp.Schema):
        return dictionary(context, tree, _columns(context, tree.this.expressions, []))
    return {"kind": f"CREATE {kind}"}


def _relation(context: Context, tree: exp.Expr, kind: str) -> dict[str, Any]:
    bind_with(context, tree)
    properties = properties_of(tree)
    schema = tree.this
    table = schema.this if isinstance(schema, exp.Schema) else schema
    items = schema.expressions if isinstance(schema, exp.Schema) else []
    partitions = partition_columns(properties)
    body = tree.args.get("expression")
    if body is None:  # a column may have no type
        items = [
            exp.ColumnDef(this=item) if type(item) is exp.Identifier else item for item in items if not _is_key(item)
        ]
    name = name_of(context, table)
    like = _like(context, properties, items)
    listed = _columns(context, items, partitions)
    items = [*items, *partitions]
    if isinstance(body, exp.Table) and _takes_structure(context, properties, body):
        like, body = name_of(context, body), None
    comment, tags = label_of(tree.args["properties"].expressions) if properties else NOTHING
    definition = ir.Definition(
        name=name,
        kind=_kind(properties, kind),
        columns=listed,
        constraints=tuple(constraints(context, items)),
        relation=_body(context, tree, body),
        header=_header(context, items) if isinstance(body, exp.Expr) else (),
        like=like,
        temporary=_is_temporary(context, properties, name),
        replace=bool(tree.args.get("replace")),
        if_absent=bool(tree.args.get("exists")),
        comment=comment,
        tags=tags,
    )
    if definition.relation == ir.NOWHERE and (exp.ToTableProperty in properties or (kind == "VIEW" and not properties)):
        construct = f"a {kind.lower()} without a query"
        context.report("UNSUPPORTED_SYNTAX", context.origin, context.end, construct=construct)
    label = f"CREATE {'MATERIALIZED ' if exp.MaterializedProperty in properties else ''}{kind}"
    return {"kind": label, "definition": definition, **_sent_on(context, properties, definition)}


def _is_key(item: exp.Expr) -> bool:
    """SingleStore: `SORT KEY (a)` and `SHARD KEY (a)` look like columns without a type that are a key of others."""
    said = item.args.get("constraints") or () if item.args.get("kind") is None else ()
    return any(isinstance(own.args.get("kind"), exp.PrimaryKey) and own.args["kind"].expressions for own in said)


def _header(context: Context, items: list[exp.Expr]) -> tuple[str, ...]:
    """The names before a query, each perhaps with a type or a comment."""
    names = [item.this if isinstance(item, exp.ColumnDef) else item for item in items]
    return tuple(context.column(name) for name in names if isinstance(name, exp.Identifier))


def _kind(properties: dict[type[exp.Expr], exp.Expr], kind: str) -> str:
    if exp.MaterializedProperty in properties or exp.DynamicProperty in properties:
        return "materialized view"
    return "external" if exp.ExternalProperty in properties else kind.lower()


def _sent_on(
    context: Context, properties: dict[type[exp.Expr], exp.Expr], definition: ir.Definition
) -> dict[str, tuple[ir.Write, ...]]:
    """ClickHouse: the rows of a materialised view go into a table."""
    to = properties.get(exp.ToTableProperty)
    if to is None or not isinstance(to.this, exp.Table) or definition.relation == ir.NOWHERE:
        return {}
    return {"writes": (ir.Write(name_of(context, to.this), definition.relation, "insert", None, by_name=True),)}


def _is_temporary(context: Context, properties: dict[type[exp.Expr], exp.Expr], name: ir.Name) -> bool:
    """Whether an object is gone with the session; in some dialects a global temporary table lasts, its rows do not."""
    if exp.GlobalProperty in properties and context.traits.global_temporary_lasts:
        return False
    marks = (exp.TemporaryProperty, exp.VolatileProperty)
    return any(mark in properties for mark in marks) or name.parts[-1].startswith("#")


def _takes_structure(context: Context, properties: dict[type[exp.Expr], exp.Expr], body: exp.Expr) -> bool:
    """Whether `CREATE TABLE t AS s` takes the columns of s and not its rows."""
    if not isinstance(body.this, exp.Identifier):
        return False
    data = properties.get(exp.WithDataProperty)
    return context.traits.as_table_is_like or (data is not None and bool(data.args.get("no")))


def _module(context: Context, tree: exp.Expr, kind: str) -> dict[str, Any]:
    """A procedure, function or trigger: an object of its own."""
    header = tree.this
    table = header.this if isinstance(header, exp.UserDefinedFunction | exp.Schema) else header
    if not isinstance(table, exp.Table):
        return {"kind": f"CREATE {kind}"}
    return {"kind": f"CREATE {kind}", "definition": ir.Definition(name_of(context, table), kind.lower())}


def _columns(context: Context, items: list[exp.Expr], partitions: list[exp.Expr]) -> tuple[ir.ColumnDef, ...]:
    """The columns that a definition lists, those of partitions behind the others."""
    own = [column_def(context, item) for item in items if isinstance(item, exp.ColumnDef) and _is_named(item)]
    if len(own) < sum(isinstance(item, exp.ColumnDef) for item in items):
        context.report("UNSUPPORTED_SYNTAX", context.origin, context.end, construct="a column without a name")
    last = (msgspec.structs.replace(column_def(context, item), partition=True) for item in partitions)
    return (*own, *last)


def _is_named(column: exp.Expr) -> bool:
    return not isinstance(column.this, exp.Func)


def _body(context: Context, tree: exp.Expr, body: object) -> int:
    """The relation that fills what is created: a query, or all of the object that is cloned."""
    if isinstance(body, exp.Query | exp.Values | exp.Table):
        return query(context, body)
    clone = tree.args.get("clone")
    if clone is not None and isinstance(clone.this, exp.Table):
        context.features.add("clone")
        name = name_of(context, clone.this)
    elif (path := _path(tree)) is not None:
        name = outside(path.name, context.traits, *context.place(path))
    else:
        return ir.NOWHERE
    source = ir.Source("", name=name)
    return context.add(ir.Select((source,), (ir.Star((), ir.NOWHERE, ir.NOWHERE),)))


def _path(tree: exp.Expr) -> exp.Expr | None:
    """Spark: the file that a view without a query shows."""
    options = properties_of(tree).get(exp.OptionsProperty)
    if options is None or str(tree.args.get("kind") or "").upper() != "VIEW":
        return None
    return next((item.args["value"] for item in options.expressions if item.this.name.lower() == "path"), None)


def _like(context: Context, properties: dict[type[exp.Expr], exp.Expr], items: list[exp.Expr]) -> ir.Name | None:
    """The table whose columns are taken over: that of LIKE, the one it is a partition of, or its parent."""
    like = properties.get(exp.LikeProperty) or properties.get(exp.PartitionedOfProperty)
    like = like or next((item for item in items if isinstance(item, exp.LikeProperty)), None)
    parents = properties.get(exp.InheritsProperty)
    table = like.this if like is not None else next(iter(parents.expressions), None) if parents is not None else None
    return name_of(context, table) if isinstance(table, exp.Table) else None


_REAL = re.compile(r"[\]\"]?\s+\[?real\b", re.IGNORECASE)


def _declared_type(context: Context, node: exp.Expr) -> str:
    """The type of a column; T-SQL's parser takes REAL for FLOAT, which has twice its digits."""
    kind = spelling(node.args.get("kind"), context.dialect)
    if kind != "FLOAT" or not context.traits.batches:
        return kind
    end = context.place_of(node.args["this"])[1]
    return "REAL" if end >= 0 and _REAL.match(context.text, context.origin + end) else kind


def column_def(context: Context, node: exp.Expr) -> ir.ColumnDef:
    """A declared column with its type and constraints."""
    said = node.args.get("constraints")
    if not said:
        name, kind = node.args["this"], _declared_type(context, node)
        start, end = context.place_of(name)
        nullable = False if counts(node) else None
        return ir.ColumnDef(context.column(name), name.name, kind, nullable, start=start, end=end)
    kinds: dict[type[exp.Expr], exp.Expr] = {
        type(item.args["kind"]): item.args["kind"] for item in said if isinstance(item, exp.ColumnConstraint)
    }
    generated = _generated(kinds)
    comment, tags = label_of(kinds.values())
    default = kinds.get(exp.DefaultColumnConstraint)
    identity = _is_identity(kinds) or exp.AutoIncrementColumnConstraint in kinds
    start, end = context.place_of(node.this)
    return ir.ColumnDef(
        name=context.column(node.this),
        written=node.this.name,
        type=_declared_type(context, node),
        nullable=False if counts(node) else _nullable(kinds),
        default=default.this.sql(dialect=context.dialect or None, comments=False) if default is not None else "",
        computed=expression(context, generated) if isinstance(generated, exp.Expr) else None,
        identity=identity,
        comment=comment,
        start=start,
        end=end,
        tags=tags,
    )


def _generated(kinds: dict[type[exp.Expr], exp.Expr]) -> exp.Expr | None:
    """What a column is computed from; some parsers take GENERATED ALWAYS AS (…) for an identity."""
    computed = kinds.get(exp.ComputedColumnConstraint)
    if computed is not None:
        return computed.this if isinstance(computed.this, exp.Expr) else None
    identity = kinds.get(exp.GeneratedAsIdentityColumnConstraint)
    return identity.args.get("expression") if identity is not None else None


def _is_identity(kinds: dict[type[exp.Expr], exp.Expr]) -> bool:
    return exp.GeneratedAsIdentityColumnConstraint in kinds and _generated(kinds) is None


def _nullable(kinds: dict[type[exp.Expr], exp.Expr]) -> bool | None:
    explicit = kinds.get(exp.NotNullColumnConstraint)
    if explicit is not None:
        return bool(explicit.args.get("allow_null"))
    if exp.PrimaryKeyColumnConstraint in kinds or _is_identity(kinds):
        return False
    computed = kinds.get(exp.ComputedColumnConstraint)
    return False if computed is not None and computed.args.get("not_null") else None


def alter(context: Context, tree: exp.Expr) -> dict[str, Any]:
    """ALTER TABLE: columns and constraints added, dropped, renamed or retyped, and the table renamed."""
    kind = str(tree.args.get("kind") or "").upper()
    if not isinstance(tree.this, exp.Table) or kind not in _RELATIONS:
        return {"kind": f"ALTER {kind}"}
    name = name_of(context, tree.this)
    alterations: list[ir.Alteration] = []
    for action in tree.args.get("actions") or ():
        alterations.extend(_alteration(context, name, action))
    return {"kind": f"ALTER {kind}", "alterations": tuple(alterations)}


def _alteration(context: Context, name: ir.Name, action: exp.Expr) -> Iterator[ir.Alteration]:
    if isinstance(action, exp.AddConstraint):
        for constraint in constraints(context, list(action.expressions)):
            yield ir.Alteration(name, "constrain", constraint=constraint)
    elif isinstance(action, exp.ColumnDef):
        yield ir.Alteration(name, "add", context.column(action.this), column_def(context, action))
        for constraint in constraints(context, [action]):
            yield ir.Alteration(name, "constrain", constraint=constraint)
    elif isinstance(action, exp.Drop):
        yield from _dropped_columns(context, name, action)
    elif isinstance(action, exp.RenameColumn):
        renamed = ir.ColumnDef(context.column(action.args["to"].this), action.args["to"].name, "")
        yield ir.Alteration(name, "rename", context.column(action.this.this), renamed)
    elif isinstance(action, exp.AlterColumn):
        yield _altered_column(context, name, action)
    elif isinstance(action, exp.AlterRename):
        yield ir.Alteration(name, "rename table", to=name_of(context, action.this))


def _dropped_columns(context: Context, name: ir.Name, action: exp.Expr) -> Iterator[ir.Alteration]:
    for column in (*(action.args.get("tables") or ()), *action.expressions):
        identifier = column if isinstance(column, exp.Identifier) else column.args.get("this")
        if isinstance(identifier, exp.Identifier):
            yield ir.Alteration(name, "drop", context.column(identifier))


def _altered_column(context: Context, name: ir.Name, action: exp.Expr) -> ir.Alteration:
    column = context.column(action.this if isinstance(action.this, exp.Identifier) else action.this.this)
    nullable = action.args.get("allow_null")
    kind = spelling(action.args.get("dtype"), context.dialect)
    return ir.Alteration(
        name, "retype", column, ir.ColumnDef(column, "", kind, bool(nullable) if nullable is not None else None)
    )


def drop(context: Context, tree: exp.Expr) -> dict[str, Any]:
    """DROP of a table or view removes an object."""
    kind = str(tree.args.get("kind") or "").upper()
    if kind not in _RELATIONS:
        return {"kind": f"DROP {kind}"}
    tables = [*(tree.args.get("tables") or ()), *(item for item in tree.expressions if isinstance(item, exp.Table))]
    if isinstance(tree.args.get("this"), exp.Table):
        tables.insert(0, tree.this)
    return {"kind": f"DROP {kind}", "drops": tuple(ir.Drop(name_of(context, table), kind.lower()) for table in tables)}
