"""The CPU time that work took, wherever it was done."""

import os


def cpu_seconds() -> float:
    """Give the seconds of this process and of the children that have ended: a large file is compiled in one."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
