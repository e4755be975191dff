"""Equivalence of canonical texts: filters, joins and set operations that are written differently and mean the same."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from lineage_pipeline.engine.diff.index import PROJECTION_FACET, SOURCE_FACET

_SEMI_JOIN = re.compile(
    r"(?P<op>in|exists)\((?P<given>.*), source (?P<source>[^ ()]+)(?P<filters>(?: filter \(.*\))?)\)"
)
"""An IN or EXISTS over a single source with filters."""

_PLAIN_OUTPUTS = re.compile(r'[\w.", ]+')
"""Select lists of EXISTS that decide nothing: constants and columns, no aggregates."""

FILTER_CALL = "filter("

NULL_SKIPPING_AGGREGATES = frozenset("sum avg min max count".split())
"""Aggregates that skip NULL, so that FILTER equals a CASE without ELSE."""


def drop_national_prefixes(text: str) -> str:
    """T-SQL: the letters of ASCII are the same in `N'x'` and `'x'`."""
    return _NATIONAL_STRING.sub(r"\1", text) if "national(" in text else text


_NATIONAL_STRING = re.compile(r"\bnational\(('[\x00-&(-\x7f]*')\)")


def normalize_filter(text: str) -> str:
    """A filter, one condition a line, with every IN over a query written as EXISTS."""
    if "in(" not in text and "exists(" not in text:
        return text
    return "\n".join(sorted(map(_normalize_condition, text.splitlines())))


def _normalize_condition(line: str) -> str:
    if line.startswith("not(exists("):
        return f"not({_normalize_condition(line[4:-1])})"
    found = _SEMI_JOIN.fullmatch(line)
    if found is None:
        return line
    filters = [part for part in split_top_level(found["filters"].strip(), " filter ") if part]
    filters = [part.removeprefix("filter ") for part in filters]
    given = list(split_top_level(found["given"], ", "))
    if found["op"] == "in" and len(given) == 2:
        filters.append(f"({' = '.join(sorted(given))})")
    elif found["op"] == "in" or not _PLAIN_OUTPUTS.fullmatch(found["given"]):
        return line
    return f"exists(1, source {found['source']}{''.join(f' filter {one}' for one in sorted(filters))})"


def normalize_projection(text: str) -> str:
    """An expression with FILTER of an aggregate written as CASE."""
    if FILTER_CALL not in text:
        return text
    at = text.index(FILTER_CALL)
    begin = at + len(FILTER_CALL)
    end = _find_closing_bracket(text, begin)
    parts = list(split_top_level(text[begin:end], ", "))
    condition = parts[-1].removeprefix("where(").removesuffix(")")
    made = _filter_as_case(parts[0], condition) if len(parts) == 2 and parts[1].startswith("where(") else ""
    whole = (at == 0 or not (text[at - 1].isalnum() or text[at - 1] in "_.")) and made
    if not whole:
        return text[:begin] + normalize_projection(text[begin:])
    return text[:at] + made + normalize_projection(text[end + 1 :])


def _filter_as_case(aggregate: str, condition: str) -> str:
    """An aggregate over CASE WHEN, or an empty text where it takes more than one value."""
    name, _, rest = aggregate.partition("(")
    value = rest.removesuffix(")")
    if (
        name.partition(":")[0] not in NULL_SKIPPING_AGGREGATES
        or not rest.endswith(")")
        or len(list(split_top_level(value, ", "))) > 1
    ):
        return ""
    inner = value.removeprefix("distinct(").removesuffix(")") if value.startswith("distinct(") else value
    case = f"case when {condition} then {inner or 1} end"
    return f"{name}(distinct({case}))" if inner != value else f"{name}({case})"


def _find_closing_bracket(text: str, begin: int) -> int:
    """The position of the bracket that closes the one opened before `begin`."""
    depth = 1
    for at in range(begin, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at
    return len(text)


def split_top_level(text: str, mark: str) -> Iterator[str]:
    """The parts between separators, outside of brackets."""
    depth, start = 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and text.startswith(mark, at):
            yield text[start:at]
            start = at + len(mark)
    yield text[start:]


JOIN_FACET, FILTER_FACET = "join", "filter"

FUNCTION_SOURCE = "(function)"
"""The prefix of a table function among sources."""

JOIN_SIDES = frozenset({"inner", "left", "right", "full", "cross", "semi", "anti"})

EXISTENCE_JOINS = frozenset({"semi", "anti"})
"""Joins that add no columns and only test for a matching row."""

RESTORING_JOINS = frozenset({"right", "full"})
"""Joins that restore rows which an earlier condition dropped."""

FacetTexts = Mapping[tuple[str, str], str]


class JoinLine(msgspec.Struct, frozen=True, order=True):
    """One join: `side source ON condition`."""

    side: str
    source: str
    on: str = ""


def parse_joins(text: str) -> list[JoinLine]:
    """Parse the canonical text of a join facet, one join a line."""
    return [_parse_join(line.strip()) for line in text.splitlines() if line.strip()]


def _parse_join(line: str) -> JoinLine:
    start, _, on = line.partition(" ON ")
    side, _, source = start.partition(" ")
    return JoinLine(side.lower(), source, on) if side.lower() in JOIN_SIDES else JoinLine("inner", start, on)


def has_same_conditions(before: FacetTexts, after: FacetTexts) -> bool:
    """Say whether the same rows are joined and kept, whether inner joins or filters hold the conditions."""
    before, after = _existence_joins_as_filters(before), _existence_joins_as_filters(after)
    if sorted(before.get((SOURCE_FACET, "*"), "").splitlines()) != sorted(
        after.get((SOURCE_FACET, "*"), "").splitlines()
    ):
        return False
    old, new = _split_joins(before), _split_joins(after)
    return old is not None and old == new


def has_existence_join(texts: FacetTexts) -> bool:
    """Say whether a statement has a semi or anti join."""
    return any(one.side in EXISTENCE_JOINS for one in parse_joins(texts.get((JOIN_FACET, "*"), "")))


def _existence_joins_as_filters(texts: FacetTexts) -> FacetTexts:
    """The facet texts with semi and anti joins written as EXISTS filters."""
    joins = parse_joins(texts.get((JOIN_FACET, "*"), ""))
    asking = [one for one in joins if one.side in EXISTENCE_JOINS]
    if not asking:
        return texts
    found = [texts.get((FILTER_FACET, "*"), ""), *map(_join_as_exists, asking)]
    sources = texts.get((SOURCE_FACET, "*"), "").splitlines()
    for one in asking:
        sources = [name for name in sources if name != one.source] if one.source in sources else sources
    kept = [_render_join(one) for one in joins if one not in asking]
    parts = {FILTER_FACET: sorted("\n".join(found).split("\n")), JOIN_FACET: kept, SOURCE_FACET: sources}
    return {**texts, **{(name, "*"): "\n".join(filter(None, lines)) for name, lines in parts.items()}}


def _join_as_exists(join: JoinLine) -> str:
    filters = "".join(f" filter {part}" for part in sorted(_split_condition_text(join.on)))
    asked = f"exists(1, source {join.source}{filters})"
    return asked if join.side == "semi" else f"not({asked})"


def _render_join(join: JoinLine) -> str:
    return f"{join.side} {join.source}" + (f" ON {join.on}" if join.on else "")


def _split_joins(texts: FacetTexts) -> tuple[Counter[str], Counter[JoinLine]] | None:
    """The conditions that all rows have to meet, and the joins that are more than that; None with outer joins."""
    joins = parse_joins(texts.get((JOIN_FACET, "*"), ""))
    if any(one.side in RESTORING_JOINS for one in joins):
        return None
    plain = [one for one in joins if one.side == "inner" and not one.source.startswith(FUNCTION_SOURCE)]
    met = [part for one in plain for part in _split_condition_text(one.on)]
    return Counter([*texts.get((FILTER_FACET, "*"), "").splitlines(), *met]), Counter(
        one for one in joins if one not in plain
    )


def join_comma_sources(texts: dict[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    """The facet texts with comma-separated sources written as inner joins with their filter conditions."""
    sources, filters = (texts.get((name, "*"), "").splitlines() for name in (SOURCE_FACET, FILTER_FACET))
    joins = parse_joins(texts.get((JOIN_FACET, "*"), ""))
    bare = set(sources[1:]) - {one.source for one in joins if one.side != "cross"}
    if not filters or not bare or any(one.side in RESTORING_JOINS for one in joins):
        return texts
    tied: dict[str, list[str]] = {}
    for text in filters:
        named = (
            [source for source in sources if _mentions_source(text, source)]
            if _EQUALS in text and QUERY_SOURCE not in text and ALTERNATIVE not in text
            else []
        )
        if len(set(named)) > 1 and named[-1] in bare:
            tied.setdefault(named[-1], []).append(text)
    if not tied:
        return texts
    placed = {text for found in tied.values() for text in found}
    lines = [f"inner {source} ON {' and '.join(sorted(found))}" for source, found in tied.items()]
    kept = [
        line for line in texts.get((JOIN_FACET, "*"), "").splitlines() if _parse_join(line.strip()).source not in tied
    ]
    parts = {JOIN_FACET: sorted([*kept, *lines]), FILTER_FACET: [text for text in filters if text not in placed]}
    rest = {key: text for key, text in texts.items() if key not in ((JOIN_FACET, "*"), (FILTER_FACET, "*"))}
    return rest | {(name, "*"): "\n".join(found) for name, found in parts.items() if found}


def _mentions_source(text: str, source: str) -> bool:
    return re.search(rf'(?<![\w."]){re.escape(source)}\.', text) is not None


_EQUALS, QUERY_SOURCE, ALTERNATIVE = " = ", "source ", " | "
"""The sign of a condition that relates two sources, the word of one that contains a query, and what stands between the
columns of branches of a set operation: they are one value."""


def find_equated_columns(join: JoinLine) -> frozenset[str]:
    """The columns of a joined source that must equal a column of another source."""
    pairs = [
        tuple(split_top_level(part[1:-1], _EQUALS)) for part in _split_condition_text(join.on) if part.startswith("(")
    ]
    sides = [(one, other) for pair in pairs if len(pair) == 2 for one, other in (pair, pair[::-1])]
    return frozenset(
        one for one, other in sides if _mentions_source(one, join.source) and not _mentions_source(other, join.source)
    )


def _split_condition_text(text: str) -> Iterator[str]:
    """The conditions that ` and ` joins outside of brackets."""
    return (part for part in split_top_level(text, " and ") if part)


SET_OPERATION_FACET = "set operation"

BRANCH_SEPARATOR = " | "
"""Separator between the branches of a set operation in the canonical text of a column."""

BY_NAME = " by name"

ORDERED_OPERATIONS = ("except", "recursion", "values")
"""Prefixes of set operations whose branches cannot be reordered."""

BranchTexts = Mapping[tuple[str, str], str]


def is_positional(facets: Mapping[str, str]) -> bool:
    """Say whether a set operation matches the columns of its branches by position, not by name."""
    return any(BY_NAME not in line for line in facets.get(SET_OPERATION_FACET, "").splitlines())


def has_same_branches(before: BranchTexts, after: BranchTexts) -> bool:
    """Say whether a set operation has the same branches in another order, with each column's values moved along."""
    said = before.get((SET_OPERATION_FACET, "*"), "")
    if (
        not said
        or "\n" in said
        or said.startswith(ORDERED_OPERATIONS)
        or said != after.get((SET_OPERATION_FACET, "*"), "")
    ):
        return False
    old, new = _split_branches(before), _split_branches(after)
    if old.keys() != new.keys() or old == new:
        return False
    # A text that branches share stands there once: it says nothing about their order.
    told = [name for name in old if len(old[name]) > 1 or len(new[name]) > 1]
    rows = _branch_rows([old[name] for name in told]), _branch_rows([new[name] for name in told])
    return all(old[name] == new[name] for name in old if name not in told) and rows[0] == rows[1] != []


