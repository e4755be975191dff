"""Edited lines: the SQL of a change as its author wrote it, before and after, and the line of the edit."""

import posixpath
import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from difflib import SequenceMatcher
from itertools import chain

import msgspec

from lineage_pipeline.engine.diff.file_accounts import FileSide
from lineage_pipeline.model.tables import Change, SqlFile, StatementRow

MOST_QUOTED_LINES = 12
"""Lines of one side that a change quotes; what it is about comes first."""

MOST_QUOTED_CHARACTERS = 2000

WHOLE_OBJECT_RULES = ("OBJ001", "OBJ003")
"""Rules about objects that came or went as a whole: their definition is no edit."""

RULE_KEYWORDS = {
    "ROW001": "join left right full inner outer cross",
    "ROW002": "join on using",
    "ROW003": "join",
    "ROW004": "where and or having qualify on",
    "ROW005": "group by distinct",
    "ROW006": "union all except intersect minus",
    "ROW007": "limit top fetch offset sample",
    "ROW008": "order by",
    "CON": "primary key unique foreign references check constraint",
    "NUL": "null not",
}
"""Keywords of the clauses that a rule is about, by the prefix of its id."""

_WORDS = re.compile(r"[\w@$#]+")

_REMARKS = re.compile(r"/\*.*?\*/|\{#.*?#\}|--[^\n]*|\{\{-?\s*config\s*\(.*?\)\s*-?\}\}", re.DOTALL)


class EditedLines(msgspec.Struct, frozen=True, order=True):
    """One edit of a file: the lines from `start` to `end` of the head, and those of the base that they replace.

    Lines count from 0, and `end` is behind the last one, as in slices.
    """

    start: int
    end: int
    old_start: int
    old_end: int


class StatementLines(msgspec.Struct, frozen=True):
    """The lines of one statement of the head, and those of the base that fill the same object."""

    new: range
    old: range

    def clip(self, edit: EditedLines) -> EditedLines | None:
        """The part of an edit within the statement, or None where there is none."""
        start, end = max(edit.start, self.new.start), min(edit.end, self.new.stop)
        old_start, old_end = max(edit.old_start, self.old.start), min(edit.old_end, self.old.stop)
        if start > end or (start == end and old_start >= old_end):
            return None
        return EditedLines(start, end, old_start, max(old_start, old_end))


class FileEdits(msgspec.Struct, frozen=True):
    """A file on both sides, its edits, and its statements; a change of blanks or of case is no edit."""

    before: Sequence[str]
    after: Sequence[str]
    edits: Sequence[EditedLines]
    old_statements: Sequence[StatementRow] = ()
    new_statements: Sequence[StatementRow] = ()

    @property
    def code(self) -> "FileEdits":
        """The same edits over lines without remarks and without the settings of a template."""
        return FileEdits(_blank_remarks(self.before), _blank_remarks(self.after), self.edits)

    def find_statements(self, line: int | None) -> Iterator[StatementLines]:
        """The statements around a line, the innermost first, and then the whole file."""
        around = [row for row in self.new_statements if line is not None and line - 1 in _list_lines(row)]
        whole = StatementLines(range(len(self.after) + 1), range(len(self.before) + 1))
        for row in sorted(around, key=lambda row: (len(_list_lines(row)), row.ordinal)):
            same = [_list_lines(old) for old in self.old_statements if row.target and old.target == row.target]
            old = range(min(one.start for one in same), max(one.stop for one in same)) if same else whole.old
            yield StatementLines(_list_lines(row), old)
        yield whole


def _list_lines(row: StatementRow) -> range:
    """The lines of a statement, from 0."""
    return range(row.span.line - 1, row.span.end_line) if row.span is not None else range(0)


class SideTexts:
    """The files of one side by path, with their lines and statements, each read when it is asked for."""

    def __init__(self, side: FileSide) -> None:
        """Index the files."""
        self.side = side
        self.files: Mapping[str, SqlFile] = {file.path: file for file in side.files}
        self.lines: dict[str, list[str]] = {}

    def read(self, path: str) -> list[str]:
        """The lines of a file as written."""
        if path not in self.lines:
            self.lines[path] = self.side.read_text(self.files[path]).splitlines()
        return self.lines[path]

    def hash(self, path: str) -> str | None:
        """The hash of a file's content, or None where there is no such file."""
        return self.files[path].source_hash if path in self.files else None


