"""`lineage dissect`: the parts of statements."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.options import DialectOption, OutputOption, TableFormat, TableFormatOption, VariablesOption
from lineage_pipeline.cli.output import write_output
from lineage_pipeline.model.errors import NotThere

if TYPE_CHECKING:
    from lineage_pipeline.model.components import Component, Dissection


MAX_NAMES_SHOWN = 40


class PartKind(StrEnum):
    """The kinds of parts."""

    CTE = "CTE"
    TARGET_TABLE = "TARGET_TABLE"
    SOURCE_QUERY = "SOURCE_QUERY"
    MAIN_QUERY = "MAIN_QUERY"
    UNION_BRANCH = "UNION_BRANCH"
    SUBQUERY = "SUBQUERY"
    SCALAR_SUBQUERY = "SCALAR_SUBQUERY"


PartKindOption = Annotated[
    PartKind | None,
    typer.Option(
        "--kind", case_sensitive=False, help=f"Only parts of this kind: {', '.join(PartKind).lower()}.", metavar="KIND"
    ),
]


def dissect(
    files: Annotated[
        list[str] | None,
        typer.Argument(help="SQL files or folders; - is standard input, as is none.", metavar="FILE..."),
    ] = None,
    dialect: DialectOption = None,
    var: VariablesOption = None,
    kind: PartKindOption = None,
    name: Annotated[str | None, typer.Option("--name", help="Only the parts of this name.")] = None,
    executable: Annotated[bool, typer.Option("--executable", help="Only parts that can be run.")] = False,
    format: TableFormatOption = TableFormat.TEXT,
    output: OutputOption = None,
) -> None:
    """Take statements apart: CTEs, targets, queries, branches and subqueries.

    Each part is a slice of the text with its place, the part it belongs to and the CTEs that it needs. `runnable` in
    JSON and CSV is SQL that runs on its own, with those CTEs in front.

    Example: lineage dissect orders.sql --dialect spark --format json

    Example: lineage dissect orders.sql --kind cte --name recent
    """
    from lineage_pipeline.cli.inputs import ReadingFlags, discover_inputs
    from lineage_pipeline.discover.discovery import build_input_files
    from lineage_pipeline.engine.compile.sections import dissect_source
    from lineage_pipeline.export.answers.answer import write_answer
    from lineage_pipeline.export.answers.list_answers import answer_dissections

    found = discover_inputs(files or ["-"], ReadingFlags(dialect, variables=var))
    cut = [one for file in build_input_files(found.discovery, found.rules) for one in dissect_source(file)]
    kept = [_filter_parts(one, kind, name, executable) for one in cut]
    shown = [one for one in kept if one.components]
    write_output(write_answer(answer_dissections(shown), format), output)
    if not shown and any(one.components for one in cut):
        raise NotThere(f"no part is {_describe_filter(kind, name, executable)}; {_list_names(cut)}")


def _describe_filter(kind: PartKind | None, name: str | None, executable: bool) -> str:
    asked = (f"a {kind.value}" if kind else "", f"called {name}" if name else "", "to be run" if executable else "")
    return " and ".join(word for word in asked if word)


def _list_names(cut: "list[Dissection]") -> str:
    """List the names that there are."""
    names = list(dict.fromkeys(part.name for one in cut for part in one.components if part.name))
    return f"there are {', '.join(names[:MAX_NAMES_SHOWN])}" if names else "none of the parts has a name"


def _filter_parts(one: "Dissection", kind: PartKind | None, name: str | None, executable: bool) -> "Dissection":
    import msgspec

    def fits(part: "Component") -> bool:
        named = name is None or (part.name or "").lower() == name.lower()
        return named and (kind is None or part.kind.value == kind.value) and (part.executable or not executable)

    return msgspec.structs.replace(one, components=tuple(part for part in one.components if fits(part)))
