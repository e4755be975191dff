"""`lineage dissect`: statements taken apart."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.words import Dialect, Output, Table, TableOption, Variables, put
from lineage_pipeline.vocabulary.errors import NotThere

if TYPE_CHECKING:
    from lineage_pipeline.vocabulary.components import Component, Dissection


MOST_NAMES = 40


class Kind(StrEnum):
    """The kinds of parts."""

    CTE = "CTE"
    TARGET_TABLE = "TARGET_TABLE"
    SOURCE_QUERY = "SOURCE_QUERY"
    MAIN_QUERY = "MAIN_QUERY"
    UNION_BRANCH = "UNION_BRANCH"
    SUBQUERY = "SUBQUERY"
    SCALAR_SUBQUERY = "SCALAR_SUBQUERY"


KindOption = Annotated[
    Kind | None,
    typer.Option(
        "--kind", case_sensitive=False, help=f"Only parts of this kind: {', '.join(Kind).lower()}.", metavar="KIND"
    ),
]


def dissect(
    files: Annotated[
        list[str] | None,
        typer.Argument(help="SQL files or folders; - is standard input, as is none.", metavar="FILE..."),
    ] = None,
    dialect: Dialect = None,
    var: Variables = None,
    kind: KindOption = None,
    name: Annotated[str | None, typer.Option("--name", help="Only the parts of this name.")] = None,
    executable: Annotated[bool, typer.Option("--executable", help="Only parts that can be run.")] = False,
    format: TableOption = Table.TEXT,
    output: Output = None,
) -> None:
    """Take statements apart: CTEs, targets, queries, branches and subqueries.

    Each part is a slice of the text with its place, the part it belongs to and the CTEs that it needs. `runnable` in
    JSON and CSV is SQL that runs on its own, with those CTEs in front.

    Example: lineage dissect orders.sql --dialect spark --format json

    Example: lineage dissect orders.sql --kind cte --name recent
    """
    from lineage_pipeline.cli.places import Reading, find
    from lineage_pipeline.discover.gather import input_files
    from lineage_pipeline.engine.compile.dissect import dissect_source
    from lineage_pipeline.export.answers import write_answer
    from lineage_pipeline.export.lists import dissections_answer

    found = find(files or ["-"], Reading(dialect, variables=var))
    cut = [one for file in input_files(found.discovery, found.rules) for one in dissect_source(file)]
    kept = [_narrowed(one, kind, name, executable) for one in cut]
    shown = [one for one in kept if one.components]
    put(write_answer(dissections_answer(shown), format), output)
    if not shown and any(one.components for one in cut):
        raise NotThere(f"no part is {_described(kind, name, executable)}; {_names(cut)}")


def _described(kind: Kind | None, name: str | None, executable: bool) -> str:
    asked = (f"a {kind.value}" if kind else "", f"called {name}" if name else "", "to be run" if executable else "")
    return " and ".join(word for word in asked if word)


def _names(cut: "list[Dissection]") -> str:
    """Say which names there are."""
    names = list(dict.fromkeys(part.name for one in cut for part in one.components if part.name))
    return f"there are {', '.join(names[:MOST_NAMES])}" if names else "none of the parts has a name"


def _narrowed(one: "Dissection", kind: Kind | None, name: str | None, executable: bool) -> "Dissection":
    import msgspec

    def fits(part: "Component") -> bool:
        named = name is None or (part.name or "").lower() == name.lower()
        return named and (kind is None or part.kind.value == kind.value) and (part.executable or not executable)

    return msgspec.structs.replace(one, components=tuple(part for part in one.components if fits(part)))
