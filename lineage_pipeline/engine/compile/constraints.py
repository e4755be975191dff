"""Constraints: keys, foreign keys, checks and defaults, of a column or of its table."""

from collections.abc import Iterator

from sqlglot import exp

from lineage_pipeline.engine.compile.context import Context, name_of
from lineage_pipeline.vocabulary import ir

_COLUMN_CONSTRAINTS: dict[type[exp.Expr], str] = {
    exp.PrimaryKeyColumnConstraint: "primary key",
    exp.UniqueColumnConstraint: "unique",
    exp.CheckColumnConstraint: "check",
    exp.DefaultColumnConstraint: "default",
    exp.CollateColumnConstraint: "collation",
    exp.Reference: "foreign key",
}

_TABLE_CONSTRAINTS: dict[type[exp.Expr], str] = {
    exp.PrimaryKey: "primary key",
    exp.UniqueColumnConstraint: "unique",
    exp.ForeignKey: "foreign key",
    exp.CheckColumnConstraint: "check",
}


_COUNTING = (exp.DType.SERIAL, exp.DType.BIGSERIAL, exp.DType.SMALLSERIAL)


def counts(column: exp.Expr) -> bool:
    """Whether a column is of a type that gives it the next number: one that is never null and has a default."""
    kind = column.args.get("kind")
    return isinstance(kind, exp.DataType) and kind.this in _COUNTING


def constraints(context: Context, items: list[exp.Expr]) -> Iterator[ir.ConstraintDef]:
    """What columns and tables declare beside the columns themselves."""
    for item in items:
        if isinstance(item, exp.ColumnDef):
            if counts(item):
                yield ir.ConstraintDef("default", "", (context.column(item.this),), "nextval")
            for constraint in item.args.get("constraints") or ():
                kind = _COLUMN_CONSTRAINTS.get(type(constraint.args.get("kind")))
                if kind is not None:
                    name = constraint.this.name if isinstance(constraint.args.get("this"), exp.Expr) else ""
                    yield _constraint(context, constraint.args["kind"], kind, name, (context.column(item.this),))
        elif isinstance(item, exp.Constraint):
            for part in item.expressions:
                kind = _TABLE_CONSTRAINTS.get(type(part))
                if kind is not None:
                    yield _constraint(context, part, kind, item.name, _constrained(context, part))
        elif type(item) in _TABLE_CONSTRAINTS:
            yield _constraint(context, item, _TABLE_CONSTRAINTS[type(item)], "", _constrained(context, item))


def _constrained(context: Context, node: exp.Expr) -> tuple[str, ...]:
    """The columns of a table constraint, in order."""
    inner = node.this if isinstance(node.args.get("this"), exp.Schema) else node
    if isinstance(node, exp.CheckColumnConstraint):
        return tuple(sorted({context.column(column.this) for column in node.find_all(exp.Column)}))
    names = []
    for item in inner.expressions:
        while not isinstance(item, exp.Identifier) and isinstance(item.args.get("this"), exp.Expr):
            item = item.this
        names.append(context.column(item))
    return tuple(names)


def _constraint(context: Context, node: exp.Expr, kind: str, name: str, columns: tuple[str, ...]) -> ir.ConstraintDef:
    reference = node if isinstance(node, exp.Reference) else node.args.get("reference")
    target = reference.this if isinstance(reference, exp.Expr) else None
    table = target.this if isinstance(target, exp.Schema) else target
    text = ""
    if kind in ("check", "default", "collation") and isinstance(node.args.get("this"), exp.Expr):
        text = node.this.sql(dialect=context.dialect or None, comments=False)
    references = name_of(context, table) if isinstance(table, exp.Table) else None
    return ir.ConstraintDef(kind, name, columns, text, references)
