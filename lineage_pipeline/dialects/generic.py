"""Generic SQL: what is assumed where the dialect is not known."""

from lineage_pipeline.dialects.dialect import DialectTraits

GENERIC = DialectTraits(
    name="",
    family="",
    quotes="`",
    short_lists=True,
    alias_if_unclaimed=True,
    sequence_columns=frozenset({"NEXTVAL", "CURRVAL"}),
)
