"""Changes between two lineages and whom they break: two `Lineage`s in, rows of `changes` out.

`rules` find changes, `root_cause` separates causes from consequences, `change_impact` finds the affected consumers;
`rules.registry` lists the rules.
"""

from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.engine.diff.policy import Policy
from lineage_pipeline.engine.diff.rules.registry import RULES

__all__ = ["RULES", "Policy", "diff"]
