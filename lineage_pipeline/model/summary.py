"""The summary of a pipeline run."""

import msgspec

from lineage_pipeline.model.tables import Change


class TableCount(msgspec.Struct, frozen=True):
    """How many rows a table has in all snapshots of a run."""

    table: str
    rows: int


class RunSummary(msgspec.Struct, frozen=True):
    """What was materialized; `changes` counts root causes by severity, `derived` what follows from them."""

    snapshots: tuple[str, ...] = ()
    tables: tuple[TableCount, ...] = ()
    findings: dict[str, int] = {}
    changes: dict[str, int] = {}
    derived: int = 0
    breaking: tuple[Change, ...] = ()
    checks_passed: int = 0
    checks_failed: int = 0
    spark_jobs: int = 0
    skipped: bool = False
    warehouse: str = ""
    marts: str = ""
    events: str = ""
    report: str = ""
