"""`lineage-waivers.toml`: which finding is waived, by whom, why and until when."""

import re
import tomllib
from collections.abc import Iterable
from datetime import date
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from lineage_pipeline.engine.diff.waivers import assign_waiver_ids, matches_any_rule, read_inline_waivers
from lineage_pipeline.files.bounded_files import TOO_DEEP, parse_bounded_toml
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.tables import Diagnostic, Source, SqlFile, StatementRow, Waiver

WAIVER_FILE_NAME = "lineage-waivers.toml"

_WAIVER_HEADER = re.compile(r"^\s*\[\[\s*waiver\s*\]\]")


class WaiverEntry(BaseModel):
    """One `[[waiver]]` table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: str
    object: str = Field(min_length=1)
    column: str | None = None
    fingerprint: str | None = None
    reason: str = Field(min_length=1)
    owner: str = Field(min_length=1)
    expires: date
    ticket: str | None = None

    @field_validator("rule")
    @classmethod
    def _is_known(cls, value: str) -> str:
        if not matches_any_rule(value):
            raise ValueError(f"there is no rule {value}; `lineage rules` lists them")
        return value


class WaiverDocument(BaseModel):
    """The whole waiver file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    waiver: tuple[WaiverEntry, ...] = ()


def parse_waivers(text: str, path: str = WAIVER_FILE_NAME) -> tuple[Waiver, ...]:
    """Parse the waivers of a file; an entry that cannot be read is an error, not a missing waiver."""
    try:
        entries = WaiverDocument.model_validate(parse_bounded_toml(text)).waiver
    except RecursionError:
        raise LineageError(f"{path}: {TOO_DEEP}") from None
    except tomllib.TOMLDecodeError as error:
        raise LineageError(f"{path}: {error}") from None
    except ValidationError as error:
        raise LineageError(
            f"{path}: {_describe_validation_error(error.errors()[0], find_waiver_lines(text))}"
        ) from None
    starts: list[int] | list[None] = find_waiver_lines(text)
    if len(starts) != len(entries):  # written as an array of inline tables
        starts = [None] * len(entries)
    return assign_waiver_ids(
        Waiver(id="", path=path, line=line, **{**entry.model_dump(), "expires": entry.expires.isoformat()})
        for entry, line in zip(entries, starts, strict=True)
    )


def collect_waivers(
    text: str, files: Iterable[SqlFile], sources: Iterable[Source], statements: Iterable[StatementRow]
) -> tuple[tuple[Waiver, ...], tuple[Diagnostic, ...]]:
    """Return the waivers of a snapshot, from its file and from SQL comments, and the findings about them."""
    listed = list(files)
    written = {source.source_hash: source.text for source in sources}
    texts = {file.path: written[file.source_hash] for file in listed if file.source_hash in written}
    inline, problems = read_inline_waivers(texts, statements, {file.path: file.owners for file in listed})
    return assign_waiver_ids((*parse_waivers(text), *inline)), tuple(problems)


def find_waiver_lines(text: str) -> list[int]:
    """Return the line numbers on which waivers start."""
    return [number for number, line in enumerate(text.splitlines(), 1) if _WAIVER_HEADER.match(line)]


def remove_waivers(text: str, lines: Iterable[int]) -> str:
    """Return the file without the waivers that start on some lines, and the comments right above them."""
    gone, starts, kept = set(lines), find_waiver_lines(text), text.splitlines(keepends=True)
    bounds = [_find_comment_start(kept, start) for start in starts] + [len(kept)]
    for start, first, end in reversed(list(zip(starts, bounds, bounds[1:], strict=False))):
        if start in gone:
            del kept[first:end]
    return "".join(kept).rstrip() + "\n" if kept else ""


def _find_comment_start(lines: list[str], start: int) -> int:
    """Return the line on which a waiver begins, including the comments right above it."""
    first = start - 1
    while first > 0 and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return first


def _describe_validation_error(problem: Any, starts: list[int]) -> str:
    location = problem["loc"]
    numbers = [part for part in location if isinstance(part, int)]
    where = f"line {starts[numbers[0]]}: " if numbers and numbers[0] < len(starts) else ""
    key = str(location[-1])
    said = str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        said = f"unknown key; known are {', '.join(WaiverEntry.model_fields)}"
    return f"{where}{key}: {said[0].lower()}{said[1:]}"
