"""Dagster: the stages as assets, their checks, the marts and the jobs; thin, and nothing is computed at import.

`stages`, `comparison`, `checks` and `marts` hold the assets, `resources` what they are given, `run` starts them all.
"""
