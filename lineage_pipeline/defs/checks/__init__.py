"""Dagster asset checks: the suites of every table, breaking changes, and how much was understood."""