def quote_edits(old: SideTexts, new: SideTexts, changes: Sequence[Change]) -> tuple[Change, ...]:
    """The changes, each root with the edited lines that made it and at the line of the edit, where they are found."""
    moved = _find_moved_files(old.files.keys() - new.files.keys(), new.files.keys() - old.files.keys())
    known: dict[str, FileEdits] = {}
    found = []
    for change in changes:
        path = change.path
        if change.root and path is not None:
            if path not in known:
                known[path] = _compare_files(old, new, moved.get(path, path), path)
            found.append(_quote_edit(change, known[path]))
        else:
            found.append(change)
    return tuple(found)


def _blank_remarks(lines: Sequence[str]) -> list[str]:
    """The lines without remarks and settings of a template, as many as before."""
    return _REMARKS.sub(lambda match: "\n" * match[0].count("\n"), "\n".join(lines)).split("\n")


def _find_moved_files(gone: Set[str], came: Set[str]) -> dict[str, str]:
    """The files that were moved to another folder: new path to old path, where a file name is there once."""
    names: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for side, paths in enumerate((gone, came)):
        for path in paths:
            names[posixpath.basename(path)][side].append(path)
    return {new[0]: old[0] for old, new in names.values() if len(old) == len(new) == 1}


def _compare_files(old: SideTexts, new: SideTexts, before: str, after: str) -> FileEdits:
    """The edits of a file under its old and its new path; none where it is the same."""
    if old.hash(before) == new.hash(after):
        return FileEdits((), (), ())
    found = compare_lines(
        old.read(before) if before in old.files else [], new.read(after) if after in new.files else []
    )
    return msgspec.structs.replace(
        found, old_statements=old.side.find_statements(before), new_statements=new.side.find_statements(after)
    )


def compare_lines(before: Sequence[str], after: Sequence[str]) -> FileEdits:
    """Compare the lines of a file, without regard to blanks and case."""
    old, new = ([" ".join(line.split()).casefold() for line in side] for side in (before, after))
    first = next(
        (at for at, (one, two) in enumerate(zip(old, new, strict=False)) if one != two), min(len(old), len(new))
    )
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    matcher = SequenceMatcher(None, old[first : len(old) - last], new[first : len(new) - last])
    edits = tuple(
        EditedLines(start + first, end + first, old_start + first, old_end + first)
        for kind, old_start, old_end, start, end in matcher.get_opcodes()
        if kind != "equal" and (any(old[old_start + first : old_end + first]) or any(new[start + first : end + first]))
    )
    return FileEdits(before, after, edits)


def _quote_edit(change: Change, file: FileEdits) -> Change:
    """A change with the lines of the edit that made it; one that comes from elsewhere stays as it is."""
    if not file.edits or change.rule in WHOLE_OBJECT_RULES:
        return change
    words, code = find_changed_words(change), file.code
    *statements, whole = file.find_statements(change.line)
    candidates = chain(
        # Remarks and settings of a template name columns, too: they count where nothing else does.
        (_choose_edit(change, lines, inside, words, least=1) for lines in (code, file) for inside in statements),
        (_choose_edit(change, code, inside, words) for inside in statements),
        (_choose_edit(change, lines, whole, words, least=1) for lines in (code, file)),
    )
    edit = next(filter(None, candidates), None)
    return change if edit is None else _quote_lines(change, file, code, edit, words)


