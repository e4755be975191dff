"""Options of one file: from its header comment, from the settings, or a dialect detected from its text.

A header comment reads `-- lineage: dialect=tsql schema=dbo`.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from lineage_pipeline.dialects.detect import (
    PROJECT_DIALECTS,
    DialectGuess,
    NameSign,
    guess_dialect,
)
from lineage_pipeline.discover.embedded_sql.extractor import HOST_NAMES
from lineage_pipeline.discover.sql_sniffing import find_shebang_dialect
from lineage_pipeline.files.sql_endings import CERTAIN, find_file_kind, name_ending
from lineage_pipeline.model.analysis import Options
from lineage_pipeline.model.tables import Source, SqlFile

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


FEWEST, SHARE = 2, 5
"""How many files of a folder have to tell their dialect, and that it is one in so many, for the others to be alike."""

OPTION_FIELDS = ("dialect", "system", "default_catalog", "default_schema")


class FileOptions(msgspec.Struct, frozen=True):
    """The options of one file, and the evidence for its dialect."""

    options: Options
    evidence: str = ""


def resolve_file_options(text: str, options: Options) -> FileOptions:
    """Return the options of a file: its header overrides the settings."""
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


def assign_dialects(files: Sequence[SqlFile], guesses: Mapping[str, DialectGuess]) -> list[SqlFile]:
    """Give files without a dialect the one that their text suggests, or that of the files around.

    The innermost folder decides in which most files with a detected dialect agree, and enough files have one.
    """
    unsaid = [file.path for file in files if not file.dialect and not _holds_rows(file.path)]
    if not guesses:
        return list(files)
    told: dict[str, Counter[str]] = {}
    numbers = Counter(folder for path in unsaid for folder in _parent_folders(path))
    for path, guess in guesses.items():
        for folder in _parent_folders(path):
            told.setdefault(folder, Counter())[guess.dialect] += 1
    around = {folder: _agree_on_dialect(counts, numbers[folder]) for folder, counts in told.items()}
    return [_assign_dialect(file, guesses.get(file.path), around) for file in files]


def _holds_rows(path: str) -> bool:
    kind = find_file_kind(path)
    return kind is not None and kind.rows


def _parent_folders(path: str) -> list[str]:
    """Return the folders above a path, innermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:end]) for end in range(len(parts), -1, -1)]


def _agree_on_dialect(counts: Counter[str], files: int) -> tuple[str, str]:
    """Return the dialect of a folder with the evidence, or no dialect where too few files agree."""
    most, number = min(counts.items(), key=lambda item: (-item[1], item[0]))
    told = counts.total()
    if number * 2 > told and (number * 2 >= files or (number >= FEWEST and number * SHARE >= files)):
        return most, f"like most files here: {number} of {told} that can be told are {most}"
    return "", f"no sign, and the files around tell too little: {number} of {files} are {most}"


def _assign_dialect(file: SqlFile, guess: DialectGuess | None, around: Mapping[str, tuple[str, str]]) -> SqlFile:
    if file.dialect:
        return file
    if guess is not None:
        evidence = f"detected: {', '.join(guess.signs)}"
        return msgspec.structs.replace(file, dialect=guess.dialect, evidence=evidence)
    near = [around[folder] for folder in _parent_folders(file.path) if folder in around]
    dialect, evidence = next((found for found in near if found[0]), near[-1])
    return msgspec.structs.replace(file, dialect=dialect, evidence=evidence)


def assign_project_dialect(files: Iterable[SqlFile], projects: Iterable[str]) -> dict[str, DialectGuess]:
    """Give files without a dialect the dialect of the project around them, if its SQL has only one."""
    known = {posixpath.dirname(path): path for path in sorted(projects, reverse=True)}
    found = {}
    for file in files if known else ():
        project = next((known[folder] for folder in _parent_folders(file.path) if folder in known), "")
        dialect = PROJECT_DIALECTS.get(posixpath.splitext(project)[1])
        if dialect and not file.dialect:
            found[file.path] = DialectGuess(dialect, (f"the project {project}",))
    return found


def guess_file_dialect(file: SqlFile, source: Source) -> DialectGuess | None:
    """Guess the dialect of a file from its SQL, its name and the program around it, unless it is configured."""
    if file.dialect:
        return None
    if file.templater in HOST_NAMES:
        return guess_dialect(source.rendered, source.text)
    return guess_dialect(source.rendered, "", _find_name_sign(file.path, source.text))


def _find_name_sign(path: str, text: str) -> NameSign | None:
    """Return what the ending of a file, or the client in its first line, says about its dialect."""
    client = find_shebang_dialect(text)
    if client is not None:
        return NameSign(client, "the client in its first line", CERTAIN)
    kind = find_file_kind(path)
    if kind is None or not kind.dialect:
        return None
    return NameSign(kind.dialect, f"the ending {name_ending(path)}", kind.worth)
