"""Answers of `rebuild`, `rules` and `waivers` as text and JSON."""

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from lineage_pipeline.engine.diff.finding import Rule
from lineage_pipeline.engine.diff.policy import Policy, rule_level
from lineage_pipeline.engine.diff.rebuild import RebuildPlan, StaleObject
from lineage_pipeline.engine.diff.rules.registry import INTRINSIC_SEVERITIES
from lineage_pipeline.export.documents.changes_json import WAIVER_KEYS
from lineage_pipeline.export.documents.lineage_json import DIAGNOSTIC_KEYS, SCHEMA_VERSION, dump_json, pick_fields
from lineage_pipeline.export.escaping import format_location
from lineage_pipeline.export.formats.lineage_text import format_diagnostic
from lineage_pipeline.model.tables import Diagnostic, Waiver

MODEL_SUFFIXES, SEED_SUFFIX, SNAPSHOTS_FOLDER = (".sql", ".py"), ".csv", "snapshots"

REBUILD_KEYS = ("object", "kind", "level", "reason", "because", "path", "line", "makers")


def write_rebuild_json(rebuild: RebuildPlan, base: str, head: str, models: Collection[str] = ()) -> str:
    """Return the objects to rebuild as JSON, in order."""
    document: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "base": base, "head": head}
    return dump_json(document | {"rebuild": pick_fields(rebuild.stale, REBUILD_KEYS), "gone": list(rebuild.gone)})


def write_rebuild_text(rebuild: RebuildPlan, base: str, head: str, models: Collection[str] = ()) -> str:
    """Return a line for each object, in order, with the reason."""
    lines = [_rebuild_line(stale) for stale in rebuild.stale] + [f"{name}  gone" for name in rebuild.gone]
    return "".join(f"{line}\n" for line in lines)


def write_dbt_selection(rebuild: RebuildPlan, base: str, head: str, models: Collection[str] = ()) -> str:
    """Return the models for `dbt build --select`; `models` are the files that dbt reads."""
    names = dict.fromkeys(name for stale in rebuild.stale if (name := find_model_name(stale, models)))
    return " ".join(names) + "\n"


REBUILD_WRITERS: Mapping[str, Callable[[RebuildPlan, str, str, Collection[str]], str]] = {
    "text": write_rebuild_text,
    "json": write_rebuild_json,
    "dbt": write_dbt_selection,
}


def find_model_name(stale: StaleObject, models: Collection[str]) -> str:
    """Return the model that makes an object, or an empty text; an alias is not a model name.

    Where dbt reads no file here, the files may be compiled ones, which have the names of their models.
    """
    path, name = PurePosixPath(stale.path or ""), stale.object.rpartition(".")[2].strip('"')
    own = stale.path in models or not models or path.suffix == SEED_SUFFIX
    if own and path.stem.casefold() == name.casefold():
        return path.stem
    if stale.path not in models:
        return ""
    # A file may hold several snapshots, each with a name of its own.
    return path.stem if path.suffix in MODEL_SUFFIXES and SNAPSHOTS_FOLDER not in path.parts else name


def _rebuild_line(stale: StaleObject) -> str:
    because = f" {', '.join(stale.because)}" if stale.reason == "reads" else ""
    where = "" if stale.path is None else f"  {format_location(stale.path, stale.line)}"
    return f"{stale.object}  {stale.kind}  {stale.reason}{because}{where}"


def write_rules_json(rules: Iterable[Rule], policy: Policy) -> str:
    """Return the rules as JSON; a null level keeps the severity of what the rule finds."""
    listed = [
        {
            "id": rule.id,
            "title": rule.title,
            "scope": rule.scope.value,
            "severities": [severity.value for severity in INTRINSIC_SEVERITIES[rule.id]],
            "level": rule_level(policy, rule.id) or None,
            "meaning": rule.meaning,
            "remedy": rule.remedy,
        }
        for rule in rules
    ]
    return dump_json({"schema_version": SCHEMA_VERSION, "rules": listed})


def write_rules_text(rules: Iterable[Rule], policy: Policy) -> str:
    """Return a line for each rule."""
    return "".join(
        f"{rule.id}  {rule.title}" + (f"  (level: {level})" if (level := rule_level(policy, rule.id)) else "") + "\n"
        for rule in rules
    )


def write_waivers_json(waivers: Iterable[Waiver], findings: Iterable[Diagnostic]) -> str:
    """Return waivers and findings about them as JSON."""
    listed = {"waivers": pick_fields(waivers, WAIVER_KEYS), "diagnostics": pick_fields(findings, DIAGNOSTIC_KEYS)}
    return dump_json({"schema_version": SCHEMA_VERSION, **listed})


def write_waivers_text(waivers: Iterable[Waiver], findings: Iterable[Diagnostic]) -> str:
    """Return a line for each waiver, then the findings about them."""
    lines = [_waiver_line(waiver) for waiver in waivers] + [format_diagnostic(finding) for finding in findings]
    return "".join(f"{line}\n" for line in lines)


def _waiver_line(waiver: Waiver) -> str:
    name = waiver.object or "this line"
    covered = f"{name}.{waiver.column}" if waiver.column else name
    state = "expired" if waiver.expired else "until"
    signed = f" ({waiver.owner})" if waiver.owner else ""
    where = format_location(waiver.path, waiver.line)
    return f"{where}: {waiver.rule} {covered} {state} {waiver.expires}: {waiver.reason}{signed} [{waiver.id}]"
