"""The settings of `[diff]` as the engine takes them."""

from lineage_pipeline.engine.diff.policy import Policy
from lineage_pipeline.engine.diff.table import RULES
from lineage_pipeline.settings import Settings, suggestion
from lineage_pipeline.vocabulary.errors import LineageError


def policy_of(settings: Settings) -> Policy:
    """Give how changes are judged; the level of a rule that there is not is an error."""
    known = [rule.id for rule in RULES]
    for rule in settings.diff.levels:
        if rule not in known:
            raise LineageError(
                f"{settings.file or 'settings'}: diff.levels: there is no rule {rule}; {suggestion(rule, known)}"
            )
    return Policy(**settings.diff.model_dump(mode="json"))
