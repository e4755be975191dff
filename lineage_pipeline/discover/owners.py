"""CODEOWNERS: who owns a file, by the last line that fits its path."""

from collections.abc import Iterable

import msgspec

from lineage_pipeline.discover.globs import matches

PLACES = ("CODEOWNERS", ".github/CODEOWNERS", ".gitlab/CODEOWNERS", "docs/CODEOWNERS")
"""Where the file may lie, the first that is there counts."""


class Owners(msgspec.Struct, frozen=True):
    """The lines of a CODEOWNERS file: patterns, and who owns what fits."""

    lines: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def of(self, path: str) -> tuple[str, ...]:
        """Give the owners of a file; a line without any takes it from those before."""
        for pattern, owners in reversed(self.lines):
            if matches(path, (pattern, pattern.rstrip("/") + "/")):
                return owners
        return ()


def parse_owners(text: str) -> Owners:
    """Read the lines; comments, sections and blank ones are passed over."""
    return Owners(tuple(_lines(text.splitlines())))


def _lines(lines: Iterable[str]) -> Iterable[tuple[str, tuple[str, ...]]]:
    for line in lines:
        said = line.split("#", 1)[0].strip() if not line.lstrip().startswith("\\#") else line.strip()
        if not said or said.startswith(("[", "^[")):
            continue
        pattern, *owners = said.replace("\\ ", "\0").split()
        yield _rooted(pattern.replace("\0", " ")), tuple(owners)


def _rooted(pattern: str) -> str:
    """A slash before or inside a pattern binds it to the top; `*` alone is every file."""
    return "**" if pattern == "*" else pattern
