"""Dagster definitions: the stages as assets, their checks, marts, jobs and sensors; nothing is computed at import.

`assets`, `checks` and `sensors` hold the definitions, `resources` what they use; `runs` plans and starts runs and
imports Dagster only when one starts. `compose` puts all definitions together.
"""
