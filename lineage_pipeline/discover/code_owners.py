"""CODEOWNERS: who owns a file, by the last line that matches its path."""

from collections.abc import Iterable

import msgspec

from lineage_pipeline.files.path_patterns import matches_path

OWNER_FILES = ("CODEOWNERS", ".github/CODEOWNERS", ".gitlab/CODEOWNERS", "docs/CODEOWNERS")
"""Paths of the CODEOWNERS file; the first that exists counts."""


class CodeOwners(msgspec.Struct, frozen=True):
    """The lines of a CODEOWNERS file: patterns and their owners."""

    lines: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def of(self, path: str) -> tuple[str, ...]:
        """Return the owners of a file; a matching line without owners clears them."""
        for pattern, owners in reversed(self.lines):
            if matches_path(path, (pattern, pattern.rstrip("/") + "/")):
                return owners
        return ()


def parse_code_owners(text: str) -> CodeOwners:
    """Parse the lines; comments, sections and blank lines are skipped."""
    return CodeOwners(tuple(_parse_owner_lines(text.splitlines())))


def _parse_owner_lines(lines: Iterable[str]) -> Iterable[tuple[str, tuple[str, ...]]]:
    for line in lines:
        said = line.split("#", 1)[0].strip() if not line.lstrip().startswith("\\#") else line.strip()
        if not said or said.startswith(("[", "^[")):
            continue
        pattern, *owners = said.replace("\\ ", "\0").split()
        yield _anchor_pattern(pattern.replace("\0", " ")), tuple(owners)


def _anchor_pattern(pattern: str) -> str:
    """Anchor a pattern at the top if it has a slash before its end; `*` alone matches every file."""
    return "**" if pattern == "*" else pattern
