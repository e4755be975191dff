"""Exasol: the rules of Oracle, with LOCAL before an alias."""

from lineage_pipeline.dialects.dialect import derive_dialect
from lineage_pipeline.dialects.oracle import ORACLE

EXASOL = derive_dialect(
    ORACLE,
    "exasol",
    alias_prefix="LOCAL.",
    plain_functions=frozenset({"ZEROIFNULL", "NULLIFZERO"}),
    reserved_values=frozenset("ROWNUM LEVEL SYSDATE USER CURRENT_SESSION CURRENT_STATEMENT CURRENT_SCHEMA".split()),
    sequence_columns=frozenset({"NEXTVAL", "CURRVAL"}),
)
