"""Where types get lost: the calls whose arguments have types and whose result has none, by dialect and function.

`python -m benchmarks.type_gaps` looks at the fixtures of the tests, `… snowflake ~/warehouse` at the files of a folder.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from lineage_pipeline.engine.link import expression
from lineage_pipeline.engine.link.model import ExprResult
from lineage_pipeline.model.analysis import InputFile, LineageTables, Options, TableSchema
from lineage_pipeline.model.enums import EdgeType
from lineage_pipeline.pipeline import build_lineage

SUFFIXES = frozenset({".sql", ".ddl", ".pks", ".pkb", ".vw", ".tab"})


NO_VALUES = ("TUPLE(", "KWARG(", "PROPERTYEQ(")
"""Rows and named arguments: parts of others that have no type."""


class Gaps(msgspec.Struct):
    """The columns that a query makes, those of them that lost their type, and the functions that lost it."""

    columns: int = 0
    unknown: int = 0
    calls: int = 0
    lost: Counter[str] = msgspec.field(default_factory=Counter)


@contextmanager
def watching(gaps: Gaps) -> Iterator[None]:
    """Count the calls that give no type although their arguments have one."""
    before = {name: getattr(expression, name) for name in ("call_type", "case_type")}

    def watched(name: str, text: Callable[..., str], args: int) -> Callable[..., str | None]:
        def counted(*given: Any) -> str | None:
            found: str | None = before[name](*given)
            if all(_known(value) for value in given[args]):
                gaps.calls += 1
                if found is None and not text(*given).startswith(NO_VALUES):
                    gaps.lost[text(*given)] += 1
            return found

        return counted

    watches = {
        "call_type": watched("call_type", lambda call, op, args, typing: f"{op}({_types(args)})", 2),
        "case_type": watched("case_type", lambda args, default, typing: f"CASE({_types(args)})", 0),
    }
    try:
        _replace(watches)
        yield
    finally:
        _replace(before)


def _replace(functions: Mapping[str, Callable[..., str | None]]) -> None:
    for name, function in functions.items():
        setattr(expression, name, function)


def _known(value: ExprResult) -> bool:
    """Whether a value has a type, or is a word that needs none."""
    return value.type is not None or not (value.flows or "(" in value.text or value.text.startswith("@"))


def _types(args: Sequence[ExprResult]) -> str:
    return ", ".join(arg.type or arg.text[:20] for arg in args[:4])


def measure(files: Sequence[InputFile], given: Mapping[str, TableSchema], gaps: Gaps) -> None:
    """Add what files lose."""
    with watching(gaps):
        lineage = build_lineage(files, given)
    made = list(_made(lineage, given))
    gaps.columns += len(made)
    gaps.unknown += made.count(False)


def _made(lineage: LineageTables, given: Mapping[str, TableSchema]) -> Iterator[bool]:
    """For each column that is made of columns whose types are known, whether its own is."""
    types = {(row.object, row.name): row.type for row in lineage.columns}
    types |= {(name, column.name): column.type for name, table in given.items() for column in table.columns}
    inputs = defaultdict(list)
    for edge in lineage.column_edges:
        if edge.type is EdgeType.DIRECT and not edge.from_path:
            inputs[edge.to_object, edge.to_column].append((edge.from_object, edge.from_column))
    for target, sources in inputs.items():
        if target in types and all(types.get(source) for source in sources):
            yield types[target] is not None


def fixtures() -> Iterator[tuple[str, list[InputFile], Mapping[str, TableSchema]]]:
    """The cases of the tests by dialect."""
    from lineage_pipeline_tests.support.cases import case_inputs, load_cases

    for case in load_cases("link"):
        yield (case.setting("dialect") or "generic", *case_inputs(case))


def folder(dialect: str, path: Path) -> list[InputFile]:
    """The SQL files of a folder."""
    files = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
    return [
        InputFile(str(file.relative_to(path)), file.read_text(errors="replace"), Options(dialect)) for file in files
    ]


def main(arguments: Sequence[str]) -> None:
    """Print what is lost."""
    found: dict[str, Gaps] = defaultdict(Gaps)
    if not arguments:
        for dialect, files, given in fixtures():
            measure(files, given, found[dialect])
    for dialect, path in zip(arguments[::2], arguments[1::2], strict=True):
        measure(folder(dialect, Path(path).expanduser()), {}, found[dialect])
    for dialect, gaps in sorted(found.items()):
        lost = gaps.lost.total()
        print(f"{dialect}: {gaps.unknown} of {gaps.columns} columns, {lost} of {gaps.calls} calls have no type")
        for text, count in gaps.lost.most_common(40):
            print(f"  {count:5} {text}")


if __name__ == "__main__":
    main(sys.argv[1:])
