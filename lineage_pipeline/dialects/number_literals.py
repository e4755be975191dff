"""Number literals in SQL, which may have more digits than Python converts."""

MAX_DIGITS = 100
"""Digits that are read: more than any position, size or integer of an engine has."""


def parse_whole_number(digits: str) -> int:
    """Return the number that digits spell; one with too many digits is cut but stays too large for every use."""
    return int(digits[:MAX_DIGITS])
