"""Changes as GitLab's code quality report, which it shows in the merge request."""

from collections import Counter
from typing import Any

from lineage_pipeline.export.documents.lineage_json import dump_json
from lineage_pipeline.export.escaping import escape_one_line
from lineage_pipeline.export.reports.causes import RootCause, listed_causes
from lineage_pipeline.export.reports.singleline import describe_cause
from lineage_pipeline.export.subject import PLAIN_STYLE, Comparison, ReportStyle
from lineage_pipeline.model.enums import Severity

GITLAB_SEVERITIES = {
    Severity.BREAKING: "critical",
    Severity.POTENTIALLY_BREAKING: "major",
    Severity.NON_BREAKING: "minor",
    Severity.INFO: "info",
}


def write_gitlab_issues(comparison: Comparison, style: ReportStyle = PLAIN_STYLE) -> str:
    """Return the list of issues; a repeated fingerprint gets a number, since each must be unique."""
    seen: Counter[str] = Counter()
    issues = []
    for cause in listed_causes(comparison):
        print_ = cause.change.fingerprint
        seen[print_] += 1
        issues.append(_build_issue(cause, print_ if seen[print_] == 1 else f"{print_}-{seen[print_]}"))
    return dump_json(issues)


def _build_issue(cause: RootCause, fingerprint: str) -> dict[str, Any]:
    change = cause.change
    waived = "" if cause.waived is None else f"(waived: {escape_one_line(cause.waived, 400)}) "
    places = [(change.path, change.line), *((reader.path, reader.line) for reader in cause.readers)]
    path, line = next(((path, line) for path, line in places if path is not None), (".", None))
    return {
        "description": waived + describe_cause(cause),
        "check_name": change.rule,
        "fingerprint": fingerprint,
        "severity": "info" if cause.waived is not None else GITLAB_SEVERITIES[change.effective],
        "location": {"path": path, "lines": {"begin": line or 1}},
    }
