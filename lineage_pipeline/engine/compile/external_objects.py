"""External objects: files, buckets, stages and programs, named by an address."""

import re

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.identifier_folding import fold_identifier
from lineage_pipeline.model import ir

FILE_NAME_PATTERN = re.compile(
    r"/|\.(?:csv|tsv|txt|json|jsonl|ndjson|parquet|orc|avro|xlsx|arrow|gz|zst|db)\Z", re.IGNORECASE
)
"""Table names that are file names, in dialects that read files by name."""

_WINDOWS_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def build_external_name(text: str, traits: DialectTraits, start: int = ir.NOWHERE, end: int = ir.NOWHERE) -> ir.Name:
    """The name of an external object: its address with a scheme, which no schema qualifies."""
    return ir.Name((build_external_address(text, traits),), text, start, end)


def build_external_address(text: str, traits: DialectTraits) -> str:
    """An address with its scheme: a path becomes `file://`, `@name/path` becomes `stage://`."""
    if "://" in text:
        return text
    if text.startswith("@"):
        stage, slash, path = text[1:].partition("/")
        return f"stage://{fold_identifier(stage, False, traits.tables)}{slash}{path}"
    if _WINDOWS_DRIVE.match(text):
        return "file:///" + text.replace("\\", "/")
    return f"file://{text}" if text.startswith("/") else f"file://./{text.removeprefix('./')}"
