"""Exasol: the rules of Oracle, with LOCAL before an alias, and signs of its own."""

import re

import msgspec

from lineage_pipeline.dialects.dialect import derive_dialect
from lineage_pipeline.dialects.oracle import ORACLE, SQLPLUS
from lineage_pipeline.dialects.signs import build_driver_sign, build_sign

EXASOL = derive_dialect(
    ORACLE,
    "exasol",
    alias_prefix="LOCAL.",
    plain_functions=frozenset({"ZEROIFNULL", "NULLIFZERO"}),
    reserved_values=frozenset("ROWNUM LEVEL SYSDATE USER CURRENT_SESSION CURRENT_STATEMENT CURRENT_SCHEMA".split()),
    sequence_columns=frozenset({"NEXTVAL", "CURRVAL"}),
    client_commands=msgspec.structs.replace(  # EXAplus; a script in another language ends with a slash
        SQLPLUS,
        data=re.compile(
            r"^[ \t]*CREATE\s+(?:OR\s+REPLACE\s+)?(?:LUA|PYTHON3?|JAVA|R)\s+(?:\w+\s+)?SCRIPT\b[^;]*?\bAS[ \t]*$",
            re.IGNORECASE | re.MULTILINE,
        ),
        data_end=re.compile(r"^(/)[ \t]*$", re.MULTILINE),
    ),
    signs=(
        build_sign("EXAplus scripts", r"^--/\s*$", 4, "--/"),
        build_sign(
            "scripts in Lua, Python, Java or R",
            r"\b(?:LUA|PYTHON3?|JAVA|R)\s+(?:(?:SCALAR|SET|ADAPTER)\s+)?SCRIPT\b",
            4,
            "lua&script python&script python3&script java&script r&script",
        ),
        build_sign(
            "system tables EXA_…",
            r"\bEXA_(?:ALL|DBA|USER|SQL|STATISTICS|DB_SIZE|USAGE|MONITOR|METADATA|PARAMETERS|SYSTEM|CLUSTER|VOLUME)\w*",
            4,
            "exa_*",
        ),
        build_sign(
            "IMPORT and EXPORT of Exasol",
            r"\b(?:FROM|INTO)\s+(?:(?:LOCAL\s+)?(?:CSV|FBV)\s+(?:AT|FILE)|(?:JDBC|EXA|ORA)\s+AT)\b",
            3,
            "csv&at csv&file fbv&at fbv&file jdbc&at exa&at ora&at",
        ),
    ),
    path_words=frozenset({"exasol", "exaplus"}),
    host_signs=(
        build_driver_sign("Exasol", modules="pyexasol|sqlalchemy_exasol", operators="Exasol", scheme="exasol"),
    ),
)
