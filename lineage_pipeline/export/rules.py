"""The rules of change, as text and as JSON."""

from collections.abc import Iterable

from lineage_pipeline.engine.diff.finding import Rule
from lineage_pipeline.engine.diff.policy import Policy, level_of
from lineage_pipeline.engine.diff.table import INTRINSIC
from lineage_pipeline.export.json import SCHEMA_VERSION, dump


def rules_document(rules: Iterable[Rule], policy: Policy) -> str:
    """Give the rules as JSON; a level that is null leaves a rule as serious as what it finds."""
    listed = [
        {
            "id": rule.id,
            "title": rule.title,
            "scope": rule.scope.value,
            "severities": [severity.value for severity in INTRINSIC[rule.id]],
            "level": level_of(policy, rule.id) or None,
            "meaning": rule.meaning,
            "remedy": rule.remedy,
        }
        for rule in rules
    ]
    return dump({"schema_version": SCHEMA_VERSION, "rules": listed})


def rules_text(rules: Iterable[Rule], policy: Policy) -> str:
    """Give a line for each rule."""
    return "".join(
        f"{rule.id}  {rule.title}" + (f"  (level: {level})" if (level := level_of(policy, rule.id)) else "") + "\n"
        for rule in rules
    )
