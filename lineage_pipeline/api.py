"""The Python API: analyze a text or a folder, compare two analyses, or split statements into their parts."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from lineage_pipeline.config.load import Settings, load_settings
from lineage_pipeline.configured_schemas import compute_analysis_key, import_configured_schemas
from lineage_pipeline.detail import AnalysisGraphs
from lineage_pipeline.discover.discovery import build_input_files
from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.discover.schemas.imported_tables import SchemaInput, apply_hints
from lineage_pipeline.discover.schemas.normalize import normalize_tables, parse_schema_input
from lineage_pipeline.discover.schemas.project_schemas import add_project_schemas
from lineage_pipeline.engine.compile.sections import dissect_source
from lineage_pipeline.engine.diff.compare import diff as compare
from lineage_pipeline.engine.diff.policy import Policy
from lineage_pipeline.export.documents.lineage_json import build_lineage_document
from lineage_pipeline.model.analysis import InputFile, Limits, LineageTables, Options
from lineage_pipeline.model.components import Dissection
from lineage_pipeline.model.graph import Graph
from lineage_pipeline.model.tables import Change, Diagnostic
from lineage_pipeline.pipeline import AnalysisResult, analyze_files, reconcile_imports


class Analysis(msgspec.Struct, frozen=True, dict=True, eq=False):
    """The lineage of some SQL, and what it was computed from: graphs show more than its rows."""

    lineage: LineageTables
    workings: AnalysisResult

    def __eq__(self, other: object) -> bool:
        """Compare the lineages."""
        return isinstance(other, Analysis) and self.lineage == other.lineage

    def __repr__(self) -> str:
        """Counts instead of all rows."""
        return f"Analysis({len(self.lineage.statements)} statements, {len(self.lineage.column_edges)} column edges)"

    def to_dict(self, *, expand: bool = False) -> dict[str, Any]:
        """The document that `lineage analyze --format json` prints, or with `expand` that of `--expand`."""
        return build_lineage_document(self.lineage, expand=expand)

    def statement_graph(self, number: int) -> Graph:
        """The graph of one of `lineage.statements`, with the relations inside it."""
        row = self.lineage.statements[number]
        return self._graphs.statement(row.path, row.ordinal)

    def global_graph(self) -> Graph:
        """The graph of all statements together."""
        return self._graphs.whole()

    @cached_property
    def _graphs(self) -> AnalysisGraphs:
        return AnalysisGraphs(self.workings)


def analyze(
    sql: str,
    *,
    dialect: str | None = None,
    schema: SchemaInput | None = None,
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
    text = _replace_surrogates(sql)
    if not schema:
        return _build_analysis(analyze_files([InputFile("-", text, options)]), ())
    metadata = parse_schema_input(schema)
    options = apply_hints(options, metadata)
    imports = normalize_tables(metadata.tables, options)
    return _build_analysis(analyze_files([InputFile("-", text, options)], imports.schemas), imports.findings)


def _replace_surrogates(text: str) -> str:
    """A text that can be written: half a character, which only a program can pass on, becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


def dissect(sql: str, *, dialect: str | None = None) -> tuple[Dissection, ...]:
    """The parts of each statement of a text: CTEs, target, queries, branches and subqueries."""
    return tuple(dissect_source(InputFile("-", _replace_surrogates(sql), Options(dialect=dialect or ""))))


def scan(path: str | Path, *, dialect: str | None = None, settings: Settings | None = None) -> Analysis:
    """The lineage of all SQL files in a folder, read with its settings."""
    folder = Path(path)
    rules = settings or load_settings(folder, {"analysis": {"dialect": dialect}}, {})
    discovery = discover_folder(folder, rules, analysis_key=compute_analysis_key(rules))
    imports = add_project_schemas(import_configured_schemas(rules), discovery.files, discovery.sources, rules)
    workings = analyze_files(build_input_files(discovery, rules), imports.schemas)
    return _build_analysis(workings, discovery.diagnostics + imports.findings)


def _build_analysis(workings: AnalysisResult, findings: tuple[Diagnostic, ...]) -> Analysis:
    """The analysis with the findings of discovery."""
    lineage = workings.lineage
    return Analysis(msgspec.structs.replace(lineage, diagnostics=findings + lineage.diagnostics), workings)


def diff(base: Analysis, head: Analysis, *, policy: Mapping[str, Any] | None = None) -> tuple[Change, ...]:
    """The changes from one analysis to another, and whom they break."""
    sides = reconcile_imports(base.workings, head.workings)
    before, after = (
        whole if mine is whole.workings else _build_analysis(mine, _discovery_findings(whole))
        for mine, whole in zip(sides, (base, head), strict=True)
    )
    return compare(before.lineage, after.lineage, Policy(**(policy or {})))


def _discovery_findings(analysis: Analysis) -> tuple[Diagnostic, ...]:
    """The findings of discovery."""
    own = len(analysis.workings.lineage.diagnostics)
    return analysis.lineage.diagnostics[: len(analysis.lineage.diagnostics) - own]
