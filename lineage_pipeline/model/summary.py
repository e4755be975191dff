"""The summary of a pipeline run."""

import msgspec

from lineage_pipeline.model.tables import Change


class TableCount(msgspec.Struct, frozen=True):
    """How many rows a table has in all snapshots of a run."""

    table: str
    rows: int


class FailedCheck(msgspec.Struct, frozen=True):
    """A check that failed: of which table, what it saw, and whether it judges changes in the place of rows."""

    snapshot: str
    table: str
    check: str
    observed: str
    about_changes: bool = False


class RunSummary(msgspec.Struct, frozen=True):
    """What was materialized; `changes` counts root causes by severity, `derived` what follows from them.

    `withheld` are snapshots that a failed check kept from being published.
    """

    snapshots: tuple[str, ...] = ()
    tables: tuple[TableCount, ...] = ()
    findings: dict[str, int] = {}
    changes: dict[str, int] = {}
    derived: int = 0
    breaking: tuple[Change, ...] = ()
    checks_passed: int = 0
    failed: tuple[FailedCheck, ...] = ()
    withheld: tuple[str, ...] = ()
    spark_jobs: int = 0
    skipped: bool = False
    warehouse: str = ""
    marts: str = ""
    events: str = ""
    report: str = ""
