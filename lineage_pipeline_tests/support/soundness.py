"""Soundness: invariants of the rows of every analysis, whatever was analyzed."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

from lineage_pipeline.export.documents.lineage_json import build_lineage_document, dump_json
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.tables import TABLES, ColumnEdge, Diagnostic, Span, Use

QUOTES = '"`[]'
NAME_PART = re.compile(r'"[^"]*"|\[[^\]]*\]|`[^`]*`|[^\s.]+')
SQL_COMMENT = re.compile(r"/\*.*?\*/|--[^\n]*", re.DOTALL)
RENAMING = re.compile(r"\brename\s+(?:column\s+)?([\w\"`]+)\s+to\b", re.IGNORECASE)
ASSIGNED_RECORD = re.compile(r"\b(\w+)\s*:=", re.IGNORECASE)
"""A record that is given a value: whatever is asked of it is made of that."""

ALIAS_LIST = re.compile(r"\bas\s+\w+\s*\(([\w\s,]*)\)", re.IGNORECASE)
"""A list of names, which may be new ones for the columns of a source."""

NAMING_CODES = {"UNKNOWN_COLUMN", "UNRESOLVED_REFERENCE", "AMBIGUOUS_COLUMN", "UNKNOWN_TABLE"}
"""Codes of findings whose message begins with the name at their position."""


def assert_sound(lineage: LineageTables, texts: Mapping[str, str], whole: bool = True) -> None:
    """Positions give the text that rows state, keys are unique, and every end of an edge is a known column.

    Where the SQL is not `whole`, a reference may be anything: what was a column can have become the name of a source.
    """
    assert [row.message for row in lineage.diagnostics if row.code == "INTERNAL_ERROR"] == []
    assert_positions(lineage, texts, whole)
    assert_unique_keys(lineage)
    assert_known_columns(lineage)
    assert_byte_counts(lineage, texts)
    assert dump_json(build_lineage_document(lineage))


def assert_positions(lineage: LineageTables, texts: Mapping[str, str], whole: bool) -> None:
    """Slicing a file by a span gives the text that the row states."""
    for row in lineage.statements:
        if row.span is not None:
            text = slice_span(texts[row.path], row.span)
            assert text == text.strip() and text, row
    for edge in lineage.column_edges:
        for use in iter_uses(edge):
            written = assert_use_span(edge, use, texts[edge.path])
            assert not whole or is_reference_to(edge, written, texts[edge.path]), (edge, written)
    for facet in lineage.facets:
        assert facet.span is None or slice_span(texts[facet.path], facet.span) == facet.expression, facet
    starts = {(row.span.line, row.span.column) for row in lineage.statements if row.span is not None}
    for finding in lineage.diagnostics:
        if finding.line is None or finding.path is None:
            continue
        assert finding.column is not None
        line = texts[finding.path].split("\n")[finding.line - 1]
        assert 1 <= finding.column <= len(line) + 1, finding
        renamed = "synonym" in texts[finding.path].lower()  # a message names what a synonym stands for
        if whole and not renamed and finding.code in NAMING_CODES and (finding.line, finding.column) not in starts:
            assert_message_names_position(finding, line[finding.column - 1 :])


def assert_message_names_position(finding: Diagnostic, written: str) -> None:
    """The text at the position of a finding is the name in its message."""
    here = unquote_name(re.split(r"[\s(),;=<>+*/|']", written, maxsplit=1)[0])
    name = unquote_name(finding.message.split(" ")[0])
    assert name.endswith(here.split(".")[-1]) or here.startswith(name.split(".")[0]), (finding, written)


def iter_uses(edge: ColumnEdge) -> Iterator[ColumnEdge | Use]:
    """The positions at which an edge's input is used."""
    yield edge
    yield from edge.uses


def assert_use_span(edge: ColumnEdge, use: ColumnEdge | Use, text: str) -> str:
    """The expression is the slice of its span; return the reference as written."""
    shown = use.span if edge.to_column != "*" else use.from_span
    assert use.expression == (slice_span(text, shown) if shown is not None else ""), (edge, use)
    return slice_span(text, use.from_span) if use.from_span is not None else ""


