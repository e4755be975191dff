"""What it may take to find that a name does not fit: a stranger's pattern can try for longer than anybody lives."""

from functools import lru_cache

LONGEST = 60
"""The exponent beyond which it makes no difference."""


def effort(pattern: str, length: int) -> int:
    """About how many steps a name of this length takes, if the worst comes to the worst."""
    repeats, nested = _repeats(pattern)
    return 1 << min(length, LONGEST) if nested else int(length ** min(repeats, LONGEST))


@lru_cache(maxsize=256)
def _repeats(pattern: str) -> tuple[int, bool]:
    """How many parts may be repeated at will, and whether one of them has parts that leave a choice."""
    found, nested, groups, skip = 0, False, [False], False
    for place, sign in enumerate(pattern):
        if skip or sign == "\\":
            skip = not skip
            continue
        behind = pattern[place + 1 : place + 2]
        match sign:
            case "(":
                groups.append(False)
            case ")" if len(groups) > 1:
                choice = groups.pop()
                nested |= choice and behind in ("*", "+", "{")
                groups[-1] |= choice
            case "*" | "+" | "{" | "|":
                found += sign != "|"
                groups[-1] = True
    return found, nested
