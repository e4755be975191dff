"""Changes as GitLab's code quality report, which it shows in the merge request."""

from collections import Counter
from typing import Any

from lineage_pipeline.export.json import dump
from lineage_pipeline.export.reports.escapes import plain
from lineage_pipeline.export.reports.reading import Cause, shown
from lineage_pipeline.export.reports.singleline import sentence
from lineage_pipeline.export.subject import PLAIN, Comparison, Style
from lineage_pipeline.vocabulary.sets import Severity

SEVERITIES = {
    Severity.BREAKING: "critical",
    Severity.POTENTIALLY_BREAKING: "major",
    Severity.NON_BREAKING: "minor",
    Severity.INFO: "info",
}


def write_issues(comparison: Comparison, style: Style = PLAIN) -> str:
    """Give the list of issues; each needs a fingerprint of its own, so a repeated one is numbered."""
    seen: Counter[str] = Counter()
    issues = []
    for cause in shown(comparison):
        print_ = cause.change.fingerprint
        seen[print_] += 1
        issues.append(_issue(cause, print_ if seen[print_] == 1 else f"{print_}-{seen[print_]}"))
    return dump(issues)


def _issue(cause: Cause, fingerprint: str) -> dict[str, Any]:
    change = cause.change
    waived = "" if cause.waived is None else f"(waived: {plain(cause.waived, 400)}) "
    places = [(change.path, change.line), *((reader.path, reader.line) for reader in cause.readers)]
    path, line = next(((path, line) for path, line in places if path is not None), (".", None))
    return {
        "description": waived + sentence(cause),
        "check_name": change.rule,
        "fingerprint": fingerprint,
        "severity": "info" if cause.waived is not None else SEVERITIES[change.effective],
        "location": {"path": path, "lines": {"begin": line or 1}},
    }
