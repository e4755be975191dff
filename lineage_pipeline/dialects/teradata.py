"""Teradata: two-part names, lateral aliases, BTEQ, stored procedures and signs."""

import re

from lineage_pipeline.dialects.client_commands import COMMAND_KINDS, ClientCommands
from lineage_pipeline.dialects.dialect import TWO_PARTS, DialectTraits
from lineage_pipeline.dialects.procedural_languages import ProceduralLanguage
from lineage_pipeline.dialects.signs import build_driver_sign, build_sign
from lineage_pipeline.dialects.system_catalogs import SystemCatalog

TERADATA = DialectTraits(
    name="teradata",
    family="teradata",
    parts=TWO_PARTS,
    lateral_alias=True,
    alias_in_where=True,
    alias_in_having=True,
    global_temporary_lasts=True,
    reserved_values=frozenset({"DATE", "TIME", "USER"}),
    system_catalog=SystemCatalog(schemas=frozenset({"dbc"})),
    client_commands=ClientCommands(
        re.compile(r"\.(?P<word>[a-z]+)", re.IGNORECASE), {**COMMAND_KINDS, "run": "INCLUDE"}
    ),
    procedural=ProceduralLanguage("SPL", transactions=frozenset({"TRANSACTION", ";"})),
    signs=(
        build_sign(
            "PRIMARY INDEX, MULTISET or SEL",
            r"\b(MULTISET|VOLATILE)\s+TABLE\b|\bPRIMARY\s+INDEX\s*\(",
            3,
            "multiset volatile index",
        ),
    ),
    host_signs=(build_driver_sign("Teradata", modules="teradatasql", operators="Teradata", scheme="teradatasql"),),
)
