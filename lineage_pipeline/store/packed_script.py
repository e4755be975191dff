"""Compiled scripts as they are cached, and their cache keys; usable without pyarrow."""

import msgspec

from lineage_pipeline.files.fingerprints import engine_version, hash_parts
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import Options
from lineage_pipeline.model.plan import ScriptInterface


class PackedScript(msgspec.Struct, frozen=True):
    """A compiled script as it is cached."""

    script: bytes
    face: bytes
    findings: bytes


def compile_key(source: str, options: Options) -> str:
    """Return the cache key of compiling a content: the content, and the options that affect it."""
    reading = (options.dialect, options.case_sensitivity, options.limits)
    return hash_parts([source, reading, engine_version()])


def pack_script(script: ir.Script, face: ScriptInterface) -> PackedScript:
    """Encode a script for the cache."""
    return PackedScript(*map(msgspec.msgpack.encode, (script, face, _keep_findings(script))))


def _keep_findings(script: ir.Script) -> list[ir.Placed]:
    """Keep of a script what its findings need."""
    return [
        msgspec.structs.replace(
            placed, statement=ir.Statement(placed.statement.kind, placed.statement.status, findings=found)
        )
        for placed in script.statements
        if (found := placed.statement.findings)
    ]
