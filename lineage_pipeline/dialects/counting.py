"""Numbers that are written out in SQL, which may have more digits than Python turns into a number."""

LONGEST = 100
"""Digits that are looked at: more than any position, size or integer of an engine has."""


def whole_number(digits: str) -> int:
    """The number that digits stand for; of one that is longer than any other, one that is still too long for all."""
    return int(digits[:LONGEST])
