"""The CPU time that work took, wherever it was done."""

import resource
import time


def cpu_seconds() -> float:
    """Give the seconds of this process and of the children that have ended: a large file is compiled in one."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
