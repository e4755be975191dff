"""Files, buckets, stages and programs: objects outside the database, named by an address."""

import re

from lineage_pipeline.dialects.folding import fold
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.vocabulary import ir

FILE = re.compile(r"/|\.(?:csv|tsv|txt|json|jsonl|ndjson|parquet|orc|avro|xlsx|arrow|gz|zst|db)\Z", re.IGNORECASE)
"""What the name of a table looks like that is a file, where a dialect reads files by their names."""

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def outside(text: str, traits: Traits, start: int = ir.NOWHERE, end: int = ir.NOWHERE) -> ir.Name:
    """The name of what lies at an address: it always has a scheme, and no schema completes it."""
    return ir.Name((address(text, traits),), text, start, end)


def address(text: str, traits: Traits) -> str:
    """An address with its scheme: a path is a file, `@name/path` a stage."""
    if "://" in text:
        return text
    if text.startswith("@"):
        stage, slash, path = text[1:].partition("/")
        return f"stage://{fold(stage, False, traits.tables)}{slash}{path}"
    if _DRIVE.match(text):
        return "file:///" + text.replace("\\", "/")
    return f"file://{text}" if text.startswith("/") else f"file://./{text.removeprefix('./')}"
