"""Properties of a CREATE: what stands beside the columns and the query."""

from sqlglot import exp


def properties_of(tree: exp.Expr) -> dict[type[exp.Expr], exp.Expr]:
    """The properties by their kinds."""
    properties = tree.args.get("properties")
    return {type(item): item for item in properties.expressions} if properties is not None else {}


def partition_columns(properties: dict[type[exp.Expr], exp.Expr]) -> list[exp.Expr]:
    """The columns that Hive and Spark declare beside the others."""
    partitioned = properties.get(exp.PartitionedByProperty)
    schema = partitioned.this if partitioned is not None else None
    return (
        [item for item in schema.expressions if isinstance(item, exp.ColumnDef)]
        if isinstance(schema, exp.Schema)
        else []
    )
