"""System catalogs: schemas and views of the engine that exist although no file creates them."""

from collections.abc import Sequence


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_COMMON_SCHEMAS = _split_words("information_schema")
_POSTGRES_SCHEMAS = _COMMON_SCHEMAS | _split_words("pg_catalog pg_toast")

SYSTEM_SCHEMAS: dict[str, frozenset[str]] = {
    "clickhouse": _COMMON_SCHEMAS | _split_words("system"),
    "duckdb": _POSTGRES_SCHEMAS,
    "mysql": _COMMON_SCHEMAS | _split_words("performance_schema mysql sys"),
    "oracle": _split_words("sys"),
    "postgres": _POSTGRES_SCHEMAS,
    "redshift": _POSTGRES_SCHEMAS | _split_words("pg_internal"),
    "snowflake": _COMMON_SCHEMAS
    | _split_words("account_usage organization_usage reader_account_usage data_sharing_usage"),
    "starrocks": _COMMON_SCHEMAS | _split_words("sys _statistics_"),
    "teradata": _split_words("dbc"),
    "tsql": _COMMON_SCHEMAS | _split_words("sys"),
}
"""System schemas by dialect; all others have those of the standard."""

SYSTEM_DATABASES: dict[str, frozenset[str]] = {
    "databricks": _split_words("system"),
    "trino": _split_words("system"),
    "tsql": _split_words("msdb master model"),
}
"""System databases, which precede a schema."""

SYSTEM_PREFIXES: dict[str, tuple[str, ...]] = {
    "duckdb": ("duckdb_", "pg_", "sqlite_"),
    "oracle": ("v$", "gv$", "v_$", "gv_$", "x$", "dba_", "cdb_", "nls_"),
    "postgres": ("pg_",),
    "redshift": ("pg_", "stl_", "stv_", "svl_", "svv_", "svcs_", "sys_"),
    "sqlite": ("sqlite_", "pragma_"),
}
"""Prefixes of system names that need no schema."""

ORACLE_VIEW_PREFIXES = ("all_", "user_")
ORACLE_VIEWS = _split_words(
    "arguments catalog clusters col_comments col_privs coll_types cons_columns constraints db_links dependencies "
    "directories errors extents external_tables free_space identifiers ind_columns ind_expressions ind_partitions "
    "ind_statistics indexes jobs lob_partitions lobs mview_logs mviews nested_tables object_tables objects "
    "part_key_columns part_tables password_limits plsql_object_settings procedures queues recyclebin role_privs "
    "scheduler_job_run_details scheduler_jobs segments sequences source stored_settings synonyms sys_privs "
    "tab_col_statistics tab_cols tab_columns tab_comments tab_histograms tab_identity_cols tab_modifications "
    "tab_partitions tab_privs tab_privs_made tab_privs_recd tab_statistics tab_subpartitions tables tablespaces "
    "trigger_cols triggers type_attrs type_methods types users varrays views xml_tables"
)
"""Oracle: names after ALL_ and USER_, prefixes that user objects may have too."""

SYSTEM_NAMES: dict[str, frozenset[str]] = {
    "oracle": _split_words("dual cat tab cols dict dictionary session_privs session_roles product_component_version")
    | frozenset(owner + name for owner in ORACLE_VIEW_PREFIXES for name in ORACLE_VIEWS),
    "tsql": _split_words(
        "sysobjects syscolumns sysindexes sysusers syscomments systypes sysprocesses sysfiles sysdatabases syslogins "
        "sysdepends sysindexkeys sysreferences sysconstraints sysaltfiles sysconfigures"
    ),
}
"""System names that need no schema."""


def is_system_object(dialect: str, parts: Sequence[str]) -> bool:
    """Return whether a name is that of a system object."""
    words = [word for part in parts for word in part.lower().split(".")]
    *around, name = words or [""]
    schemas = SYSTEM_SCHEMAS.get(dialect, _COMMON_SCHEMAS)
    if any(word in schemas for word in around) or (len(around) == 2 and around[0] in SYSTEM_DATABASES.get(dialect, ())):
        return True
    return name.startswith(SYSTEM_PREFIXES.get(dialect, ("\0",))) or (
        not around and name in SYSTEM_NAMES.get(dialect, ())
    )
