"""Partitions of about equal weight, so that one huge file does not hold a task that has others to do as well."""

from collections.abc import Sequence
from heapq import heapify, heapreplace

EACH = 400
"""What a file costs beside its bytes, in bytes: a thousand small ones are work, too."""


def balanced(weights: Sequence[int], parts: int) -> list[int]:
    """Give the part of each weight: the heaviest first, each into the lightest part so far.

    The heaviest of all is in part 0, and tasks start in the order of their parts.
    """
    given = [0] * len(weights)
    loads = [(0, part) for part in range(parts)]
    heapify(loads)
    for index in sorted(range(len(weights)), key=lambda index: (-weights[index], index)):
        load, part = loads[0]
        given[index] = part
        heapreplace(loads, (load + weights[index] + EACH, part))
    return given
