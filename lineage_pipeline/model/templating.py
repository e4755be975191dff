"""How a template is rendered: the templater, its variables and limits, and the options of dbt projects."""

from collections.abc import Mapping
from typing import Any

import msgspec

PLACEHOLDER_PREFIX = "undefined_"
"""Prefix of the identifiers that stand for names without a value: no real object should have one."""


class RenderLimits(msgspec.Struct, frozen=True):
    """What a template may cost: steps are loop iterations and calls, output is counted in characters."""

    steps: int = 1_000_000
    output: int = 10_000_000


class DbtOptions(msgspec.Struct, frozen=True):
    """Settings of dbt projects: the target, and whether dbt itself may run their code."""

    target: str = ""
    adapter: str = ""
    target_database: str = ""
    target_schema: str = ""
    manifest: str = ""
    trust: bool = False


class Templating(msgspec.Struct, frozen=True):
    """How a file is rendered: by which templater, with which variables, and within which limits."""

    templater: str = "auto"
    variables: Mapping[str, Any] = {}
    limits: RenderLimits = RenderLimits()
    dbt: DbtOptions = DbtOptions()
