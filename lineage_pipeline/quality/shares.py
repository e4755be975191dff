"""Shares of a snapshot that were understood: parsed statements, columns with origins, approximate edges."""

from collections.abc import Mapping
from typing import Any

import msgspec

SHARES: dict[str, str] = {
    "parsed": """
        select coalesce(sum(bytes) filter (where status = 'analysed'), 0) as part, coalesce(sum(bytes), 0) as whole
        from statements
        """,
    "covered": """
        with fed as (select distinct to_object as object from column_edges),
        found as (select distinct to_object as object, to_column as name from column_edges where from_object <> '?')
        select count(found.name) as part, count(*) as whole
        from columns
        inner join fed on fed.object = columns.object
        left join found on found.object = columns.object and found.name = columns.name
        """,
    "approximate": "select count(*) filter (where approximate) as part, count(*) as whole from column_edges",
}
"""The query that counts each share.

Constants come from no column, so that `covered` need not reach 1 where everything was understood.
"""

SHARE_COLUMNS: dict[str, dict[str, tuple[str, ...]]] = {
    "parsed": {"statements": ("bytes", "status")},
    "covered": {
        "column_edges": ("from_object", "to_object", "to_column"),
        "columns": ("object", "name"),
    },
    "approximate": {"column_edges": ("approximate",)},
}
"""Which columns of which tables a share is counted from."""

LOWER_IS_BETTER = frozenset({"approximate"})


class Share(msgspec.Struct, frozen=True):
    """A share as a counted part of a whole."""

    name: str
    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """The share of 1; None if the whole is empty."""
        return self.part / self.whole if self.whole else None

    @property
    def display(self) -> str:
        """The share as people read it."""
        return "nothing to count" if self.value is None else f"{self.value:.2%} ({self.part} of {self.whole})"


class ShareVerdict(msgspec.Struct, frozen=True):
    """Whether a share passes, whether it is below its limit or only fell, and the message."""

    passed: bool
    below_limit: bool
    message: str


def count_share(name: str, tables: Mapping[str, Any]) -> Share:
    """Count a share from Arrow tables with the columns of `SHARE_COLUMNS`."""
    import duckdb

    with duckdb.connect() as connection:
        for table, content in tables.items():
            connection.register(table, content)
        row = connection.execute(SHARES[name]).fetchone()
    part, whole = row or (0, 0)
    return Share(name, int(part), int(whole))


def judge_share(share: Share, before: Share | None, limit: float, worse: float) -> ShareVerdict:
    """Judge a share against its limit, and against its former value, of which it may lose `worse`."""
    value, old = share.value, before.value if before else None
    if value is None:
        return ShareVerdict(True, False, share.display)
    sign = -1 if share.name in LOWER_IS_BETTER else 1
    if sign * value < sign * limit:
        bound = "at most" if sign < 0 else "at least"
        return ShareVerdict(False, True, f"{share.display}; {bound} {limit:.2%} is wanted")
    if before is None or old is None:
        return ShareVerdict(True, False, f"{share.display}; there is no earlier snapshot to compare with")
    if sign * (old - value) > worse:
        return ShareVerdict(False, False, f"{share.display}; it was {before.display}")
    return ShareVerdict(True, False, f"{share.display}; it was {before.display}")
