"""Unique indexes by their names: in most dialects, a DROP INDEX does not say whose promise it takes back."""

from lineage_pipeline.engine.graph.names import Namespace
from lineage_pipeline.vocabulary.ir import Name
from lineage_pipeline.vocabulary.plan import Face


class Indexes:
    """Which table each unique index is of."""

    def __init__(self) -> None:
        """Start without any."""
        self.tables: dict[str, tuple[Name, Namespace]] = {}

    def create(self, face: Face, space: Namespace) -> None:
        """Take in the index that a statement creates; it lies in the schema of its table."""
        if face.alters:
            self.tables |= {space.id(space.complete(name.parts)): (face.alters[0], space) for name in face.indexes}

    def dropped(self, face: Face, space: Namespace) -> dict[Name, tuple[Name, Namespace]]:
        """Give the tables of the indexes that a statement drops without naming them, and what completes their names."""
        found: dict[Name, tuple[Name, Namespace]] = {}
        for name in face.indexes if self.tables and not face.alters else ():
            keys = (space.id(parts) for parts in space.candidates(name.parts))
            known = next((key for key in keys if key in self.tables), "")
            found |= {name: self.tables[known]} if known else {}
        return found
