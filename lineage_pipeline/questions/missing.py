"""What to say when a question names something that is not there."""

import difflib

from lineage_pipeline.engine.trace.graph import ALL
from lineage_pipeline.engine.trace.names import Names
from lineage_pipeline.engine.trace.selectors import Selector
from lineage_pipeline.vocabulary.errors import LineageError, NotThere

MOST = 40


def no_object(names: Names, selector: Selector) -> NotThere:
    """Say that there is no such object, and which was meant."""
    close = names.close_objects(selector.written)
    if close:
        return NotThere(f"there is no object {selector.written}; did you mean {' or '.join(close)}?")
    known = sorted(names.columns)
    there = f"there are {_some(known)}" if known else "there is none at all"
    return NotThere(f"there is no object {selector.written}; {there}")


def no_column(names: Names, selector: Selector) -> NotThere:
    """Say that an object has no such column, and which it has."""
    owners = names.objects_like(selector.parts[:-1]) if len(selector.parts) > 1 else ()
    if not owners:
        missing = no_object(names, selector)
        if "did you mean" in str(missing) or len(selector.parts) < 2:
            return missing
        owner = selector.written.rpartition(".")[0]
        close = names.close_objects(owner)
        return NotThere(f"there is no object {owner}; did you mean {' or '.join(close)}?") if close else missing
    wanted = selector.parts[-1].text
    columns = [column for column in names.columns[owners[0]] if column != ALL]
    close = difflib.get_close_matches(wanted.lower(), [column.lower() for column in columns], n=1)
    meant = f"did you mean {next(one for one in columns if one.lower() == close[0])}? " if close else ""
    has = f"it has {_some(columns)}" if columns else "none of its columns is known"
    return NotThere(f"{owners[0]} has no column {wanted}; {meant}{has}")


def ambiguity(selector: Selector, objects: tuple[str, ...]) -> LineageError:
    """Say that a name could mean several objects."""
    several = f"{selector.written} could be in {_some(list(objects))}"
    return LineageError(f"{several}: write more of the name, or *.{selector.written} for all")


def _some(names: list[str]) -> str:
    rest = len(names) - MOST
    return ", ".join(names[:MOST]) + (f" and {rest} more" if rest > 0 else "")
