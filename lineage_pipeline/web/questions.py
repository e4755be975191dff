"""What the pages ask the marts: one function for each question, one query each unless it says otherwise."""

from typing import Any

from lineage_pipeline.web.marts import Marts, Row

FUZZY = 0.86
"""How near a name must be to count where nothing contains the words."""

MOST_WORDS, LONGEST = 16, 200
"""How many words of a search count, and how many characters of each: a page is asked for by anybody."""


def snapshots(marts: Marts) -> list[Row]:
    """List the snapshots, the newest first."""
    return marts.ask(
        "select snapshot, repo, commit, refs, author, committed_at, base_commit, is_latest, files, statements, objects,"
        " columns, column_edges from marts.snapshots order by committed_at desc nulls last, snapshot"
    )


def search(marts: Marts, snapshot: str, words: str, limit: int, offset: int = 0) -> list[Row]:
    """Find objects, columns and files that contain all words, of which sixteen count; else names that are near."""
    parts = [part[:LONGEST] for part in words.lower().split()[:MOST_WORDS]]
    if not parts:
        return []
    contains = " and ".join("contains(lower(label), ?)" for _ in parts)
    hits = marts.ask(
        f"{_NAMES} select * from names where {contains}"
        " order by kind <> 'object', length(label), label limit ? offset ?",
        snapshot,
        snapshot,
        snapshot,
        *parts,
        limit,
        offset,
    )
    if hits or offset:
        return hits
    return marts.ask(
        f"{_NAMES} select * from names where jaro_winkler_similarity(lower(name), ?) >= {FUZZY}"
        " order by jaro_winkler_similarity(lower(name), ?) desc, label limit ?",
        snapshot,
        snapshot,
        snapshot,
        parts[-1],
        parts[-1],
        limit,
    )


_NAMES = """
with names as (
    select 'object' as kind, object, cast(null as varchar) as column_name, object as label, object_name as name,
        kind as detail
    from marts.objects where snapshot = ?
    union all
    select 'column', object, column_name, object || '.' || column_name, column_name, coalesce(data_type, '')
    from marts.columns where snapshot = ?
    union all
    select 'file', cast(null as varchar), cast(null as varchar), path, path, dialect
    from staging.stg_lineage__sql_files where snapshot = ?
)
"""


def one_object(marts: Marts, snapshot: str, name: str) -> Row | None:
    """Give one object by its id."""
    rows = marts.ask("select * from marts.objects where snapshot = ? and object = ?", snapshot, name)
    return rows[0] if rows else None


def columns_of(marts: Marts, snapshot: str, name: str) -> list[Row]:
    """List the columns of an object with their reach."""
    return marts.ask(
        "select columns.*, reach.all_downstream_columns, reach.direct_upstream_columns from marts.columns as columns"
        " left join marts.column_reach as reach using (snapshot, object, ordinal)"
        " where columns.snapshot = ? and columns.object = ? order by ordinal",
        snapshot,
        name,
    )


def inputs_of(marts: Marts, snapshot: str, name: str) -> list[Row]:
    """List what feeds the columns of an object, with the places."""
    return marts.ask(
        "select from_object, from_column, to_column, type, subtype, approximate, masking, expression, path, line"
        " from marts.column_lineage where snapshot = ? and to_object = ?"
        " order by to_column, type, from_object, from_column, subtype, path, line limit 2000",
        snapshot,
        name,
    )


def neighbours_of(marts: Marts, snapshot: str, name: str) -> list[Row]:
    """List the objects that feed an object or read it."""
    return marts.ask(
        "select from_object, to_object, kind, direct_edges, indirect_edges, to_owners from marts.object_lineage"
        " where snapshot = ? and (from_object = ? or to_object = ?) and from_object <> to_object"
        " order by from_object, to_object",
        snapshot,
        name,
        name,
    )


def findings_of(marts: Marts, snapshot: str, name: str, path: str | None) -> list[Row]:
    """List the findings about an object, or in the file that defines it."""
    return marts.ask(
        "select code, severity, message, path, line from marts.diagnostics where snapshot = ?"
        " and (object = ? or (object is null and path = ?)) order by path, line limit 200",
        snapshot,
        name,
        path,
    )


def findings_in(marts: Marts, snapshot: str, path: str) -> list[Row]:
    """List the findings in a file."""
    return marts.ask(
        "select code, severity, message, path, line from marts.diagnostics where snapshot = ? and path = ?"
        " order by line limit 200",
        snapshot,
        path,
    )


