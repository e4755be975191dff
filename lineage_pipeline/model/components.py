"""The parts of a statement that can be looked at, and mostly run, on their own."""

from enum import StrEnum

import msgspec

from lineage_pipeline.model.tables import Span


class ComponentKind(StrEnum):
    """What a part of a statement is."""

    CTE = "CTE"
    TARGET_TABLE = "TARGET_TABLE"
    SOURCE_QUERY = "SOURCE_QUERY"
    MAIN_QUERY = "MAIN_QUERY"
    UNION_BRANCH = "UNION_BRANCH"
    SUBQUERY = "SUBQUERY"
    SCALAR_SUBQUERY = "SCALAR_SUBQUERY"


class Component(msgspec.Struct, frozen=True):
    """A part of a statement: a slice of its text, where it belongs, and the CTEs that it reads.

    `index` counts the parts of one statement, `parent` is such an index. `runnable` is a text that runs on its own,
    with the CTEs that are needed before it; null where there is none, as for a table or a correlated subquery.
    """

    index: int
    kind: ComponentKind
    name: str | None
    sql: str
    parent: int | None
    depth: int
    executable: bool
    dependencies: tuple[str, ...]
    location: str
    span: Span | None
    runnable: str | None


class Dissection(msgspec.Struct, frozen=True):
    """One statement and its parts, in the order in which they are taken out."""

    path: str
    statement: int
    kind: str
    preview: str
    components: tuple[Component, ...]

    def named(self, name: str) -> Component | None:
        """The part with a name: a CTE, an alias, a target table."""
        wanted = name.lower()
        return next((one for one in self.components if (one.name or "").lower() == wanted), None)

    def of_kind(self, kind: ComponentKind | str) -> tuple[Component, ...]:
        """The parts of one kind."""
        return tuple(one for one in self.components if one.kind == ComponentKind(kind))

    def executable(self) -> tuple[Component, ...]:
        """The parts that can be run."""
        return tuple(one for one in self.components if one.executable)
