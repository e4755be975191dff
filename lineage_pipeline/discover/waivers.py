"""`lineage-waivers.toml`: who takes the blame for which finding, why and until when."""

import re
import tomllib
from collections.abc import Iterable
from datetime import date
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from lineage_pipeline.discover.bounded import DEEP, toml_of
from lineage_pipeline.engine.diff.inline import inline_waivers
from lineage_pipeline.engine.diff.waivers import is_rule, numbered
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.tables import Diagnostic, Source, SqlFile, StatementRow
from lineage_pipeline.vocabulary.waivers import Waiver

FILE_NAME = "lineage-waivers.toml"

_HEADER = re.compile(r"^\s*\[\[\s*waiver\s*\]\]")


class Entry(BaseModel):
    """One `[[waiver]]` as it is written."""

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
        if not is_rule(value):
            raise ValueError(f"there is no rule {value}; `lineage rules` lists them")
        return value


class Document(BaseModel):
    """The whole file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    waiver: tuple[Entry, ...] = ()


def parse_waivers(text: str, path: str = FILE_NAME) -> tuple[Waiver, ...]:
    """Read the waivers of a file; one that cannot be read is an error, and never a waiver less."""
    try:
        entries = Document.model_validate(toml_of(text)).waiver
    except RecursionError:
        raise LineageError(f"{path}: {DEEP}") from None
    except tomllib.TOMLDecodeError as error:
        raise LineageError(f"{path}: {error}") from None
    except ValidationError as error:
        raise LineageError(f"{path}: {_problem(error.errors()[0], headers(text))}") from None
    starts: list[int] | list[None] = headers(text)
    if len(starts) != len(entries):  # written as an array of inline tables
        starts = [None] * len(entries)
    return numbered(
        Waiver(id="", path=path, line=line, **{**entry.model_dump(), "expires": entry.expires.isoformat()})
        for entry, line in zip(entries, starts, strict=True)
    )


def waivers_of(
    text: str, files: Iterable[SqlFile], sources: Iterable[Source], statements: Iterable[StatementRow]
) -> tuple[tuple[Waiver, ...], tuple[Diagnostic, ...]]:
    """Give the waivers of a snapshot, from its file and from the comments of sources, and what is wrong with those."""
    listed = list(files)
    written = {source.source_hash: source.text for source in sources}
    texts = {file.path: written[file.source_hash] for file in listed if file.source_hash in written}
    inline, problems = inline_waivers(texts, statements, {file.path: file.owners for file in listed})
    return numbered((*parse_waivers(text), *inline)), tuple(problems)


def headers(text: str) -> list[int]:
    """List the lines on which waivers start."""
    return [number for number, line in enumerate(text.splitlines(), 1) if _HEADER.match(line)]


def without(text: str, lines: Iterable[int]) -> str:
    """Give the file without the waivers that start on some lines, and the comments that lead to them."""
    gone, starts, kept = set(lines), headers(text), text.splitlines(keepends=True)
    bounds = [_lead(kept, start) for start in starts] + [len(kept)]
    for start, first, end in reversed(list(zip(starts, bounds, bounds[1:], strict=False))):
        if start in gone:
            del kept[first:end]
    return "".join(kept).rstrip() + "\n" if kept else ""


def _lead(lines: list[str], start: int) -> int:
    """Give where a waiver begins: with the comments right above it."""
    first = start - 1
    while first > 0 and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return first


def _problem(problem: Any, starts: list[int]) -> str:
    location = problem["loc"]
    numbers = [part for part in location if isinstance(part, int)]
    where = f"line {starts[numbers[0]]}: " if numbers and numbers[0] < len(starts) else ""
    key = str(location[-1])
    said = str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        said = f"unknown key; known are {', '.join(Entry.model_fields)}"
    return f"{where}{key}: {said[0].lower()}{said[1:]}"
