"""`lineage rules`: every kind of change that is told, and how loud it is here."""

import os
from pathlib import Path
from typing import Annotated

import typer

from lineage_pipeline.cli.words import Format, FormatOption, Output, put


def rules(
    path: Annotated[Path, typer.Argument(help="Whose settings give the levels.", metavar="[PATH]")] = Path(),
    format: FormatOption = Format.TEXT,
    output: Output = None,
) -> None:
    """List the rules of change, with their levels here.

    Example: lineage rules --format json
    """
    from lineage_pipeline.engine.diff import RULES
    from lineage_pipeline.export.rules import rules_document, rules_text
    from lineage_pipeline.settings import load_settings
    from lineage_pipeline.settings.judging import policy_of

    policy = policy_of(load_settings(path, {}, os.environ))
    put((rules_document if format is Format.JSON else rules_text)(RULES, policy), output)
