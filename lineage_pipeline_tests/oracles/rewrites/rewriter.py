"""Rewriters, what comes of them, and the differences that have a reason."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from lineage_pipeline_tests.oracles.rewrites.portraits import Portrait, portray, portray_view, read_tables
from lineage_pipeline_tests.oracles.rewrites.queries import Corpus, Query

NAMES, TYPES, DIRECT, INDIRECT, FINDINGS = ASPECTS = ("names", "types", "direct", "indirect", "findings")


@dataclass(frozen=True)
class Rewritten:
    """A query, and the statement that another tool made of it: `text` makes the view `view`."""

    query: Query
    text: str
    view: str = "asked"


@dataclass(frozen=True)
class Dump:
    """Several views in one script, by their names, with the tables they read; names may omit `schema`."""

    text: str
    views: dict[str, Query]
    schema: str


@dataclass(frozen=True)
class Difference:
    """A difference that has a reason, where the query or what became of it match a pattern."""

    rewriter: str
    aspects: tuple[str, ...]
    reason: str
    query: str = ""
    text: str = ""

    def explains(self, rewriter: str, aspect: str, query: str, text: str) -> bool:
        """Say whether it is about an aspect of a rewritten query."""
        if rewriter != self.rewriter or aspect not in self.aspects:
            return False
        return _occurs(self.query, query) and _occurs(self.text, text)


def _occurs(pattern: str, text: str) -> bool:
    return not pattern or re.search(pattern, text, re.IGNORECASE | re.DOTALL) is not None


@dataclass
class Verdict:
    """What came of some queries: how many were taken, what differs without a reason, and which reasons were met."""

    rewriter: str
    taken: int = 0
    refused: int = 0
    unexplained: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    def figure(self) -> str:
        """What was found, in a line."""
        kept = f"{self.taken} of {self.taken + self.refused} queries taken"
        reasons = "".join(f"\n    {count} × {reason}" for reason, count in self.reasons.most_common())
        return f"{self.rewriter}: {kept}, {len(self.unexplained)} differences without a reason{reasons}"


Judged = Callable[[Query, Portrait, Portrait, str], None]


class Judge:
    """Compares queries with what a rewriter made of them."""

    def __init__(self, rewriter: str, listed: Sequence[Difference], aspects: Sequence[str] = ASPECTS) -> None:
        """Compare some aspects, and take the listed differences for what they are."""
        self.verdict = Verdict(rewriter)
        self.listed = listed
        self.aspects = aspects

    def judge_views(self, corpus: Corpus, made: Sequence[Rewritten]) -> None:
        """Compare single statements."""
        given = corpus.schemas()
        self.verdict.refused += len(corpus.queries) - len(made)
        for item in made:
            before = portray(f"create view asked as {item.query.sql}", corpus.dialect, given)
            after = portray(item.text, corpus.dialect, given, item.view)
            self.compare(item.query, before, after, item.text)

    def judge_dump(self, corpus: Corpus, dump: Dump) -> None:
        """Compare the views of a dump, which is analyzed as a whole and with nothing but itself."""
        from lineage_pipeline import analyze

        lineage = analyze(dump.text, dialect=corpus.dialect).lineage
        assert not [row for row in lineage.column_edges if row.from_object.startswith("?")]
        given = read_tables(lineage, tuple(corpus.tables), dump.schema)
        self.verdict.refused += len(corpus.queries) - len(dump.views)
        for view, query in dump.views.items():
            before = portray(f"create view asked as {query.sql}", corpus.dialect, given, schema=dump.schema)
            after = portray_view(lineage, view, dump.schema)
            self.compare(query, before, after, dict(_statements(dump.text)).get(view, ""), FINDINGS)

    def compare(self, query: Query, before: Portrait, after: Portrait, text: str, *without: str) -> None:
        """Compare two portraits of one query."""
        assert before.names, f"nothing is known of {query.title}"
        self.verdict.taken += 1
        for aspect in before.differences(after, [item for item in self.aspects if item not in without]):
            reason = next((item for item in self.listed if self._explains(item, aspect, query, text)), None)
            if reason is not None:
                self.verdict.reasons[reason.reason] += 1
                continue
            self.verdict.unexplained.append(_describe(aspect, query, text, before, after))

    def _explains(self, item: Difference, aspect: str, query: Query, text: str) -> bool:
        return item.explains(self.verdict.rewriter, aspect, f"{query.title}\n{query.sql}", text)


def _describe(aspect: str, query: Query, text: str, before: Portrait, after: Portrait) -> str:
    """A difference: the columns that show it, before the query and what became of it."""
    one, other = getattr(before, aspect), getattr(after, aspect)
    pairs = zip(before.names, one, other, strict=False) if aspect != FINDINGS else ()
    shown = [f"{name}: {left} became {right}" for name, left, right in pairs if left != right]
    return "\n".join((f"{aspect} of {query.title}", *(shown or [f"{one} became {other}"]), query.sql, text, ""))


def _statements(dump: str) -> Iterator[tuple[str, str]]:
    """The definitions of views in a dump, by the names of the views."""
    for match in re.finditer(r"VIEW (?:\w+\.)?[`\"]?(\w+)[`\"]? AS\b(.*?);\n", dump, re.DOTALL):
        yield match[1], match[0]
