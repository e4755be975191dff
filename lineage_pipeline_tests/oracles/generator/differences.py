"""Where we differ from an engine on generated queries: by aspect and text, and why."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lineage_pipeline_tests.oracles.answers import Answer
from lineage_pipeline_tests.oracles.generator.judgement import Asked, Compared, judge
from lineage_pipeline_tests.oracles.generator.writer import Generated

NAMES, TYPES, NULLS = "names", "types", "nulls"


@dataclass(frozen=True)
class Difference:
    """One kind of difference: its reason, what it is about, what columns look like that show it, and one of them."""

    reason: str
    aspect: str
    text: str
    example: str

    def explains(self, column: Compared, aspect: str) -> bool:
        """Whether it is the reason for what differs in a column."""
        return aspect == self.aspect and re.search(self.text, column.text) is not None


def aspects(column: Compared) -> list[str]:
    """What differs in a column."""
    agreed = {NAMES: column.named, TYPES: column.typed, NULLS: column.nulled}
    return [aspect for aspect, same in agreed.items() if not same]


def unexplained(columns: Iterable[Compared], listed: Sequence[Difference]) -> list[str]:
    """What differs without a reason, as lines to read."""
    return [
        f"{aspect} of {column.text}: theirs {column.theirs}, ours {column.ours}"
        for column in columns
        for aspect in aspects(column)
        if not any(item.explains(column, aspect) for item in listed)
    ]


def no_more(listed: Iterable[Difference], theirs: Asked, ours: Callable[[str], Answer]) -> list[str]:
    """The reasons whose examples show no difference any more."""
    made = {item: Generated(f"select {item.example} from t1 as a", (item.example,), ()) for item in listed}
    return [
        item.reason
        for item, query in made.items()
        if not any(
            item.explains(column, aspect)
            for column in judge([query], theirs, ours).columns
            for aspect in aspects(column)
        )
    ]


_HELD = r"(forall|exists|array_contains|arrays_overlap|element_at|flatten)\(|^array\(.*\)\[\d+\]"

SPARK = (
    Difference("a name without a letter is no name", NAMES, r"^(\w+\()?''\)?$", "tinyint('')"),
    Difference(
        "what members are taken of is printed with numbers of the session",
        NAMES,
        r"is null.*\.\w+$",
        "array(struct(a.int_n is null as a)).a",
    ),
    Difference("whether an array holds nulls is not known", NULLS, _HELD, "array_contains(array(1, 2), 1)"),
)
