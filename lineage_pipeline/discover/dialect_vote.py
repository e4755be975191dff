"""The vote on the dialect of some files: the signs of all decide, and no single file."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from lineage_pipeline.discover.dialect_detection import (
    MIN_WEIGHT,
    PARENTS,
    SIGN_WEIGHTS,
    find_refinement,
    weigh_signs,
)

MAX_FILE_WEIGHT = 6
"""The most that one file weighs in the vote, so that one file full of signs does not decide."""

UNIT = 1000
"""Weights are scaled to whole numbers, so that their sum does not depend on the order of files."""

MIN_VOTERS, MIN_SHARE = 2, 20
"""How many files must speak for the dialect of a tree, and that it is one in so many; or half of all."""

DOUBT = 3
"""There is doubt if what speaks for another dialect is more than this part of what speaks for the chosen one."""

MAX_NAMED_SIGNS = 3
"""How many signs the evidence names."""


COMMON_DIALECTS = ("postgres", "snowflake", "bigquery", "tsql", "mysql", "spark", "oracle")
"""The dialects that are most likely where signs speak for several alike."""

AGREED_EVIDENCE = "as on the other side of the comparison"


class DialectVote(msgspec.Struct, frozen=True):
    """The dialect of a tree or folder by the signs of its files; empty where they do not tell.

    `other` is another dialect with so many signs that the choice is in doubt. `tree` tells the trees apart that have
    the same folder: dbt projects and systems.
    """

    folder: str
    dialect: str
    evidence: str
    files: int
    other: str = ""
    tree: str = ""

    @property
    def is_clear(self) -> bool:
        """Return whether there is a dialect and no doubt about it."""
        return bool(self.dialect) and not self.other


AgreedDialects = Mapping[tuple[str, str], str]
"""Dialects by tree and folder, as another side of a comparison has them."""


def agree_on_dialects(
    base: Iterable[DialectVote], head: Iterable[DialectVote]
) -> tuple[dict[tuple[str, str], str], dict[tuple[str, str], str]]:
    """Return what each side of a comparison takes from the other: who is in doubt follows, and the base first.

    Two clear votes that differ stay as they are: that is a migration.
    """
    before, after = ({(vote.tree, vote.folder): vote for vote in votes} for votes in (base, head))
    for_base: dict[tuple[str, str], str] = {}
    for_head: dict[tuple[str, str], str] = {}
    for place in sorted({*before, *after}):
        ours, theirs = before.get(place, NO_VOTE), after.get(place, NO_VOTE)
        if ours.dialect == theirs.dialect:
            continue
        if theirs.dialect and not ours.is_clear:
            for_base[place] = theirs.dialect
        elif ours.dialect and not theirs.is_clear:
            for_head[place] = ours.dialect
    return for_base, for_head


NO_VOTE = DialectVote("", "", "", 0)


def vote_on_dialect(folder: str, signs: Sequence[Collection[str]]) -> DialectVote:
    """Return the vote of the files of a tree, given the signs of each."""
    totals, voters = Counter[str](), Counter[str]()
    for found in signs:
        weights = _scale_weights(found)
        totals.update(weights)
        most = max(weights.values(), default=0)
        voters.update(dialect for dialect, weight in weights.items() if weight == most)
    ranked = sorted(totals, key=lambda dialect: (-totals[dialect], _rank_dialect(dialect)))
    if not ranked:
        return DialectVote(folder, "", "no signs of a dialect", len(signs))
    first = ranked[0]
    rivals = {other: compare_dialects(first, other, signs) for other in ranked[1:]}
    other = min(rivals, key=lambda name: (rivals[name][0] - rivals[name][1], _rank_dialect(name)), default="")
    more, less = rivals.get(other, (totals[first], 0))
    enough = voters[first] * 2 >= len(signs) or (
        voters[first] >= MIN_VOTERS and voters[first] * MIN_SHARE >= len(signs)
    )
    if totals[first] < MIN_WEIGHT * UNIT or not enough:
        reason = f"too few signs: {voters[first]} of {len(signs)} files look like {first}"
        return DialectVote(folder, "", reason, len(signs))
    if more <= less:
        return DialectVote(folder, "", f"as many signs of {first} as of {other}", len(signs), first)
    doubtful = max(rivals, key=lambda name: (rivals[name][1] * DOUBT - rivals[name][0], name), default="")
    doubt = doubtful if doubtful and rivals[doubtful][1] * DOUBT > rivals[doubtful][0] else ""
    chosen = find_refinement(first, signs)
    supporters = [found for found in signs if any(first in SIGN_WEIGHTS.get(sign, {}) for sign in found)]
    where = f" in {folder}" if folder else ""
    evidence = f"{len(supporters)} of {len(signs)} files{where}: {', '.join(_name_signs(chosen, supporters))}"
    return DialectVote(folder, chosen, evidence, len(signs), doubt)


def _rank_dialect(dialect: str) -> tuple[int, str]:
    """Return the order in which dialects with the same signs are named: common ones first."""
    return COMMON_DIALECTS.index(dialect) if dialect in COMMON_DIALECTS else len(COMMON_DIALECTS), dialect


def _scale_weights(signs: Iterable[str]) -> dict[str, int]:
    """Return what one file weighs for each dialect, at most MAX_FILE_WEIGHT; one that refines another is part of it."""
    weights = {dialect: weight for dialect, weight in weigh_signs(signs).items() if dialect not in PARENTS}
    most = max(max(weights.values(), default=0), MAX_FILE_WEIGHT)
    return {dialect: weight * MAX_FILE_WEIGHT * UNIT // most for dialect, weight in weights.items()}


def compare_dialects(one: str, other: str, signs: Iterable[Collection[str]]) -> tuple[int, int]:
    """Return what speaks for one dialect rather than the other, and the reverse; shared signs count for neither."""
    for_one = for_other = 0
    for found in signs:
        leads = [_find_lead(sign, one, other) for sign in found]
        ahead, behind = sum(lead for lead in leads if lead > 0), -sum(lead for lead in leads if lead < 0)
        most = max(ahead, behind, MAX_FILE_WEIGHT)
        for_one += ahead * MAX_FILE_WEIGHT * UNIT // most
        for_other += behind * MAX_FILE_WEIGHT * UNIT // most
    return for_one, for_other


def _find_lead(sign: str, one: str, other: str) -> int:
    weights = SIGN_WEIGHTS.get(sign, {})
    return weights.get(PARENTS.get(one, one), 0) - weights.get(PARENTS.get(other, other), 0)


def _name_signs(dialect: str, signs: Iterable[Collection[str]]) -> list[str]:
    """Return the signs that weigh most for a dialect in all files."""
    totals = Counter[str]()
    for found in signs:
        totals.update({sign: SIGN_WEIGHTS[sign][dialect] for sign in found if dialect in SIGN_WEIGHTS.get(sign, {})})
    return sorted(totals, key=lambda sign: (-totals[sign], sign))[:MAX_NAMED_SIGNS]


def parent_folders(path: str) -> list[str]:
    """Return the folders above a path, innermost first; the last is the top, of a full path as well."""
    parts = path.split("/")[:-1]
    return list(dict.fromkeys("/".join(parts[:end]) for end in range(len(parts), -1, -1)))
