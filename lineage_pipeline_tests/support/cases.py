"""Fixtures: SQL files that say what they expect.

A case begins with `-- title:`; further `-- key: value` lines are its settings (`dialect`, `schema`, `catalog`, `path`,
`given`: a table that is known from elsewhere, with `...` where it may have more columns; `implied`: `no` where
definitions say nothing of columns). Then the SQL, then what is expected of it:

    --> view.column type not null <- table.column, other.column:aggregation
    --> view.* <- table.status:filter
    --! CODE line:column message

A case of several files begins each of them with `-- file: path`, behind which it may say `key=value`: the dialect,
system, catalog, schema and search path (with commas) of the file, and how its names are compared (`case`).
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from lineage_pipeline.model.analysis import InputFile, LineageTables, Options, SchemaColumn, TableSchema
from lineage_pipeline.model.enums import EdgeType, ObjectKind, Origin, Subtype
from lineage_pipeline.model.tables import ColumnEdge
from lineage_pipeline.pipeline import build_lineage
from lineage_pipeline_tests.support.paths import FIXTURES

GIVEN_TABLE = re.compile(r"(\S+?)\((.*)\)\Z")


@dataclass(frozen=True)
class Case:
    """One case of a fixture file."""

    file: Path
    title: str
    settings: tuple[tuple[str, str], ...]
    sql: str
    expected: tuple[str, ...]

    def setting(self, name: str) -> str:
        return dict(self.settings).get(name, "")


def load_cases(folder: str) -> list[Case]:
    """All cases of the fixture files of a folder."""
    found = []
    for file in sorted((FIXTURES / folder).glob("*.sql")):
        found.extend(parse_cases(file, file.read_text()))
    return found


def parse_cases(file: Path, text: str) -> list[Case]:
    """The cases of one fixture file; settings before the first title hold for all of them."""
    head, *blocks = re.split(r"^-- title: ", text, flags=re.MULTILINE)
    common = tuple(_parse_setting(line) for line in head.splitlines() if line.startswith("-- "))
    return [_parse_case(file, block, common) for block in blocks]


def _parse_setting(line: str) -> tuple[str, str]:
    key, _, value = line[3:].partition(":")
    return key.strip(), value.strip()


def _parse_case(file: Path, block: str, common: tuple[tuple[str, str], ...]) -> Case:
    title, *rest = block.splitlines()
    own = []
    while rest and re.match(r"-- (dialect|schema|catalog|given|path|implied): ", rest[0]):
        own.append(_parse_setting(rest.pop(0)))
    sql = [line for line in rest if not line.startswith(("-->", "--!"))]
    expected = tuple(line for line in rest if line.startswith(("-->", "--!")))
    return Case(file, title, (*common, *own), "\n".join(sql).strip() + "\n", expected)


def analyze_case(case: Case) -> LineageTables:
    """The lineage of a case."""
    return build_lineage(*case_inputs(case))


def case_inputs(case: Case) -> tuple[list[InputFile], dict[str, TableSchema]]:
    """The input file of a case, and its given schemas."""
    options = Options(
        case.setting("dialect"),
        default_catalog=case.setting("catalog"),
        default_schema=case.setting("schema"),
        search_path=tuple(case.setting("path").split()),
        allow_implied=case.setting("implied") != "no",
    )
    given = dict(_parse_given_table(value) for key, value in case.settings if key == "given")
    return [InputFile("-", case.sql, options)], given


def case_repository(case: Case) -> tuple[list[InputFile], dict[str, TableSchema]]:
    """The input files of a case of several files, and its given schemas."""
    given = dict(_parse_given_table(value) for key, value in case.settings if key == "given")
    _, *parts = re.split(r"^-- file: (.*)\n", case.sql, flags=re.MULTILINE)
    return [_parse_input_file(head, text, case) for head, text in zip(parts[::2], parts[1::2], strict=True)], given


def _parse_input_file(head: str, text: str, case: Case) -> InputFile:
    path, *said = head.split()
    own = {"dialect": case.setting("dialect"), **dict(item.split("=", 1) for item in said)}
    options = Options(
        own["dialect"],
        own.get("system", ""),
        default_catalog=own.get("catalog", ""),
        default_schema=own.get("schema", ""),
        search_path=tuple(own["path"].split(",")) if "path" in own else (),
        case_sensitivity=own.get("case", "dialect"),
    )
    return InputFile(path, text, options)


def _parse_given_table(text: str) -> tuple[str, TableSchema]:
    match = GIVEN_TABLE.match(text)
    assert match is not None, text
    columns = []
    parts = [part.strip() for part in _split_items(match[2])]
    for part in parts:
        if part == "...":
            continue
        name, _, kind = part.strip().partition(" ")
        nullable = not kind.endswith("not null")
        kind = kind.removesuffix("not null").strip()
        columns.append(SchemaColumn(name, name, kind.upper() or None, nullable))
    return match[1], TableSchema(match[1], ObjectKind.TABLE, Origin.IMPORTED, tuple(columns), "..." in parts)


def _split_items(text: str) -> list[str]:
    """The parts between the commas outside of brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "(<[") - (character in ")>]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def render_lineage(lineage: LineageTables) -> tuple[str, ...]:
    """A lineage as the expected lines of a case."""
    inputs: dict[tuple[str, str], list[ColumnEdge]] = defaultdict(list)
    for edge in lineage.column_edges:
        inputs[edge.to_object, edge.to_column].append(edge)
    written = {target for row in lineage.statements for target in row.targets} | {target for target, _ in inputs}
    lines = []
    for column in lineage.columns:
        if column.object in written:
            kind = f" {column.type.lower()}" if column.type else ""
            null = "" if column.nullable else " not null"
            lines.append(
                _render_column(column.object, column.name, kind + null, inputs.pop((column.object, column.name), []))
            )
    for (target, name), edges in sorted(inputs.items()):
        lines.append(_render_column(target, name, "", edges))
    for row in lineage.diagnostics:
        file = "" if row.path == "-" else f"{row.path}:"
        lines.append(f"--! {row.code} {file}{row.line}:{row.column} {row.message}")
    return tuple(lines)


def _render_column(target: str, column: str, about: str, edges: list[ColumnEdge]) -> str:
    order = sorted(
        edges, key=lambda edge: (edge.type is EdgeType.INDIRECT, edge.from_object, edge.from_column, edge.subtype)
    )
    sources = ", ".join(_render_source(edge) for edge in order)
    return f"--> {target}.{column}{about}" + (f" <- {sources}" if sources else "")


def _render_source(edge: ColumnEdge) -> str:
    path = f"[{edge.from_path}]" if edge.from_path else ""
    words = [] if edge.subtype is Subtype.IDENTITY else [edge.subtype.value.lower()]
    words += [
        word
        for word, on in (
            ("masked", edge.masking),
            ("approximate", edge.approximate),
            ("conditional", edge.conditional and edge.subtype is not Subtype.CONDITIONAL),
        )
        if on
    ]
    return f"{edge.from_object}.{edge.from_column}{path}" + "".join(f":{word}" for word in words)


def accept_cases(
    file: Path, show: Callable[[Case], Iterable[str]] = lambda case: render_lineage(analyze_case(case))
) -> None:
    """Write what the engine gives into a fixture file."""
    text = file.read_text()
    head = re.split(r"^-- title: ", text, flags=re.MULTILINE)[0]
    parts = []
    for block, case in zip(
        re.split(r"^-- title: ", text, flags=re.MULTILINE)[1:], parse_cases(file, text), strict=True
    ):
        kept = [line for line in block.rstrip().splitlines() if not line.startswith(("-->", "--!"))]
        parts.append("-- title: " + "\n".join([*kept, *show(case)]) + "\n")
    file.write_text(head + "\n".join(parts))
