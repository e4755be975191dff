"""Options of one file: from its header comment or from the settings.

A header comment reads `-- lineage: dialect=tsql schema=dbo`.
"""

import re
from collections.abc import Mapping

import msgspec

from lineage_pipeline.dialects.registry import find_traits, suggest_dialect
from lineage_pipeline.model.analysis import Options
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.tables import SqlFile

HEADER_COMMENT = re.compile(r"^[ \t]*(?:--|#|//|/\*)[ \t]*lineage:[ \t]*+(.+?)[ \t]*+(?:\*/[ \t]*+)?\r?$", re.MULTILINE)
HEADER_WORD = re.compile(r"[^\s,;]+")
HEADER_PAIR = re.compile(r"([a-z_]+)\s*=\s*(\"[^\"]*\"|[^\s,;]+)")

HEADER_KEYS: Mapping[str, str] = {
    "dialect": "dialect",
    "system": "system",
    "catalog": "default_catalog",
    "default_catalog": "default_catalog",
    "schema": "default_schema",
    "default_schema": "default_schema",
    "templater": "templater",
}
"""Keys of a header comment, and the settings they set."""

HEADER_LINES = 20
"""Number of lines at the top of a file in which the header comment may stand."""


def parse_header(text: str) -> dict[str, str]:
    """Return the options that the header comments of a file set."""
    said = (pair for match in _find_header_comments(text) for pair in HEADER_PAIR.findall(match[1]))
    return {HEADER_KEYS[key]: value.strip('"') for key, value in said if key in HEADER_KEYS}


def find_unknown_header_words(text: str) -> list[tuple[str, int]]:
    """Return the words of header comments that are neither a known key nor its value, with their offsets.

    Several words without any key are treated as a sentence and ignored.
    """
    found = []
    for match in _find_header_comments(text):
        pairs = list(HEADER_PAIR.finditer(match[1]))
        found += [(pair[1], match.start(1) + pair.start()) for pair in pairs if pair[1] not in HEADER_KEYS]
        rest = HEADER_PAIR.sub(lambda pair: " " * len(pair[0]), match[1])
        words = list(HEADER_WORD.finditer(rest))
        if pairs or len(words) == 1:
            found += [(word[0], match.start(1) + word.start()) for word in words]
    return found


def _find_header_comments(text: str) -> list[re.Match[str]]:
    if "lineage:" not in text[:4000]:
        return []
    head = "\n".join(text[:4000].split("\n")[:HEADER_LINES])
    return list(HEADER_COMMENT.finditer(head))


OPTION_FIELDS = ("dialect", "system", "default_catalog", "default_schema")


class FileOptions(msgspec.Struct, frozen=True):
    """The options of one file, and the evidence for its dialect."""

    options: Options
    evidence: str = ""


def require_known_dialect(dialect: str) -> None:
    """Refuse a dialect of a flag or of the settings that does not exist; one in a file is a finding instead."""
    if find_traits(dialect) is None:
        raise LineageError(f"there is no dialect {dialect}: {suggest_dialect(dialect)}")


def resolve_file_options(text: str, options: Options) -> FileOptions:
    """Return the options of a file: its header overrides the settings."""
    require_known_dialect(options.dialect)
    said = {key: value for key, value in parse_header(text).items() if key in OPTION_FIELDS}
    evidence = "settings" if options.dialect else ""
    if not said:
        return FileOptions(options, evidence)
    return FileOptions(msgspec.structs.replace(options, **said), "header comment" if "dialect" in said else evidence)


def options_of_row(file: SqlFile, options: Options) -> Options:
    """Return the options of a path with the dialect, system and defaults stored in its row."""
    if (file.dialect, file.system, file.default_catalog, file.default_schema) == (
        options.dialect,
        options.system,
        None,
        None,
    ):
        return options
    return msgspec.structs.replace(
        options,
        dialect=file.dialect,
        system=file.system,
        default_catalog=options.default_catalog if file.default_catalog is None else file.default_catalog,
        default_schema=options.default_schema if file.default_schema is None else file.default_schema,
    )
