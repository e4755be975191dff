"""What an analysis leaves to the next one: of each file what no table has, the plan, and the schemas of all objects."""

import msgspec

from lineage_pipeline.engine.link.rows import Passing
from lineage_pipeline.vocabulary.analysis import Options
from lineage_pipeline.vocabulary.plan import Bound, Known, ScriptFace
from lineage_pipeline.vocabulary.tables import ColumnEdge, Diagnostic

Request = tuple[str, str]
"""A column of an object that somebody asks for and no schema lists."""


class Told(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What one file tells beside its rows; its options are numbered, since most files have the same."""

    source: str
    options: int
    face: ScriptFace
    requests: tuple[Request, ...] = ()
    passings: tuple[Passing, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    owners: tuple[str, ...] = ()
    position: int = 0


class Before(msgspec.Struct, frozen=True):
    """An analysis as the next one takes it up.

    `shapes` are the schemas of objects and of their states, each with whether it is temporary, as they are packed;
    `planned` are the findings of the plan.
    """

    imported: str = ""
    options: tuple[Options, ...] = ()
    files: dict[str, Told] = {}
    known: dict[str, Known] = {}
    bound: dict[str, tuple[Bound, ...]] = {}
    order: tuple[tuple[str, ...], ...] = ()
    shapes: dict[str, bytes] = {}
    wanted: tuple[Request, ...] = ()
    carried: tuple[ColumnEdge, ...] = ()
    planned: tuple[Diagnostic, ...] = ()

    def packed(self) -> bytes:
        """Give all of it as bytes."""
        return msgspec.msgpack.encode(self)

    @classmethod
    def of(cls, content: bytes) -> "Before":
        """Read what was packed."""
        return msgspec.msgpack.decode(content, type=cls)


def shape_key(known: Known) -> tuple[object, ...]:
    """Name what the schema of an object depends on, apart from statements and other schemas."""
    row = known.row
    place = (row.object, row.open, row.temporary)
    return (*place, known.kind, known.origin, known.shapers, known.needs, known.imported, known.labels)
