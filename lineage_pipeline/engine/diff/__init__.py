"""What changed between two lineages and whom it breaks: two `Lineage`s go in, rows of `changes` come out.

`rules` find, `causes` tell roots from what follows, `impact` asks who feels it; `table` lists the rules.
"""

from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.engine.diff.policy import Policy
from lineage_pipeline.engine.diff.table import RULES

__all__ = ["RULES", "Policy", "diff"]
