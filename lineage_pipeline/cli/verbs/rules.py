"""`lineage rules`: the rules of change, and their levels here."""

import os
from pathlib import Path
from typing import Annotated

import typer

from lineage_pipeline.cli.options import OutputOption, ResultFormat, ResultFormatOption
from lineage_pipeline.cli.output import write_output


def rules(
    path: Annotated[Path, typer.Argument(help="Whose settings give the levels.", metavar="[PATH]")] = Path(),
    format: ResultFormatOption = ResultFormat.TEXT,
    output: OutputOption = None,
) -> None:
    """List the rules of change, with their levels here.

    Example: lineage rules --format json
    """
    from lineage_pipeline.config.load import load_settings
    from lineage_pipeline.diff_settings import build_policy
    from lineage_pipeline.engine.diff.rules.registry import RULES
    from lineage_pipeline.export.answers.change_answers import write_rules_json, write_rules_text

    policy = build_policy(load_settings(path, {}, os.environ))
    write_output((write_rules_json if format is ResultFormat.JSON else write_rules_text)(RULES, policy), output)