def _quote_lines(change: Change, file: FileEdits, code: FileEdits, edit: EditedLines, words: Set[str]) -> Change:
    searched = code if _count_words(code, edit, words) else file
    old = _choose_lines(searched.before, edit.old_start, edit.old_end, words)
    new = _choose_lines(searched.after, edit.start, edit.end, words)
    if len(old) < edit.old_end - edit.old_start or len(new) < edit.end - edit.start:
        named = _has_words(searched.before, old, words), _has_words(searched.after, new, words)
        old, new = old if named[0] or not named[1] else old[:0], new if named[1] or not named[0] else new[:0]
    before, after = _dedent_both(file.before[old.start : old.stop], file.after[new.start : new.stop])
    line = old.start + 1
    if file.after:  # what was deleted alone is at the line that took its place
        line = 1 + _find_line_of_words(searched.after, new, words) if new else min(edit.start + 1, len(file.after))
    return msgspec.structs.replace(change, sql_before=before, sql_after=after, line=line)


def find_changed_words(change: Change) -> frozenset[str]:
    """The words that tell an edit: the name of the column, the rule's keywords, and what one text alone has."""
    before, after = (set(_split_words(text or "")) for text in (change.before, change.after))
    keywords = next((words for prefix, words in RULE_KEYWORDS.items() if change.rule.startswith(prefix)), "")
    return frozenset({*(before ^ after), *_split_words(change.column or ""), *keywords.split()})


def _split_words(text: str) -> Iterator[str]:
    return (word.casefold() for word in _WORDS.findall(text) if not word.isdigit() or len(word) > 1)


def _choose_edit(
    change: Change, file: FileEdits, lines: StatementLines, words: Set[str], least: int = 0
) -> EditedLines | None:
    """The edit of a statement that has most of the words, and at least so many; of equals the nearest to the change."""
    scored = [(_count_words(file, one, words), one) for one in filter(None, map(lines.clip, file.edits))]
    best = max(scored, key=lambda pair: (pair[0], -_distance(pair[1], change.line), -pair[1].start), default=None)
    return best[1] if best is not None and best[0] >= least else None


def _distance(edit: EditedLines, line: int | None) -> int:
    """How far an edit is from a line."""
    return 0 if line is None or edit.start < line <= edit.end else min(abs(edit.start + 1 - line), abs(edit.end - line))


def _count_words(file: FileEdits, edit: EditedLines, words: Set[str]) -> int:
    """How many of the words one side of an edit has more often than the other."""
    before, after = (
        Counter(word for line in side for word in _split_words(line) if word in words)
        for side in (file.before[edit.old_start : edit.old_end], file.after[edit.start : edit.end])
    )
    return len({*(before - after), *(after - before)})


def _has_words(lines: Sequence[str], chosen: range, words: Set[str]) -> bool:
    return any(not words.isdisjoint(_split_words(lines[at])) for at in chosen)


def _find_line_of_words(lines: Sequence[str], chosen: range, words: Set[str]) -> int:
    """The line that has most of the words, the first of equals."""
    return max(chosen, key=lambda at: len(words & set(_split_words(lines[at]))))


def _choose_lines(lines: Sequence[str], start: int, end: int, words: Set[str]) -> range:
    """The lines of one side of an edit that are quoted: all of a short one, else those around most of the words."""
    while start < end and not lines[start].strip():
        start += 1
    while start < end and not lines[end - 1].strip():
        end -= 1
    if end - start <= MOST_QUOTED_LINES:
        return range(start, end)
    counts = [len(words & set(_split_words(line))) for line in lines[start:end]]
    best = _find_line_of_words(lines, range(start, end), words) - start
    first, last = best, best + 1
    while last < len(counts) and counts[last] and last - first < MOST_QUOTED_LINES:
        last += 1
    while first and counts[first - 1] and last - first < MOST_QUOTED_LINES:
        first -= 1
    return range(start + first, start + last)


def _dedent_both(before: Sequence[str], after: Sequence[str]) -> tuple[str | None, str | None]:
    """Both sides without the indentation that all their lines share; None for a side without lines."""
    lines = textwrap.dedent("\n".join(line.expandtabs(4).rstrip() for line in (*before, *after))).split("\n")
    old, new = "\n".join(lines[: len(before)]), "\n".join(lines[len(before) :])
    return old[:MOST_QUOTED_CHARACTERS] or None, (new[:MOST_QUOTED_CHARACTERS] or None) if after else None
