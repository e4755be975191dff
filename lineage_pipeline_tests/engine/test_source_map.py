"""Source maps of rendered texts: copied text maps to where it was written, generated text to its origin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage_pipeline.model.analysis import InputFile, Options
from lineage_pipeline.model.source_map import NO_COPIES, SourceMap, SourceText, find_line_starts
from lineage_pipeline.pipeline import build_lineage

FILE = "x = f'select {a} from\\n\\\nt'"
RENDERED = "select HOLE from\nt"
COPIES = (0, 6, 7, 11, 16, 5, 17, 25, 1)
TEXT = SourceText("x.py", find_line_starts(FILE), RENDERED, COPIES)


@pytest.mark.parametrize(
    ("said", "stands"),
    [
        ("select", "select"),
        ("HOLE", "{a}"),
        ("select HOLE from", "select {a} from"),
        ("t", "t"),
        ("from\nt", "from\\n\\\nt"),
        ("OLE", None),
        ("select HO", None),
    ],
)
def test_a_span_of_rendered_text_maps_to_the_text_as_written(said: str, stands: str | None) -> None:
    start = RENDERED.rindex(said)
    span = TEXT.span(start, start + len(said))
    assert (FILE[span.start : span.end] if span else None) == stands


def test_positions_are_those_of_the_file() -> None:
    assert TEXT.position(RENDERED.index("from")) == (1, 18)
    assert TEXT.position(RENDERED.index("OLE")) == (1, 14)
    assert TEXT.position(len(RENDERED) - 1) == (2, 1)


def test_text_without_copied_parts_has_the_start_of_the_file_and_no_span() -> None:
    text = SourceText("x.py", (0,), "select 1", NO_COPIES)
    assert text.position(3) == (1, 1)
    assert text.span(0, 6) is None


@given(st.lists(st.tuples(st.booleans(), st.text("ab\n", min_size=1, max_size=4)), max_size=8))
def test_every_slice_between_exact_ends_is_its_own_origin(pieces: list[tuple[bool, str]]) -> None:
    """A file of copied pieces and holes; a rendered text in which a hole of any length is made of other letters."""
    file = rendered = ""
    copies: list[int] = []
    edges = {0: 0}
    for copied, piece in pieces:
        if copied:
            copies += [len(rendered), len(file), len(piece)]
            edges |= {len(rendered) + at: len(file) + at for at in range(len(piece) + 1)}
        file += piece if copied else f"<{piece}>"
        rendered += piece if copied else "X" * len(piece)
        edges[len(rendered)] = len(file)
    text = SourceText("f", find_line_starts(file), rendered, tuple(copies) or NO_COPIES)
    known = sorted(at for at in edges if any(at in (r, r + n) for r, n in zip(copies[::3], copies[2::3], strict=True)))
    for start in known:
        for end in (end for end in known if end > start):
            span = text.span(start, end)
            assert span is not None
            assert (span.start, span.end) == (edges[start], edges[end])


def test_rows_of_a_rendered_file_point_into_the_file() -> None:
    file = "-- {x}\nq('select nowhere.id, \\'a\\' as a from nowhere')"
    rendered = "select nowhere.id, 'a' as a from nowhere"
    at = file.index("select")
    written = SourceMap(find_line_starts(file), (0, at, 19, 20, at + 21, 1, 22, at + 24, 18))
    lineage = build_lineage([InputFile("q.py", rendered, Options(), written=written)])
    (finding,) = lineage.diagnostics
    assert (finding.code, finding.line, finding.column) == ("UNKNOWN_TABLE", 2, file.index("nowhere')") - 6)
    (edge,) = lineage.column_edges
    assert edge.span is not None
    assert file[edge.span.start : edge.span.end] == edge.expression == "nowhere.id"
    span = lineage.statements[0].span
    assert span is not None
    assert file[span.start : span.end] == file[at:-2]
