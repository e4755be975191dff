"""Teradata: two-part names, lateral aliases, BTEQ, stored procedures and signs."""

import re

from lineage_pipeline.dialects.client_commands import COMMAND_KINDS, ClientCommands
from lineage_pipeline.dialects.dialect import TWO_PARTS, DialectTraits
from lineage_pipeline.dialects.procedural_languages import ProceduralLanguage
from lineage_pipeline.dialects.signs import (
    QUALIFY,
    build_driver_sign,
    build_sign,
)
from lineage_pipeline.dialects.system_catalogs import SystemCatalog

TERADATA = DialectTraits(
    name="teradata",
    family="teradata",
    parts=TWO_PARTS,
    lateral_alias=True,
    implied_sources=True,
    alias_in_where=True,
    alias_in_having=True,
    global_temporary_lasts=True,
    reserved_values=frozenset({"DATE", "TIME", "USER"}),
    system_catalog=SystemCatalog(schemas=frozenset({"dbc"})),
    client_commands=ClientCommands(
        re.compile(r"\.(?P<word>[a-z]+)", re.IGNORECASE), {**COMMAND_KINDS, "run": "INCLUDE"}
    ),
    procedural=ProceduralLanguage(
        "SPL", transactions=frozenset({"TRANSACTION", ";"}), executors={"SYSEXECSQL": (0, "")}
    ),
    signs=(
        build_sign(
            "MULTISET, VOLATILE or PRIMARY INDEX",
            r"\b(MULTISET|VOLATILE)\s+TABLE\b|\bPRIMARY\s+INDEX\s*\(|\bMULTISET\s+VOLATILE\b",
            3,
            "multiset volatile&table primary&index",
        ),
        build_sign(
            "BTEQ commands",
            r"^\s*\.(?:LOGON|LOGOFF|LOGMECH|IF\s+ERRORCODE|RUN\s+FILE|EXPORT|QUIT|LABEL|GOTO)\b",
            4,
            "logon&. logoff&. logmech&. errorcode&. run&file&. export&. quit&. label&. goto&.",
        ),
        build_sign("SEL or COLLECT STATISTICS", r"^\s*SEL\s+|\bCOLLECT\s+STAT", 2, "sel collect&stat*"),
        build_sign(
            "REPLACE VIEW or MACRO",
            r"^\s*REPLACE\s+(?:VIEW|MACRO|PROCEDURE)\b",
            3,
            "replace~view replace~macro replace~procedure",
        ),
        build_sign(
            "LOCKING or FALLBACK",
            r"\bLOCKING\s+(?:ROW|TABLE|\w+\s+FOR)\b|\bNO\s+FALLBACK\b|\bCASESPECIFIC\b",
            3,
            "locking&row locking&table locking&for no&fallback casespecific",
        ),
        build_sign("formats and titles of columns", r"\(\s*(?:FORMAT|TITLE)\s+'", 2, "format&( title&("),
        build_sign("the catalog DBC", r"\bDBC\.\w+", 2, "dbc&dbc."),
        QUALIFY,
    ),
    path_words=frozenset({"teradata", "bteq"}),
    host_signs=(build_driver_sign("Teradata", modules="teradatasql", operators="Teradata", scheme="teradatasql"),),
)
