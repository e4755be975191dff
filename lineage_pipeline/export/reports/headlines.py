"""Headlines of changes: what happened, by the SQL that did it, such as `LEFT JOIN became INNER JOIN`."""

import re
from collections.abc import Callable, Mapping

from lineage_pipeline.engine.diff.equivalence import LOOSENED, TIGHTENED
from lineage_pipeline.engine.diff.rules.registry import RULES
from lineage_pipeline.model.tables import Change

TITLES: Mapping[str, str] = {rule.id: rule.title for rule in RULES}

_DIRECTION = re.compile(rf"^({TIGHTENED}|{LOOSENED}): ")

_WINDOW = re.compile(r"\bover \(")

_SET_OPERATION = re.compile(r"(.*) of (\d+)")

_EVERY_ROW = "every row"


def write_headline(change: Change) -> str:
    """What a change is in a few words; the title of its rule where its texts say no more."""
    describe = _DESCRIPTIONS.get(change.rule)
    return (describe(change.before or "", change.after or "") if describe else "") or TITLES.get(change.rule, "")


def _describe_presence(what: str, before: str, after: str) -> str:
    """Whether something was added, removed or changed."""
    return f"{what} {'added' if not before else 'removed' if not after else 'changed'}"


def _name_join(text: str) -> str:
    """The join of a canonical text, such as `LEFT JOIN`."""
    side = text.partition(" ")[0].upper()
    return f"{side} JOIN".strip()


def _describe_join_type(before: str, after: str) -> str:
    old, new = _name_join(before), _name_join(after)
    return f"{old} became {new}" if old != new else f"sides of the {old} swapped"


def _describe_join(before: str, after: str) -> str:
    return _describe_presence(_name_join(before or after), before, after)


def _describe_filter(before: str, after: str) -> str:
    found = _DIRECTION.match(after)
    condition = _DIRECTION.sub("", after)
    old, new = (set(text.splitlines()) for text in (before, "" if condition == _EVERY_ROW else condition))
    differing = old ^ new
    what = "QUALIFY filter" if differing and all(map(_WINDOW.search, differing)) else "filter"
    return f"{what} {found[1]}" if found and old and new else _describe_presence(what, "\n".join(old), "\n".join(new))


def _describe_grouping(before: str, after: str) -> str:
    if "distinct" in (before, after):
        return _describe_presence("DISTINCT", "x" * (before == "distinct"), "x" * (after == "distinct"))
    if before and after:
        came, went = (
            sorted(set(one.splitlines()) - set(two.splitlines())) for one, two in ((after, before), (before, after))
        )
        return "GROUP BY column " + ("changed" if came and went else "added" if came else "removed")
    return _describe_presence("GROUP BY", before, after)


def _describe_set_operation(before: str, after: str) -> str:
    old, new = (_SET_OPERATION.fullmatch(text) for text in (before, after))
    if old and new:
        names = [one[1].upper().removesuffix(" DISTINCT") for one in (old, new)]
        if names[0] != names[1]:
            return f"{names[0]} became {names[1]}"
        return f"{names[0].split()[0]} branch {'added' if int(new[2]) > int(old[2]) else 'removed'}"
    only = old or new
    return _describe_presence(only[1].upper().removesuffix(" DISTINCT"), before, after) if only else ""


_DESCRIPTIONS: Mapping[str, Callable[[str, str], str]] = {
    "ROW001": _describe_join_type,
    "ROW003": _describe_join,
    "ROW004": _describe_filter,
    "ROW005": _describe_grouping,
    "ROW006": _describe_set_operation,
    "ROW007": lambda before, after: _describe_presence("limit", before, after),
}
"""What says more than the title of a rule, by its id."""