def is_reference_to(edge: ColumnEdge, written: str, text: str) -> bool:
    """Whether a reference names the column of an edge: directly, by a hop, by a star or by a new name."""
    if (
        not written or written.endswith("*") or re.match(r"@|\$\d", written)
    ):  # a variable brings what it was given; a column by number
        return True
    ordered = [unquote_name(part) for part in NAME_PART.findall(written)]
    parts = set(ordered)
    columns = {edge.from_column.lower(), *(hop.column.lower() for hop in edge.hops)}
    columns |= set((edge.from_path or "").lower().split("."))  # a member of what is not known
    columns |= {unquote_name(hop.object.split(".")[-1]) for hop in edge.hops}  # a record, as a whole row
    unmarked = {column.removeprefix("@") for column in columns}  # a parameter may have no mark, or another one
    if parts & (columns | unmarked | {f"${column}" for column in unmarked}):
        return True
    pattern = written.startswith("`") and not re.fullmatch(r"[\w.`]+", written)
    if parts & {"columns"} or pattern or ordered[-1] in find_source_names(text):  # patterns and whole rows
        return True
    renamed = {
        unquote_name(name) for name in RENAMING.findall(SQL_COMMENT.sub(" ", text))
    }  # it has another name in the end
    if parts & renamed or ordered[0] in map(unquote_name, ASSIGNED_RECORD.findall(SQL_COMMENT.sub(" ", text))):
        return True
    lists = {
        unquote_name(name.strip())
        for listed in ALIAS_LIST.findall(SQL_COMMENT.sub(" ", text))
        for name in listed.split(",")
    }
    return bool(parts & lists)


def find_source_names(text: str) -> set[str]:
    """The names that a text may give its sources: words behind FROM, JOIN, AS, EXEC and commas."""
    found = re.findall(
        r"(?:\bfrom|\bjoin|\bas|\bexec|,)\s+(?=([\w.`]+)(?:\s+(\w+))?)", SQL_COMMENT.sub(" ", text), re.IGNORECASE
    )
    return {unquote_name(name.split(".")[-1]) for pair in found for name in pair if name}


def unquote_name(name: str) -> str:
    """A name without quotes, in lower case."""
    return name.translate({ord(mark): None for mark in QUOTES}).lower()


def slice_span(text: str, span: Span) -> str:
    """The text of a span, whose lines and columns must agree with its offsets."""
    for offset, line, column in ((span.start, span.line, span.column), (span.end, span.end_line, span.end_column)):
        before = text[:offset]
        assert (line, column) == (before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1), span
    return text[span.start : span.end]


def assert_unique_keys(lineage: LineageTables) -> None:
    """No two rows of a table have one key."""
    for table in TABLES.values():
        rows = getattr(lineage, table.name, ())
        keys = Counter(tuple(msgspec.structs.asdict(row)[field] for field in table.key) for row in rows)
        assert not [key for key, count in keys.items() if count > 1], (table.name, keys.most_common(2))


def assert_known_columns(lineage: LineageTables) -> None:
    """Every end of an edge is a column, and ordinals count from 1 without gaps."""
    known = {(column.object, column.name) for column in lineage.columns}
    for edge in lineage.column_edges:
        assert edge.from_object == "?" or edge.from_column == "*" or (edge.from_object, edge.from_column) in known, edge
        assert edge.to_column == "*" or (edge.to_object, edge.to_column) in known, edge
    ordinals: dict[str, list[int]] = {}
    for column in lineage.columns:
        ordinals.setdefault(column.object, []).append(column.ordinal)
    assert all(found == list(range(1, len(found) + 1)) for found in ordinals.values()), ordinals


def assert_byte_counts(lineage: LineageTables, texts: Mapping[str, str]) -> None:
    """The bytes of statements and of those inside, which lie in them, add up to what they cover."""
    for path, text in texts.items():
        rows = [row for row in lineage.statements if row.path == path]
        outer = [row.span for row in rows if row.parent is None and row.span is not None]
        assert sum(row.bytes for row in rows) == sum(len(text[span.start : span.end].encode()) for span in outer)
        assert all(row.bytes >= 0 for row in rows)
        spans = {row.ordinal: row.span for row in rows}
        for row in rows:
            around = spans.get(row.parent) if row.parent is not None else None
            if row.span is not None and around is not None and row.bytes:  # a text that is run may stand elsewhere
                assert around.start <= row.span.start and row.span.end <= around.end, row
