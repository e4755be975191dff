"""Which engine wrote a row: part of every key under which results are kept."""

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

import lineage_pipeline

ROOMS = ("dialects", "engine", "vocabulary")


@cache
def engine_version() -> str:
    """Hash the source of the engine and the version of its parser: whatever changes rows changes this."""
    root = Path(lineage_pipeline.__file__).parent
    digest = hashlib.sha256(version("sqlglot").encode())
    for room in ROOMS:
        for file in sorted((root / room).rglob("*.py")):
            digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
