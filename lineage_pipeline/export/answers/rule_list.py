"""The rules of change, as text and as JSON."""

from collections.abc import Iterable

from lineage_pipeline.engine.diff.finding import Rule
from lineage_pipeline.engine.diff.policy import Policy, rule_level
from lineage_pipeline.engine.diff.rules.registry import INTRINSIC_SEVERITIES
from lineage_pipeline.export.documents.lineage_json import SCHEMA_VERSION, dump_json


def write_rules_json(rules: Iterable[Rule], policy: Policy) -> str:
    """Return the rules as JSON; a null level keeps the severity of what the rule finds."""
    listed = [
        {
            "id": rule.id,
            "title": rule.title,
            "scope": rule.scope.value,
            "severities": [severity.value for severity in INTRINSIC_SEVERITIES[rule.id]],
            "level": rule_level(policy, rule.id) or None,
            "meaning": rule.meaning,
            "remedy": rule.remedy,
        }
        for rule in rules
    ]
    return dump_json({"schema_version": SCHEMA_VERSION, "rules": listed})


def write_rules_text(rules: Iterable[Rule], policy: Policy) -> str:
    """Return a line for each rule."""
    return "".join(
        f"{rule.id}  {rule.title}" + (f"  (level: {level})" if (level := rule_level(policy, rule.id)) else "") + "\n"
        for rule in rules
    )