def history_of(marts: Marts, name: str, repo: str) -> list[Row]:
    """List the commits that did something to an object, the newest first: what came and what went."""
    return marts.ask(
        "select commit, author, committed_at, event, snapshot,"
        " list(column_name order by column_name) filter (where element_kind = 'column')"
        " as columns, count(*) filter (where element_kind = 'edge') as edges,"
        " bool_or(element_kind = 'object') as whole from marts.lineage_history"
        " where object = ? and repo = ? group by commit, author, committed_at, event, snapshot"
        " union all select commit, author, committed_at, 'SQL changed', snapshot, null, 0, false"
        " from staging.int_object_changes where object = ? and not is_first and starts_with(snapshot, ? || '@')"
        " order by committed_at desc nulls last, event limit 200",
        name,
        repo,
        name,
        repo,
    )


def definition_of(marts: Marts, snapshot: str, name: str) -> tuple[str, str] | None:
    """Give the path and the text of the file that defines an object."""
    rows = marts.ask(
        "select files.path, sources.text from marts.objects as objects"
        " inner join staging.stg_lineage__sql_files as files using (snapshot, path)"
        " inner join staging.stg_lineage__sources as sources using (source_hash)"
        " where objects.snapshot = ? and objects.object = ?",
        snapshot,
        name,
    )
    return (str(rows[0]["path"]), str(rows[0]["text"])) if rows else None


def written_by(marts: Marts, snapshot: str, name: str) -> list[Row]:
    """List the statements that define, write or alter an object."""
    return marts.ask(
        "select parts.role, parts.path, parts.ordinal, statements.kind, statements.span.line as line"
        " from staging.stg_lineage__object_statements as parts inner join staging.stg_lineage__statements as statements"
        " using (snapshot, path, ordinal) where parts.snapshot = ? and parts.object = ? and parts.role <> 'read'"
        " order by parts.role <> 'define', parts.path, parts.ordinal limit 50",
        snapshot,
        name,
    )


def comparisons(marts: Marts) -> list[Row]:
    """List the comparisons, the newest first, with their root changes counted."""
    return marts.ask(
        "select base, head, repo, commit, author, committed_at, cast(sum(breaking) as bigint) as breaking,"
        " cast(sum(potentially_breaking) as bigint) as potentially_breaking, cast(sum(changes) as bigint) as changes,"
        " cast(sum(waived) as bigint) as waived from marts.breaking_trend"
        " group by base, head, repo, commit, author, committed_at order by committed_at desc nulls last, head"
    )


def changes(marts: Marts, base: str, head: str) -> list[Row]:
    """List the root changes of a comparison: the worst first, then those with most readers."""
    return marts.ask(
        "select changes.*, (select list(derived.object || coalesce('.' || derived.column_name, ''))"
        " from marts.changes as derived where derived.base = changes.base and derived.head = changes.head"
        " and derived.root_id = changes.change_id and not derived.is_root) as derived,"
        " (select consumers from staging.stg_lineage__changes as staged where staged.base = changes.base"
        " and staged.head = changes.head and staged.id = changes.change_id) as readers"
        " from marts.changes as changes where is_root and base = ? and head = ?"
        " order by list_position(['BREAKING', 'POTENTIALLY_BREAKING', 'NON_BREAKING', 'INFO'], effective_severity),"
        " consumers desc, object, rule, column_name limit 500",
        base,
        head,
    )


def health(marts: Marts) -> list[Row]:
    """Say for each snapshot what the analysis could not do."""
    return marts.ask("select * from marts.pipeline_health order by committed_at desc nulls last, snapshot")


def not_analysed(marts: Marts, snapshot: str) -> list[Row]:
    """List the statements that were not understood, with the finding that says why."""
    return marts.ask(
        "select code, severity, message, path, line from marts.diagnostics where snapshot = ?"
        " order by list_position(['error', 'warning', 'info'], severity), path, line limit 500",
        snapshot,
    )


def page_of(rows: list[Any], limit: int, offset: int) -> Row:
    """Give a page of rows and where the next one begins."""
    shown = rows[offset : offset + limit]
    more = offset + limit if offset + limit < len(rows) else None
    return {"items": shown, "total": len(rows), "next_offset": more}
