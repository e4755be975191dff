"""Which dialect was meant by a name that is none."""

import difflib

from lineage_pipeline.dialects.traits import ALIASES, TRAITS


def hint_for(dialect: str) -> str:
    """Which dialect was meant by a name that is none, or which there are."""
    names = sorted(name for name in {*TRAITS, *ALIASES} if name)
    close = difflib.get_close_matches(dialect.lower(), names, n=1)
    return f"did you mean {close[0]}?" if close else f"known are {', '.join(names)}"
