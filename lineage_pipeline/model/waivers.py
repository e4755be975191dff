"""A waiver: an accepted finding, with a reason, an owner and an expiry date."""

import msgspec


class Waiver(msgspec.Struct, frozen=True):
    """One waiver, by what it covers and for how long; `path` and `line` say where it is written.

    `rule`, `object` and `column` are patterns; an inline one covers what stands from `first_line` to `last_line` of its
    file, and what is about `object` as a whole.
    """

    id: str
    rule: str
    object: str
    reason: str
    owner: str
    expires: str
    path: str
    column: str | None = None
    fingerprint: str | None = None
    ticket: str | None = None
    line: int | None = None
    first_line: int | None = None
    last_line: int | None = None
    used: bool = False
    expired: bool = False
