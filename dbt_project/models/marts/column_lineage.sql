with edges as (
    select * from {{ ref('stg_lineage__column_edges') }}
),

snapshots as (
    select * from {{ ref('stg_lineage__snapshots') }}
),

objects as (
    select * from {{ ref('stg_lineage__objects') }}
),

statements as (
    select * from {{ ref('stg_lineage__statements') }}
),

-- A query may give one name to two of its columns; an edge knows the name only, so the first of them lends its type.
column_types as (
    select
        snapshot,
        object,
        name,
        min_by(type, ordinal) as data_type,
        min_by(tags, ordinal) as tags
    from {{ ref('stg_lineage__columns') }}
    group by snapshot, object, name
),

described as (
    select
        edges.snapshot,
        snapshots.repo,
        snapshots.commit,
        edges.from_object,
        producers.kind as from_object_kind,
        edges.from_column,
        edges.from_path,
        inputs.data_type as from_data_type,
        {{ joined('inputs.tags') }} as from_tags,
        edges.to_object,
        consumers.kind as to_object_kind,
        edges.to_column,
        outputs.data_type as to_data_type,
        {{ joined('outputs.tags') }} as to_tags,
        {{ joined('consumers.owners') }} as to_owners,
        edges.type,
        edges.subtype,
        edges.masking,
        edges.approximate,
        edges.conditional,
        edges.from_object <> '?' as is_resolved,
        edges.to_column = '*' as is_statement_wide,
        edges.expression,
        edges.path,
        edges.statement,
        statements.kind as statement_kind,
        coalesce(edges.span.line, statements.span.line) as line
    from edges
    inner join snapshots
        on edges.snapshot = snapshots.snapshot
    left join statements
        on
            edges.snapshot = statements.snapshot
            and edges.path = statements.path
            and edges.statement = statements.ordinal
    left join objects as producers
        on edges.snapshot = producers.snapshot and edges.from_object = producers.object
    left join objects as consumers
        on edges.snapshot = consumers.snapshot and edges.to_object = consumers.object
    left join column_types as inputs
        on
            edges.snapshot = inputs.snapshot
            and edges.from_object = inputs.object
            and edges.from_column = inputs.name
    left join column_types as outputs
        on
            edges.snapshot = outputs.snapshot
            and edges.to_object = outputs.object
            and edges.to_column = outputs.name
)

select
    md5(
        concat_ws(
            chr(31),
            snapshot,
            path,
            cast(statement as string),
            from_object,
            from_column,
            coalesce(from_path, ''),
            to_object,
            to_column,
            type,
            subtype
        )
    ) as edge_id,
    snapshot,
    repo,
    commit,
    from_object,
    from_object_kind,
    from_column,
    from_path,
    from_data_type,
    from_tags,
    to_object,
    to_object_kind,
    to_column,
    to_data_type,
    to_tags,
    to_owners,
    type,
    subtype,
    masking,
    approximate,
    conditional,
    is_resolved,
    is_statement_wide,
    expression,
    path,
    statement,
    statement_kind,
    line
from described
