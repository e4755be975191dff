"""The queries of the pages on the marts: one function each, one query unless it says otherwise."""

from typing import Any

from lineage_pipeline.web.marts import Marts, Row

FUZZY_SIMILARITY = 0.86
"""The least similarity of a name that counts where no name contains the words."""

MOST_WORDS, LONGEST = 16, 200
"""Words of a search that count, and characters of each: anybody can send a search."""


def list_snapshots(marts: Marts) -> list[Row]:
    """Return the snapshots, the newest first."""
    return marts.ask(
        "select snapshot, repo, commit, refs, author, committed_at, base_commit, is_latest, files, statements, objects,"
        " columns, column_edges from marts.snapshots order by committed_at desc nulls last, snapshot"
    )


def search_marts(marts: Marts, snapshot: str, words: str, limit: int, offset: int = 0) -> list[Row]:
    """Find objects, columns and files that contain all words, of which sixteen count; else similar names."""
    parts = [part[:LONGEST] for part in words.lower().split()[:MOST_WORDS]]
    if not parts:
        return []
    contains = " and ".join("contains(lower(label), ?)" for _ in parts)
    hits = marts.ask(
        f"{_NAMES_CTE} select * from names where {contains}"
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
        f"{_NAMES_CTE} select * from names where jaro_winkler_similarity(lower(name), ?) >= {FUZZY_SIMILARITY}"
        " order by jaro_winkler_similarity(lower(name), ?) desc, label limit ?",
        snapshot,
        snapshot,
        snapshot,
        parts[-1],
        parts[-1],
        limit,
    )


_NAMES_CTE = """
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


def get_object(marts: Marts, snapshot: str, name: str) -> Row | None:
    """Return one object by id, or None."""
    rows = marts.ask("select * from marts.objects where snapshot = ? and object = ?", snapshot, name)
    return rows[0] if rows else None


def list_columns(marts: Marts, snapshot: str, name: str) -> list[Row]:
    """Return the columns of an object with their reach."""
    return marts.ask(
        "select columns.*, reach.all_downstream_columns, reach.direct_upstream_columns from marts.columns as columns"
        " left join marts.column_reach as reach using (snapshot, object, ordinal)"
        " where columns.snapshot = ? and columns.object = ? order by ordinal",
        snapshot,
        name,
    )


def list_inputs(marts: Marts, snapshot: str, name: str) -> list[Row]:
    """Return what feeds the columns of an object, with locations."""
    return marts.ask(
        "select from_object, from_column, to_column, type, subtype, approximate, masking, expression, path, line"
        " from marts.column_lineage where snapshot = ? and to_object = ?"
        " order by to_column, type, from_object, from_column, subtype, path, line limit 2000",
        snapshot,
        name,
    )


def list_neighbors(marts: Marts, snapshot: str, name: str) -> list[Row]:
    """Return the edges to objects that feed an object or read it."""
    return marts.ask(
        "select from_object, to_object, kind, direct_edges, indirect_edges, to_owners from marts.object_lineage"
        " where snapshot = ? and (from_object = ? or to_object = ?) and from_object <> to_object"
        " order by from_object, to_object",
        snapshot,
        name,
        name,
    )


def list_object_findings(marts: Marts, snapshot: str, name: str, path: str | None) -> list[Row]:
    """Return the findings about an object, or in the file that defines it."""
    return marts.ask(
        "select code, severity, message, path, line from marts.diagnostics where snapshot = ?"
        " and (object = ? or (object is null and path = ?)) order by path, line limit 200",
        snapshot,
        name,
        path,
    )


def list_file_findings(marts: Marts, snapshot: str, path: str) -> list[Row]:
    """Return the findings in a file."""
    return marts.ask(
        "select code, severity, message, path, line from marts.diagnostics where snapshot = ? and path = ?"
        " order by line limit 200",
        snapshot,
        path,
    )


def list_history(marts: Marts, name: str, repo: str) -> list[Row]:
    """Return the commits that changed an object, the newest first: what was added and removed."""
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


def get_definition(marts: Marts, snapshot: str, name: str) -> tuple[str, str] | None:
    """Return the path and the text of the file that defines an object, or None."""
    rows = marts.ask(
        "select files.path, sources.text from marts.objects as objects"
        " inner join staging.stg_lineage__sql_files as files using (snapshot, path)"
        " inner join staging.stg_lineage__sources as sources using (source_hash)"
        " where objects.snapshot = ? and objects.object = ?",
        snapshot,
        name,
    )
    return (str(rows[0]["path"]), str(rows[0]["text"])) if rows else None


def list_writers(marts: Marts, snapshot: str, name: str) -> list[Row]:
    """Return the statements that define, write or alter an object."""
    return marts.ask(
        "select parts.role, parts.path, parts.ordinal, statements.kind, statements.span.line as line"
        " from staging.stg_lineage__object_statements as parts inner join staging.stg_lineage__statements as statements"
        " using (snapshot, path, ordinal) where parts.snapshot = ? and parts.object = ? and parts.role <> 'read'"
        " order by parts.role <> 'define', parts.path, parts.ordinal limit 50",
        snapshot,
        name,
    )


def list_comparisons(marts: Marts) -> list[Row]:
    """Return the comparisons, the newest first, with the counts of their root changes."""
    return marts.ask(
        "select base, head, repo, commit, author, committed_at, cast(sum(breaking) as bigint) as breaking,"
        " cast(sum(potentially_breaking) as bigint) as potentially_breaking, cast(sum(changes) as bigint) as changes,"
        " cast(sum(waived) as bigint) as waived from marts.breaking_trend"
        " group by base, head, repo, commit, author, committed_at order by committed_at desc nulls last, head"
    )


def list_changes(marts: Marts, base: str, head: str) -> list[Row]:
    """Return the root changes of a comparison: the gravest first, then those with most readers."""
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


def list_health(marts: Marts) -> list[Row]:
    """Return for each snapshot what the analysis could not do."""
    return marts.ask("select * from marts.pipeline_health order by committed_at desc nulls last, snapshot")


def list_findings(marts: Marts, snapshot: str) -> list[Row]:
    """Return the findings of a snapshot, errors first."""
    return marts.ask(
        "select code, severity, message, path, line from marts.diagnostics where snapshot = ?"
        " order by list_position(['error', 'warning', 'info'], severity), path, line limit 500",
        snapshot,
    )


def paginate(rows: list[Any], limit: int, offset: int) -> Row:
    """Return a page of rows and the offset of the next one."""
    shown = rows[offset : offset + limit]
    more = offset + limit if offset + limit < len(rows) else None
    return {"items": shown, "total": len(rows), "next_offset": more}
