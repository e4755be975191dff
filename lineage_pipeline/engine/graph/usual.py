"""The usual schema: names with and without it mean the same object, under the name that says more."""

from collections.abc import Iterable

import msgspec

from lineage_pipeline.dialects.schemas import USUAL
from lineage_pipeline.engine.graph.names import Namespace, Parts, Usual
from lineage_pipeline.engine.graph.scopes import Scopes
from lineage_pipeline.vocabulary.plan import Face

_TEMPORARY = ("#", "@", "")


def has_usual(space: Namespace) -> bool:
    """Whether names may leave out a schema that no setting names."""
    return space.traits.family in USUAL and not space.schema


def usual_of(steps: Iterable[tuple[int, Face, Namespace, Scopes]]) -> dict[str, Usual]:
    """What is said of objects of the usual schema, by the family of the dialect."""
    found: dict[str, Usual] = {}
    for _, face, space, _ in steps:
        family = space.traits.family
        usual = found.setdefault(family, Usual(USUAL[family], set(), set()))
        for name in (*face.writes, *face.reads, *face.calls, *face.alters):
            _note(name.parts, space, usual.named, usual.schema)
        if face.defines is not None:
            _note(face.defines.parts, space, usual.named, usual.schema)
            if len(face.defines.parts) == 1 or face.defines.parts[-2] == usual.schema:
                own = face.defines.parts if not space.catalog else (usual.schema, face.defines.parts[-1])
                usual.defined.add(space.complete(own))
    return found


def _note(parts: Parts, space: Namespace, named: set[Parts], schema: str) -> None:
    if len(parts) > 1 and parts[-2] in (schema, "") and parts[-1][:1] not in _TEMPORARY:
        named.add(space.complete((*parts[:-2], schema, parts[-1])))


def placed(space: Namespace, known: dict[str, Usual]) -> Namespace:
    """What completes names, together with what is said of the usual schema."""
    usual = known.get(space.traits.family) if known and has_usual(space) else None
    return msgspec.structs.replace(space, usual=usual) if usual is not None else space
