"""Imported schemas, and the names by which statements mean them."""

from collections.abc import Mapping

from lineage_pipeline.engine.graph.names import Namespace, Parts, ends_alike, quote, split_id
from lineage_pipeline.vocabulary.analysis import TableSchema
from lineage_pipeline.vocabulary.plan import Known
from lineage_pipeline.vocabulary.sets import Role


class Imported:
    """The imported schemas by the ids that they have of their own."""

    def __init__(self, schemas: Mapping[str, TableSchema]) -> None:
        """Take them as they are; what ends alike is looked for only when somebody asks."""
        self.schemas = schemas
        self._by_end: dict[str, list[tuple[Parts, str]]] = {}
        self._schemas: set[Parts] = set()

    def find(self, space: Namespace, parts: Parts) -> str:
        """The imported object that a name stands for: exactly, by the search path, or by the end of its name.

        Names of imported schemas may have more or fewer parts than references; a match must be the only one.
        """
        for item in space.candidates(parts):
            if space.id(item) in self.schemas:
                return space.id(item)
        if not self._by_end and self.schemas:
            for key in sorted(self.schemas):
                found = split_id(key)
                self._by_end.setdefault(found[-1], []).append((found, key))
        wanted = tuple(quote(part, space.traits.tables) for part in space.complete(parts) if part)
        same = [key for found, key in self._by_end.get(wanted[-1], ()) if ends_alike(found, wanted)]
        return same[0] if len(same) == 1 else ""

    def surrounds(self, space: Namespace, parts: Parts) -> bool:
        """Whether other objects of the same schema are imported, so that one that is not does not exist."""
        if not self._schemas:
            self._schemas = {split_id(key)[:-1] for key in self.schemas}
        wanted = tuple(quote(part, space.traits.tables) for part in space.complete(parts)[:-1] if part)
        return bool(wanted) and wanted in self._schemas

    def is_partial(self, known: Known) -> bool:
        """Whether an object may have columns beyond those that are imported: no definition lists them either."""
        if not known.imported or not self.schemas[known.imported].open:
            return False
        return not any(event.role is Role.DEFINE for event in known.shapers)
