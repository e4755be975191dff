"""Errors for names that do not exist or are ambiguous, with suggestions."""

import difflib

from lineage_pipeline.engine.trace.column_graph import ALL
from lineage_pipeline.engine.trace.name_lookup import NameLookup
from lineage_pipeline.engine.trace.selectors import Selector
from lineage_pipeline.model.errors import LineageError, NotThere

MAX_LISTED_NAMES = 40


def object_not_found(names: NameLookup, selector: Selector) -> NotThere:
    """The error for an unknown object, with similar ones."""
    close = names.suggest_objects(selector.written)
    if close:
        return NotThere(f"there is no object {selector.written}; did you mean {' or '.join(close)}?")
    known = sorted(names.columns)
    there = f"there are {_list_names(known)}" if known else "there is none at all"
    return NotThere(f"there is no object {selector.written}; {there}")


def column_not_found(names: NameLookup, selector: Selector) -> NotThere:
    """The error for an unknown column, with the existing ones."""
    owners = names.match_objects(selector.parts[:-1]) if len(selector.parts) > 1 else ()
    if not owners:
        missing = object_not_found(names, selector)
        if "did you mean" in str(missing) or len(selector.parts) < 2:
            return missing
        owner = selector.written.rpartition(".")[0]
        close = names.suggest_objects(owner)
        return NotThere(f"there is no object {owner}; did you mean {' or '.join(close)}?") if close else missing
    wanted = selector.parts[-1].text
    columns = [column for column in names.columns[owners[0]] if column != ALL]
    close = difflib.get_close_matches(wanted.lower(), [column.lower() for column in columns], n=1)
    meant = f"did you mean {next(one for one in columns if one.lower() == close[0])}? " if close else ""
    has = f"it has {_list_names(columns)}" if columns else "none of its columns is known"
    return NotThere(f"{owners[0]} has no column {wanted}; {meant}{has}")


def ambiguous_name(selector: Selector, objects: tuple[str, ...]) -> LineageError:
    """The error for a name that several objects match."""
    several = f"{selector.written} could be in {_list_names(list(objects))}"
    return LineageError(f"{several}: write more of the name, or *.{selector.written} for all")


def _list_names(names: list[str]) -> str:
    rest = len(names) - MAX_LISTED_NAMES
    return ", ".join(names[:MAX_LISTED_NAMES]) + (f" and {rest} more" if rest > 0 else "")
