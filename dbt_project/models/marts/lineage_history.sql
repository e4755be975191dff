with elements as (
    select * from {{ ref('int_elements') }}
),

history as (
    select * from {{ ref('int_snapshot_history') }}
),

steps as (
    select
        later.tip,
        later.snapshot,
        later.repo,
        later.commit,
        later.author,
        later.committed_at,
        later.age,
        earlier.snapshot as earlier_snapshot
    from history as later
    left join history as earlier
        on later.tip = earlier.tip and later.age + 1 = earlier.age
),

appeared as (
    select
        steps.repo,
        steps.snapshot,
        steps.commit,
        steps.author,
        steps.committed_at,
        case when steps.earlier_snapshot is null then 'first seen' else 'appeared' end as event,
        after_step.element_kind,
        after_step.element,
        after_step.object,
        after_step.column_name
    from steps
    inner join elements as after_step
        on steps.snapshot = after_step.snapshot
    left join elements as before_step
        on
            steps.earlier_snapshot = before_step.snapshot
            and after_step.element_kind = before_step.element_kind
            and after_step.element = before_step.element
    where before_step.element is null
),

vanished as (
    select
        steps.repo,
        steps.snapshot,
        steps.commit,
        steps.author,
        steps.committed_at,
        'vanished' as event,
        before_step.element_kind,
        before_step.element,
        before_step.object,
        before_step.column_name
    from steps
    inner join elements as before_step
        on steps.earlier_snapshot = before_step.snapshot
    left join elements as after_step
        on
            steps.snapshot = after_step.snapshot
            and before_step.element_kind = after_step.element_kind
            and before_step.element = after_step.element
    where after_step.element is null
)

select
    repo,
    snapshot,
    commit,
    author,
    committed_at,
    event,
    element_kind,
    element,
    object,
    column_name
from appeared
union all
select
    repo,
    snapshot,
    commit,
    author,
    committed_at,
    event,
    element_kind,
    element,
    object,
    column_name
from vanished
