"""The rules of change in one table: what `lineage explain` prints and what `diff` applies. An id is never reused."""

from lineage_pipeline.engine.diff.finding import Rule
from lineage_pipeline.engine.diff.rules import analysis, columns, expressions, objects, rows, schemas

RULES: tuple[Rule, ...] = (
    *objects.RULES,
    *columns.RULES,
    *schemas.RULES,
    *expressions.RULES,
    *rows.RULES,
    *analysis.RULES,
)
