"""What follows from a filter, where that can be told: which way it went, and that a value is not null."""

import re

_BOUND = re.compile(r"\((?:(?P<low>-?[\d.]+) <=? (?P<above>[^<]+)|(?P<below>[^<]+) <=? (?P<high>-?[\d.]+))\)")

TIGHTENED, LOOSENED = "tightened", "loosened"


def direction(before: str, after: str) -> str:
    """Compare two filters, a line for each condition; empty where neither implies the other."""
    old, new = _conditions(before), _conditions(after)
    gone, came = old - new, new - old
    if not gone or not came:
        return TIGHTENED if came else LOOSENED
    if len(gone) == len(came) == 1:
        return _bounds(gone.pop(), came.pop())
    return ""


def keeps_null_out(filters: str, name: str) -> bool:
    """Say whether a row passes only where a value is not null: it is asked for that, or compared with something."""
    said = re.escape(name)
    compared = rf"not\(\({said} is null\)\)|\([^()]* (?:=|<>|<=?) {said}\)|\({said} (?:=|<>|<=?) [^()]*\)"
    return any(re.fullmatch(compared, line) for line in filters.splitlines())


def _conditions(text: str) -> set[str]:
    return {line for line in text.splitlines() if line.strip()}


def _bounds(old: str, new: str) -> str:
    """Compare two bounds of one value."""
    one, two = _BOUND.fullmatch(old), _BOUND.fullmatch(new)
    if not one or not two or (one["above"], one["below"]) != (two["above"], two["below"]):
        return ""
    old_bound, new_bound = (float(bound["low"] or bound["high"]) for bound in (one, two))
    rises = new_bound - old_bound if one["above"] else old_bound - new_bound
    return "" if rises == 0 else TIGHTENED if rises > 0 else LOOSENED
