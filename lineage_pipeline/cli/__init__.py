"""The command line: words and flags go in; one function is called; data goes to stdout, words for people to stderr."""

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `lineage` and give its exit code: 0 fine, 1 findings, 2 wrong use or unusable input."""
    from lineage_pipeline.cli.app import run

    return run(arguments)
