"""The state of an analysis for the next one: per file what no table holds, the plan, and all schemas."""

import msgspec

from lineage_pipeline.engine.link.rows import StarEdge
from lineage_pipeline.model.analysis import Options
from lineage_pipeline.model.plan import NameBindings, ObjectEntry, ScriptInterface
from lineage_pipeline.model.tables import ColumnEdge, Diagnostic

ColumnRequest = tuple[str, str]
"""A column of an object that is read and that no schema lists."""


class FileState(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The state of one file beside its rows; its options are numbered, since most files share them."""

    source: str
    options: int
    face: ScriptInterface
    requests: tuple[ColumnRequest, ...] = ()
    passings: tuple[StarEdge, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    owners: tuple[str, ...] = ()
    position: int = 0


class AnalysisState(msgspec.Struct, frozen=True):
    """The state of an analysis that the next one continues from.

    `imported` are the hashes of imported schemas; `shapes` are the packed schemas of objects and of their states, each
    with whether it is temporary; `planned` are the findings of the plan.
    """

    imported: dict[str, str] = {}
    options: tuple[Options, ...] = ()
    files: dict[str, FileState] = {}
    known: dict[str, ObjectEntry] = {}
    bound: dict[str, tuple[NameBindings, ...]] = {}
    order: tuple[tuple[str, ...], ...] = ()
    shapes: dict[str, bytes] = {}
    wanted: tuple[ColumnRequest, ...] = ()
    carried: tuple[ColumnEdge, ...] = ()
    planned: tuple[Diagnostic, ...] = ()

    def pack(self) -> bytes:
        """The state as bytes."""
        return msgspec.msgpack.encode(self)

    @classmethod
    def unpack(cls, content: bytes) -> "AnalysisState":
        """Read a packed state."""
        return msgspec.msgpack.decode(content, type=cls)


def schema_key(known: ObjectEntry) -> tuple[object, ...]:
    """What the schema of an object depends on, apart from statements and other schemas."""
    row = known.row
    place = (row.object, row.open, row.temporary)
    return (*place, known.kind, known.origin, known.shapers, known.needs, known.imported, known.labels)
