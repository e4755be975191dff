"""`lineage explain`: the meaning of a finding code or change rule, and its remedy."""

from typing import Annotated, NamedTuple

import typer

from lineage_pipeline.cli.output import write_output
from lineage_pipeline.model.errors import LineageError


class Explanation(NamedTuple):
    """Title, meaning and remedy of a code."""

    title: str
    meaning: str
    remedy: str


def explain(
    code: Annotated[str, typer.Argument(help="The code of a finding or the rule of a change.", metavar="CODE")],
) -> None:
    """Say what a code means and what to do about it.

    Example: lineage explain AMBIGUOUS_COLUMN
    """
    from lineage_pipeline.config.toml_files import suggest_word

    known = collect_explanations()
    found = known.get(code.upper())
    if found is None:
        raise LineageError(f"there is no code {code}; {suggest_word(code.upper(), known)}")
    write_output(f"{code.upper()}: {found.title}\n\n{found.meaning}\n\nWhat to do: {found.remedy}\n")


def collect_explanations() -> dict[str, Explanation]:
    """Return the explanations of all finding codes and change rules."""
    from lineage_pipeline.engine.diff.rules.registry import INTRINSIC_SEVERITIES, RULES
    from lineage_pipeline.model.findings import CODES

    findings = {
        code.name: Explanation(f"{code.message} ({code.severity})", code.meaning, code.remedy)
        for code in CODES.values()
    }
    changes = {
        rule.id: Explanation(
            f"{rule.title} ({rule.scope}; {' or '.join(INTRINSIC_SEVERITIES[rule.id])} in itself"
            f"{_default_level(rule.id)})",
            rule.meaning,
            rule.remedy,
        )
        for rule in RULES
    }
    return findings | changes


def _default_level(rule: str) -> str:
    from lineage_pipeline.engine.diff.policy import DEFAULT, rule_level

    return f"; {level} unless its level is set" if (level := rule_level(DEFAULT, rule)) else ""
