"""The Python API: analyse a text, a folder, or the difference of two, or take statements apart; handed on lazily."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.discover.gather import input_files
from lineage_pipeline.discover.schemas.folding import fold_tables, schema_metadata
from lineage_pipeline.discover.schemas.found import with_found
from lineage_pipeline.discover.schemas.model import SchemaGiven, with_hints
from lineage_pipeline.engine.compile.dissect import dissect_source
from lineage_pipeline.engine.diff.compare import diff as compare
from lineage_pipeline.engine.diff.policy import Policy
from lineage_pipeline.export.json import lineage_document
from lineage_pipeline.graphs import Graphs
from lineage_pipeline.pipeline import Workings, settle, work_out
from lineage_pipeline.settings import Settings, load_settings
from lineage_pipeline.vocabulary.analysis import InputFile, Limits, Lineage, Options
from lineage_pipeline.vocabulary.components import Dissection
from lineage_pipeline.vocabulary.graph import Graph
from lineage_pipeline.vocabulary.tables import Change, Diagnostic


class Analysis(msgspec.Struct, frozen=True, dict=True, eq=False):
    """The lineage of some SQL, and what it was worked out from: graphs show more than its rows."""

    lineage: Lineage
    workings: Workings

    def __eq__(self, other: object) -> bool:
        """Compare the lineage: it says all that there is to say."""
        return isinstance(other, Analysis) and self.lineage == other.lineage

    def __repr__(self) -> str:
        """Say how much there is, and not all of it."""
        return f"Analysis({len(self.lineage.statements)} statements, {len(self.lineage.column_edges)} column edges)"

    def to_dict(self) -> dict[str, Any]:
        """The document that `lineage analyze --format json` prints."""
        return lineage_document(self.lineage)

    def statement_graph(self, number: int) -> Graph:
        """The graph of one of `lineage.statements`, with the relations inside it."""
        row = self.lineage.statements[number]
        return self._graphs.statement(row.path, row.ordinal)

    def global_graph(self) -> Graph:
        """The graph of all statements together."""
        return self._graphs.whole()

    @cached_property
    def _graphs(self) -> Graphs:
        return Graphs(self.workings)


def analyze(
    sql: str,
    *,
    dialect: str | None = None,
    schema: SchemaGiven | None = None,
    default_catalog: str | None = None,
    default_schema: str | None = None,
    search_path: Sequence[str] | None = None,
    case_sensitivity: str = "dialect",
    allow_implied: bool = True,
    limits: Limits | None = None,
) -> Analysis:
    """The lineage of one text; `schema` maps tables to their columns, or is a whole document with hints."""
    options = Options(
        dialect=dialect or "",
        default_catalog=default_catalog or "",
        default_schema=default_schema or "",
        search_path=tuple(search_path or ()),
        case_sensitivity=case_sensitivity,
        allow_implied=allow_implied,
        limits=limits or Limits(),
    )
    metadata = schema_metadata(schema or {})
    options = with_hints(options, metadata)
    imports = fold_tables(metadata.tables, options)
    return _analysis(work_out([InputFile("-", sql, options)], imports.schemas), imports.findings)


def dissect(sql: str, *, dialect: str | None = None) -> tuple[Dissection, ...]:
    """The parts of each statement of a text: CTEs, target, queries, branches and subqueries."""
    return tuple(dissect_source(InputFile("-", sql, Options(dialect=dialect or ""))))


def scan(path: str | Path, *, dialect: str | None = None, settings: Settings | None = None) -> Analysis:
    """The lineage of all SQL files below a folder, read as its settings say."""
    folder = Path(path)
    rules = settings or load_settings(folder, {"analysis": {"dialect": dialect}}, {})
    discovery = discover_folder(folder, rules)
    imports = with_found(rules.imports(), discovery.files, discovery.sources, rules)
    workings = work_out(input_files(discovery, rules), imports.schemas)
    return _analysis(workings, discovery.diagnostics + imports.findings)


def _analysis(workings: Workings, findings: tuple[Diagnostic, ...]) -> Analysis:
    """The analysis with what was found before it began."""
    lineage = workings.lineage
    return Analysis(msgspec.structs.replace(lineage, diagnostics=findings + lineage.diagnostics), workings)


def diff(base: Analysis, head: Analysis, *, policy: Mapping[str, Any] | None = None) -> tuple[Change, ...]:
    """What changed from one analysis to another, and whom it breaks."""
    sides = settle(base.workings, head.workings)
    before, after = (
        whole if mine is whole.workings else _analysis(mine, _before(whole))
        for mine, whole in zip(sides, (base, head), strict=True)
    )
    return compare(before.lineage, after.lineage, Policy(**(policy or {})))


def _before(analysis: Analysis) -> tuple[Diagnostic, ...]:
    """What was found before the analysis began."""
    own = len(analysis.workings.lineage.diagnostics)
    return analysis.lineage.diagnostics[: len(analysis.lineage.diagnostics) - own]
