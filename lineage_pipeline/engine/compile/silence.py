"""Which statements carry no lineage: those that the parser need not see, and those that it makes nothing of."""

from collections.abc import Sequence

from sqlglot.tokens import Token

from lineage_pipeline.dialects import kinds
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.rewrites import REWRITES

_SKIPPED = kinds.SILENT_COMMANDS - {"BEGIN", "SET", "DECLARE"}
"""Commands that the parser need not see."""


def is_skipped(first: str, traits: Traits) -> bool:
    """Whether the first word of a statement tells that it carries no lineage; one that is rewritten may."""
    return first in _SKIPPED and first not in REWRITES.get(traits.family, ())


def is_silent(tokens: Sequence[Token]) -> bool:
    """Whether a statement that sqlglot leaves as text is of a kind that carries no lineage."""
    words = [word for token in tokens[:12] for word in token.text.upper().split()] or [""]
    if words[0] in kinds.SILENT_WHERE_UNREAD:
        return True
    about = next((word for word in words[1:] if word not in kinds.OBJECT_WORDS), "")
    silent = kinds.SILENT_ALTERATIONS if words[0] in ("ALTER", "DROP") else kinds.SILENT_OBJECTS
    return words[0] in ("CREATE", "ALTER", "DROP", "UPDATE") and about in silent
