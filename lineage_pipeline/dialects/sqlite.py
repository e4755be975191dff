"""SQLite: two-part names, row ids, triggers and signs."""

from lineage_pipeline.dialects.client_commands import DOT_SHELL
from lineage_pipeline.dialects.dialect import TWO_PARTS, DialectTraits
from lineage_pipeline.dialects.procedural_languages import ProceduralLanguage
from lineage_pipeline.dialects.signs import (
    DOT_COMMANDS,
    GROUP_CONCAT,
    IFNULL,
    INSERT_OR,
    LIMIT_PAIR,
    ON_CONFLICT,
    PRAGMA,
    build_driver_sign,
    build_sign,
)
from lineage_pipeline.dialects.system_catalogs import SystemCatalog

SQLITE = DialectTraits(
    name="sqlite",
    family="sqlite",
    parts=TWO_PARTS,
    alias_in_where=True,
    alias_in_having=True,
    merges_in_place=True,
    table_pseudo_columns=frozenset({"ROWID", "OID", "_ROWID_"}),
    pseudo_column_types=dict.fromkeys(("ROWID", "OID", "_ROWID_"), "INTEGER"),
    system_catalog=SystemCatalog(prefixes=("sqlite_", "pragma_")),
    client_commands=DOT_SHELL,
    procedural=ProceduralLanguage("triggers"),
    signs=(
        build_sign(
            "AUTOINCREMENT or WITHOUT ROWID",
            r"\bPRIMARY\s+KEY\s+AUTOINCREMENT\b|\bWITHOUT\s+ROWID\b",
            3,
            "autoincrement without&rowid",
        ),
        build_sign(
            "sqlite_master",
            r"\bsqlite_(?:master|schema|sequence|stat1)\b",
            4,
            "sqlite_master sqlite_schema sqlite_sequence sqlite_stat1",
        ),
        build_sign(
            "JULIANDAY or DATETIME('now')",
            r"\bJULIANDAY\s*\(|\b(?:DATE|DATETIME|STRFTIME)\s*\([^)]*'now'",
            3,
            "julianday now&'now'",
        ),
        build_sign("INTEGER PRIMARY KEY", r"\bINTEGER\s+(?:NOT\s+NULL\s+)?PRIMARY\s+KEY\b", 1, "integer&primary&key"),
        PRAGMA,
        DOT_COMMANDS,
        INSERT_OR,
        ON_CONFLICT,
        IFNULL,
        GROUP_CONCAT.with_worth(1),
        LIMIT_PAIR,
    ),
    path_words=frozenset({"sqlite", "sqlite3"}),
    host_signs=(build_driver_sign("SQLite", modules="sqlite3|aiosqlite", operators="Sqlite", scheme="sqlite"),),
)
