"""`lineage explain`: what a code of a finding or a change means, and what to do about it."""

from typing import Annotated, NamedTuple

import typer

from lineage_pipeline.cli.words import put
from lineage_pipeline.vocabulary.errors import LineageError


class Explanation(NamedTuple):
    """A code in words."""

    title: str
    meaning: str
    remedy: str


def explain(
    code: Annotated[str, typer.Argument(help="The code of a finding or the rule of a change.", metavar="CODE")],
) -> None:
    """Say what a code means and what to do about it.

    Example: lineage explain AMBIGUOUS_COLUMN
    """
    from lineage_pipeline.settings import suggestion

    known = explanations()
    found = known.get(code.upper())
    if found is None:
        raise LineageError(f"there is no code {code}; {suggestion(code.upper(), known)}")
    put(f"{code.upper()}: {found.title}\n\n{found.meaning}\n\nWhat to do: {found.remedy}\n")


def explanations() -> dict[str, Explanation]:
    """Give every code that a result can hold."""
    from lineage_pipeline.engine.diff.table import INTRINSIC, RULES
    from lineage_pipeline.vocabulary.codes import CODES

    findings = {
        code.name: Explanation(f"{code.message} ({code.severity})", code.meaning, code.remedy)
        for code in CODES.values()
    }
    changes = {
        rule.id: Explanation(
            f"{rule.title} ({rule.scope}; {' or '.join(INTRINSIC[rule.id])} in itself{_level(rule.id)})",
            rule.meaning,
            rule.remedy,
        )
        for rule in RULES
    }
    return findings | changes


def _level(rule: str) -> str:
    from lineage_pipeline.engine.diff.policy import DEFAULT, level_of

    return f"; {level} unless its level is set" if (level := level_of(DEFAULT, rule)) else ""
