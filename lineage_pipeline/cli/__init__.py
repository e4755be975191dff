"""The command line: each verb parses its flags and calls one function; data go to stdout, messages to stderr."""

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `lineage` and return its exit code: 0 success, 1 findings, 2 wrong use or unusable input."""
    from lineage_pipeline.cli.app import run_command

    return run_command(arguments)
