"""Objects that are gone: whatever defined them, the last word is a DROP."""

from collections.abc import Iterable

from lineage_pipeline.engine.graph.scopes import natural
from lineage_pipeline.vocabulary.sets import Role
from lineage_pipeline.vocabulary.tables import ObjectStatement

LIVES = frozenset({Role.DEFINE, Role.ALTER, Role.WRITE})


def dropped(parts: Iterable[ObjectStatement]) -> frozenset[str]:
    """The objects that are dropped and not made again, in the order in which files are run."""
    last: dict[str, tuple[tuple[object, int], Role]] = {}
    gone = {part.object for part in parts if part.role is Role.DROP}
    for part in parts:
        if part.object in gone and (part.role is Role.DROP or part.role in LIVES):
            place = ((natural(part.path), part.ordinal), part.role)
            last[part.object] = max(last.get(part.object, place), place)
    return frozenset(name for name, (_, role) in last.items() if role is Role.DROP)
