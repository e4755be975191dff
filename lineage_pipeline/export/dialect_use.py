"""The dialects that files are read in, by folder, and the evidence for each."""

import posixpath
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from lineage_pipeline.model.tables import SCHEMA_TEMPLATER, SqlFile

OWN_SIGNS = "detected: "
"""How the evidence of files begins that differ from their tree."""


MAX_LINES = 5
"""How many lines about dialects are written at most."""


class DialectUse(msgspec.Struct, frozen=True):
    """Some files that are read in one dialect for one reason, and the folder that all of them are in."""

    dialect: str
    folder: str
    files: int
    evidence: str


def list_dialects(files: Iterable[SqlFile]) -> list[DialectUse]:
    """Return the dialects of files with SQL, the most files first; generic SQL has an empty name."""
    groups: dict[tuple[str, str], list[str]] = {}
    for file in files:
        if file.templater != SCHEMA_TEMPLATER:
            groups.setdefault((file.dialect, _shorten_evidence(file)), []).append(file.path)
    found = [
        DialectUse(dialect, _find_common_folder(paths), len(paths), evidence)
        for (dialect, evidence), paths in groups.items()
    ]
    return sorted(found, key=lambda use: (-use.files, use.folder, use.dialect, use.evidence))


def _shorten_evidence(file: SqlFile) -> str:
    evidence = file.evidence or "none is set"
    return "signs in single files" if evidence.startswith(OWN_SIGNS) else evidence


def _find_common_folder(paths: list[str]) -> str:
    """Return the folder of all paths, or the path itself where there is one; empty at the top."""
    return paths[0] if len(paths) == 1 else posixpath.commonpath([posixpath.dirname(path) for path in paths])


def format_dialects(uses: Sequence[DialectUse], *, by_flag: bool = False) -> Iterator[str]:
    """Yield a line for each dialect and folder, the most files first."""
    most = MAX_LINES if len(uses) <= MAX_LINES else MAX_LINES - 1
    for use in uses[:most]:
        where = f" in {use.folder}" if use.folder and len(uses) > 1 and " files in " not in use.evidence else ""
        evidence = "--dialect" if by_flag and use.evidence == "settings" else use.evidence
        hint = "" if use.dialect else "; --dialect names one"
        yield f"Dialect: {use.dialect or 'generic SQL'}{where} ({evidence}{hint})"
    if len(uses) > most:
        files = sum(use.files for use in uses[most:])
        yield f"Dialect: others in {files} more files; lineage scan -v lists them"
