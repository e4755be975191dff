"""What engines know of themselves: schemas and views that are there although no file creates them."""

from collections.abc import Sequence


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_EVERYWHERE = _words("information_schema")
_POSTGRES = _EVERYWHERE | _words("pg_catalog pg_toast")

SCHEMAS: dict[str, frozenset[str]] = {
    "clickhouse": _EVERYWHERE | _words("system"),
    "duckdb": _POSTGRES,
    "mysql": _EVERYWHERE | _words("performance_schema mysql sys"),
    "oracle": _words("sys"),
    "postgres": _POSTGRES,
    "redshift": _POSTGRES | _words("pg_internal"),
    "snowflake": _EVERYWHERE | _words("account_usage organization_usage reader_account_usage data_sharing_usage"),
    "starrocks": _EVERYWHERE | _words("sys _statistics_"),
    "teradata": _words("dbc"),
    "tsql": _EVERYWHERE | _words("sys"),
}
"""Schemas of the engine's own, by dialect; all others have those of the standard."""

DATABASES: dict[str, frozenset[str]] = {
    "databricks": _words("system"),
    "trino": _words("system"),
    "tsql": _words("msdb master model"),
}
"""Databases of the engine's own, which stand before a schema."""

PREFIXES: dict[str, tuple[str, ...]] = {
    "duckdb": ("duckdb_", "pg_", "sqlite_"),
    "oracle": ("v$", "gv$", "v_$", "gv_$", "x$", "dba_", "cdb_", "nls_"),
    "postgres": ("pg_",),
    "redshift": ("pg_", "stl_", "stv_", "svl_", "svv_", "svcs_", "sys_"),
    "sqlite": ("sqlite_", "pragma_"),
}
"""What names of the engine's own begin with, where a name alone can mean them."""

OWNERS = ("all_", "user_")
OWNED = _words(
    "arguments catalog clusters col_comments col_privs coll_types cons_columns constraints db_links dependencies "
    "directories errors extents external_tables free_space identifiers ind_columns ind_expressions ind_partitions "
    "ind_statistics indexes jobs lob_partitions lobs mview_logs mviews nested_tables object_tables objects "
    "part_key_columns part_tables password_limits plsql_object_settings procedures queues recyclebin role_privs "
    "scheduler_job_run_details scheduler_jobs segments sequences source stored_settings synonyms sys_privs "
    "tab_col_statistics tab_cols tab_columns tab_comments tab_histograms tab_identity_cols tab_modifications "
    "tab_partitions tab_privs tab_privs_made tab_privs_recd tab_statistics tab_subpartitions tables tablespaces "
    "trigger_cols triggers type_attrs type_methods types users varrays views xml_tables"
)
"""Oracle: what stands behind ALL_ and USER_, with which names of anybody may begin."""

NAMES: dict[str, frozenset[str]] = {
    "oracle": _words("dual cat tab cols dict dictionary session_privs session_roles product_component_version")
    | frozenset(owner + name for owner in OWNERS for name in OWNED),
    "tsql": _words(
        "sysobjects syscolumns sysindexes sysusers syscomments systypes sysprocesses sysfiles sysdatabases syslogins "
        "sysdepends sysindexkeys sysreferences sysconstraints sysaltfiles sysconfigures"
    ),
}
"""Names of the engine's own that nothing stands before."""


def is_own(dialect: str, parts: Sequence[str]) -> bool:
    """Whether the engine itself has an object of this name."""
    words = [word for part in parts for word in part.lower().split(".")]
    *around, name = words or [""]
    schemas = SCHEMAS.get(dialect, _EVERYWHERE)
    if any(word in schemas for word in around) or (len(around) == 2 and around[0] in DATABASES.get(dialect, ())):
        return True
    return name.startswith(PREFIXES.get(dialect, ("\0",))) or (not around and name in NAMES.get(dialect, ()))
