"""Paths of the repository, the tests and their fixtures."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
FIXTURES = TESTS / "fixtures"
ROOT = TESTS.parent