def _branch_rows(columns: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The values of each branch, sorted; empty where branches cannot be distinguished."""
    if len({len(parts) for parts in columns}) != 1:
        return []
    return sorted(zip(*columns, strict=True))


def _split_branches(texts: BranchTexts) -> dict[str, list[str]]:
    return {column: text.split(BRANCH_SEPARATOR) for (name, column), text in texts.items() if name == PROJECTION_FACET}


_BOUND = re.compile(r"\((?:(?P<low>-?[\d.]+) <=? (?P<above>[^<]+)|(?P<below>[^<]+) <=? (?P<high>-?[\d.]+))\)")

TIGHTENED, LOOSENED = "tightened", "loosened"


def compare_filters(before: str, after: str) -> str:
    """Say whether a filter was tightened or loosened; empty where neither implies the other."""
    old, new = _filter_lines(before), _filter_lines(after)
    gone, came = old - new, new - old
    if not gone or not came:
        return TIGHTENED if came else LOOSENED
    if len(gone) == len(came) == 1:
        return _compare_bounds(gone.pop(), came.pop())
    return ""


def excludes_null(filters: str, name: str) -> bool:
    """Say whether a filter passes only rows where a value is not NULL: by IS NOT NULL or a comparison."""
    said = re.escape(name)
    compared = rf"not\(\({said} is null\)\)|\([^()]* (?:=|<>|<=?) {said}\)|\({said} (?:=|<>|<=?) [^()]*\)"
    return any(re.fullmatch(compared, line) for line in filters.splitlines())


def _filter_lines(text: str) -> set[str]:
    return {line for line in text.splitlines() if line.strip()}


def _compare_bounds(old: str, new: str) -> str:
    """Compare two bounds of one value."""
    one, two = _BOUND.fullmatch(old), _BOUND.fullmatch(new)
    if not one or not two or (one["above"], one["below"]) != (two["above"], two["below"]):
        return ""
    old_bound, new_bound = (float(bound["low"] or bound["high"]) for bound in (one, two))
    rises = new_bound - old_bound if one["above"] else old_bound - new_bound
    return "" if rises == 0 else TIGHTENED if rises > 0 else LOOSENED
