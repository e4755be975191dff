"""Dropped objects: those whose last statement is a DROP."""

from collections.abc import Iterable

from lineage_pipeline.engine.graph.script_scopes import natural_path_key
from lineage_pipeline.model.enums import Role
from lineage_pipeline.model.tables import ObjectStatement

CREATING_ROLES = frozenset({Role.DEFINE, Role.ALTER, Role.WRITE})


def find_dropped(parts: Iterable[ObjectStatement]) -> frozenset[str]:
    """The objects that are dropped and not created again, in the order in which files run."""
    last: dict[str, tuple[tuple[object, int], Role]] = {}
    gone = {part.object for part in parts if part.role is Role.DROP}
    for part in parts:
        if part.object in gone and (part.role is Role.DROP or part.role in CREATING_ROLES):
            place = ((natural_path_key(part.path), part.ordinal), part.role)
            last[part.object] = max(last.get(part.object, place), place)
    return frozenset(name for name, (_, role) in last.items() if role is Role.DROP)
