"""A compiled content as it is kept, and the key that it is kept under: without pyarrow, which not every install has."""

import msgspec

from lineage_pipeline.store.engine import engine_version
from lineage_pipeline.store.hashes import hash_of
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import Options
from lineage_pipeline.vocabulary.plan import ScriptFace


class Packed(msgspec.Struct, frozen=True):
    """A compiled content as it is kept."""

    script: bytes
    face: bytes
    findings: bytes


def compile_key(source: str, options: Options) -> str:
    """Name what compiling a content depends on: the content, and how it is read; the rest bears on names only."""
    reading = (options.dialect, options.case_sensitivity, options.limits)
    return hash_of([source, reading, engine_version()])


def packed(script: ir.Script, face: ScriptFace) -> Packed:
    """Give a script as it is kept."""
    return Packed(*map(msgspec.msgpack.encode, (script, face, _with_findings(script))))


def _with_findings(script: ir.Script) -> list[ir.Placed]:
    """Keep of a script what its findings need."""
    return [
        msgspec.structs.replace(
            placed, statement=ir.Statement(placed.statement.kind, placed.statement.status, findings=found)
        )
        for placed in script.statements
        if (found := placed.statement.findings)
    ]
