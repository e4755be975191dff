"""Query names: a query alone in a file is named by a pattern, by the layout of its folders, by its head or its stem."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec

from lineage_pipeline.dialects.identifier_folding import IdentifierFolding
from lineage_pipeline.engine.graph.namespace import NameParts, Namespace, fold_default_name, render_object_id
from lineage_pipeline.engine.graph.object_builder import ObjectBuilder
from lineage_pipeline.engine.graph.references import ScopedStatement
from lineage_pipeline.model.analysis import PROGRAM_ENDINGS

StatementPlace = tuple[str, int]
"""A path, and the ordinal of a statement."""

STANDARD_INPUT = "-"

UNPLACED_NAME = "query"
"""The name of a query without a file."""

GENERIC_STEMS = ("query", "select", "model", "table", "view", "sql", "main", "index", "__init__", "__main__")
"""Stems of files that say what is in them and not what it is called: the folder does. The first ones come first."""

TEST_FOLDERS = frozenset({"test", "tests"})
"""Folders whose queries fill no table, whatever their paths look like."""

SQL_SUFFIX = re.compile(r"\.sql\Z", re.IGNORECASE)

MIN_LAYOUT_FILES = 2
"""How many files must agree with a layout of several folders."""

MIN_PREFIX_FILES = 3
"""How many files must be named like tables of one schema that others read."""

MIN_SIBLING_FOLDERS = 3
"""How many folders side by side must have one layout for all folders beside them to have it."""

MAX_CONTRADICTIONS = 0.2
"""The share of files which read the table that a layout would have them fill."""


class QueryName(msgspec.Struct, frozen=True):
    """The name of a bare query; one that `fills` a table is what this table is called."""

    parts: NameParts
    fills: bool = False


class QueryFile(msgspec.Struct, frozen=True):
    """A file with bare queries: their ordinals, their declared names, and what completes the names of its path.

    It `changes` something itself where a query writes, or where a statement beside them defines what lasts.
    """

    path: str
    space: Namespace
    patterns: tuple[str, ...]
    ordinals: tuple[int, ...]
    titles: tuple[tuple[str, bool], ...]
    changes: bool

    @property
    def fills_one(self) -> bool:
        """Whether the file may fill a table: one query alone, which changes nothing itself, in no test or program."""
        alone = len(self.ordinals) == 1 and not self.changes
        return alone and not is_test(self.path) and not is_program(self.path)


def list_query_files(
    walks: Iterable[tuple[str, tuple[str, ...], Sequence[ScopedStatement]]], drafts: ObjectBuilder
) -> list[QueryFile]:
    """The files with queries that belong to no module, in order."""
    found = []
    for path, patterns, steps in walks:
        bare = [step for step in steps if step[1].has_result and not _is_in_module(step, drafts)]
        if bare:
            found.append(
                QueryFile(
                    path=path,
                    space=bare[0][2],
                    patterns=patterns,
                    ordinals=tuple(ordinal for ordinal, *_ in bare),
                    titles=tuple((face.title, face.titles_table) for _, face, *_ in bare),
                    changes=any(face.writes for _, face, *_ in bare)
                    or any(face.defines is not None and not face.temporary for _, face, *_ in steps),
                )
            )
    return found


def _is_in_module(step: ScopedStatement, drafts: ObjectBuilder) -> bool:
    """Whether the rows of a statement are the result of a module around it."""
    _, _, space, scopes = step
    module = scopes.module
    owner = scopes.statements[module].defines if module >= 0 else None
    return owner is not None and drafts.find(owner, space, scopes) is not None


class NameUses(msgspec.Struct, frozen=True):
    """The names that statements use: who reads each, which are defined by whom, in lower case."""

    readers: Mapping[NameParts, frozenset[str]]
    definers: Mapping[NameParts, frozenset[str]]
    written: Mapping[NameParts, NameParts]
    ids: frozenset[str]


def collect_name_uses(walks: Iterable[tuple[str, Sequence[ScopedStatement]]]) -> NameUses:
    """The names that statements read and define, completed by the defaults."""
    readers: dict[NameParts, set[str]] = defaultdict(set)
    definers: dict[NameParts, set[str]] = defaultdict(set)
    written: dict[NameParts, NameParts] = {}
    ids: set[str] = set()
    for path, steps in walks:
        for _, face, space, _ in steps:
            for name in face.reads:
                parts = space.complete(name.parts)
                key = fold_parts(parts)
                if not key:
                    continue  # a name that is a blank
                readers[key].add(path)
                written.setdefault(key, parts)
                ids.add(space.id(parts))
            if face.defines is not None and not face.temporary:
                definers[fold_parts(space.complete(face.defines.parts))].add(path)
    return NameUses(
        readers={key: frozenset(paths) for key, paths in readers.items()},
        definers={key: frozenset(paths) for key, paths in definers.items()},
        written=written,
        ids=frozenset(ids),
    )


def fold_parts(parts: Iterable[str]) -> NameParts:
    """Name parts in the form in which paths and names are compared."""
    return tuple([part.lower() for part in parts if part])


# ── paths ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=1 << 14)
def split_folders(path: str) -> NameParts:
    """The folders of a path."""
    return tuple(part for part in path.split("/")[:-1] if part not in ("", ".", ".."))


@lru_cache(maxsize=1 << 14)
def name_path(path: str) -> NameParts:
    """The folders of a path and the stem of the file; a generic stem gives way to its folder."""
    stem, _, ending = path.rpartition("/")[2].rpartition(".")
    stem = SQL_SUFFIX.sub("", stem or ending)
    rest, dot, last = stem.rpartition(".")
    if dot and rest and last.lower() in GENERIC_STEMS:
        stem = rest
    folders = split_folders(path)
    generic = folders and stem.lower() in GENERIC_STEMS and not is_program(path)
    return folders if generic else (*folders, stem)


@lru_cache(maxsize=1 << 14)
def _rank_stem(path: str) -> int:
    """The rank of a file among those that a folder gives its name to."""
    stem = path.rpartition("/")[2].partition(".")[0].lower()
    return GENERIC_STEMS.index(stem) if stem in GENERIC_STEMS else -1


PATTERN_WILDCARD = re.compile(r"\*\*/|\*\*|\*|\?|\{\w+\}")
WILDCARD_EXPRESSIONS = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
NAME_FIELDS = ("catalog", "schema", "name")


@lru_cache(maxsize=256)
def compile_name_pattern(pattern: str) -> re.Pattern[str]:
    """The regular expression of a pattern such as `sql/{catalog}/{schema}/{name}/query.sql`."""
    at, parts = 0, []
    for match in PATTERN_WILDCARD.finditer(pattern):
        word = match.group()
        parts.append(re.escape(pattern[at : match.start()]))
        parts.append(WILDCARD_EXPRESSIONS.get(word) or f"(?P<{word[1:-1]}>[^/]+?)")
        at = match.end()
    return re.compile("".join((*parts, re.escape(pattern[at:]))))


def match_name_pattern(path: str, patterns: Iterable[str]) -> NameParts:
    """Catalog, schema and name by the first pattern that fits a path; empty where none does."""
    for pattern in patterns:
        match = compile_name_pattern(pattern).fullmatch(path)
        if match is not None:
            said = match.groupdict()
            return tuple(said[field] for field in NAME_FIELDS if said.get(field))
    return ()


# ── layouts ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class PathLayout(msgspec.Struct, frozen=True):
    """Below a root, the last folders or stem of a path are the last parts of a name, behind a constant prefix."""

    root: NameParts
    width: int
    prefix: NameParts


def find_layout(path: str, parts: NameParts) -> PathLayout | None:
    """The layout in which a path names an object, by the most of its parts."""
    own = fold_parts(name_path(path))
    width = 0
    while width < min(len(own), len(parts)) and own[-width - 1] == parts[-width - 1]:
        width += 1
    return PathLayout(own[:-width], width, parts[:-width]) if width else None


class LayoutVotes:
    """How many files agree with each layout, and which layouts therefore hold."""

    def __init__(self, files: Iterable[QueryFile], uses: NameUses) -> None:
        """Count the definitions that stand at the paths of their names, and the queries whose tables others read."""
        self.uses = uses
        self.counts: Counter[PathLayout] = Counter()
        self.prefixes: Counter[NameParts] = Counter()
        self.contradictions: Counter[NameParts] = Counter()
        self.direct: dict[str, NameParts] = {}
        wanted: dict[str, list[NameParts]] = defaultdict(list)
        for parts in uses.readers:
            if parts:
                wanted[parts[-1]].append(parts)
        for file in files:
            self._count_reads(file.path, wanted.get(name_path(file.path)[-1].lower(), ()))
        for parts, paths in uses.definers.items():
            for path in paths:
                layout = find_layout(path, parts)
                if layout is not None and layout.width > 1 and not is_test(path):
                    self.counts[layout] += 1
        self.by_place: dict[tuple[NameParts, int], list[PathLayout]] = defaultdict(list)
        for layout in self.counts:
            if self._holds(layout):
                self.by_place[layout.root, layout.width].append(layout)
        self.by_parent = self._find_common_prefixes()

    def _count_reads(self, path: str, wanted: Iterable[NameParts]) -> None:
        """Count the layouts in which the query of a file fills a table that other files read."""
        likely: dict[int, list[NameParts]] = defaultdict(list)
        for parts in wanted:
            layout = find_layout(path, parts)
            if layout is None or (layout.width == 1 and parts in self.uses.definers):
                continue
            if layout.width == 1 and path in self.uses.readers[parts]:
                self.contradictions[layout.prefix] += 1
            elif self._is_read_near(parts, path, layout.width):
                self.counts[layout] += 1
                self.prefixes[layout.prefix] += layout.width == 1
                likely[layout.width].append(parts)
        best = max(likely, default=0)
        if best > 1 and len(likely[best]) == 1:
            self.direct[path] = likely[best][0]

    def _is_read_near(self, parts: NameParts, path: str, width: int) -> bool:
        """Whether other files read a table; where only its last part is that of a path, they lie in the same tree."""
        readers = self.uses.readers[parts] - {path}
        return bool(readers) if width > 1 else any(split_folders(one)[:1] == split_folders(path)[:1] for one in readers)

    def _find_common_prefixes(self) -> dict[NameParts, NameParts]:
        """The prefix of the names in most folders of a folder, where it has several."""
        beside: Counter[tuple[NameParts, NameParts]] = Counter()
        for layout in self.counts:
            if layout.width == 1 and layout.root and self._holds(layout):
                beside[layout.root[:-1], layout.prefix] += 1
        ordered = sorted(beside.items(), key=lambda one: (one[1], one[0]))
        return {parent: prefix for (parent, prefix), count in ordered if count >= MIN_SIBLING_FOLDERS}

    def _holds(self, layout: PathLayout) -> bool:
        """Whether enough files agree with a layout, and few of them contradict it."""
        if layout.width > 1:
            return self.counts[layout] >= MIN_LAYOUT_FILES
        agreed = self.prefixes[layout.prefix]
        return agreed >= MIN_PREFIX_FILES and self.contradictions[layout.prefix] <= agreed * MAX_CONTRADICTIONS

    def find_table(self, path: str) -> tuple[int, NameParts]:
        """How many files agree on the table that a path names, and the table in lower case; empty where none does."""
        own = fold_parts(name_path(path))
        found = []
        for width in range(1, len(own) + 1):
            for layout in self.by_place.get((own[:-width], width), ()):
                found.append((self.counts[layout], width, (*layout.prefix, *own[-width:])))
        if not found and own[:-2] in self.by_parent:
            found.append((1, 1, (*self.by_parent[own[:-2]], own[-1])))
        sound = [one for one in found if one[1] > 1 or not self._is_made_or_read(one[2], path)]
        count, _, parts = max(sound, default=(0, 0, ()))
        return (1, self.direct[path]) if not count and path in self.direct else (count, parts)

    def _is_made_or_read(self, parts: NameParts, path: str) -> bool:
        """Whether a file reads a table itself, or a statement defines it."""
        return parts in self.uses.definers or path in self.uses.readers.get(parts, ())


def is_program(path: str) -> bool:
    """Whether a file is a program with SQL in it."""
    return path.lower().endswith(PROGRAM_ENDINGS)


def is_test(path: str) -> bool:
    """Whether a file lies in a folder of tests."""
    return not TEST_FOLDERS.isdisjoint(folder.lower() for folder in split_folders(path))


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def name_queries(
    files: Sequence[QueryFile], uses: NameUses, reserved: Collection[str]
) -> dict[StatementPlace, QueryName]:
    """The names of all bare queries: those of tables that files fill, then names of their own, which are unique."""
    filled = dict(_iter_filled_tables(files, uses))
    names = {(file.path, file.ordinals[0]): filled[file.path] for file in files if file.path in filled}
    taken = {render_query_id(name.parts).lower() for name in names.values()} | {name.lower() for name in reserved}
    return names | _name_uniquely([file for file in files if file.path not in filled], taken)


def _iter_filled_tables(files: Sequence[QueryFile], uses: NameUses) -> Iterator[tuple[str, QueryName]]:
    """The table that each file fills; of several files with one table, the likeliest fills it."""
    alone = [file for file in files if file.fills_one]
    votes = LayoutVotes(alone, uses)
    claims: dict[NameParts, list[tuple[int, int, int, int, NameParts]]] = defaultdict(list)
    for place, file in enumerate(alone):
        said = _find_declared_table(file, uses)
        count, found = (0, said) if said else votes.find_table(file.path)
        if found:
            parts = uses.written.get(fold_parts(found)) or (said or _spell_parts(file, found))
            claims[fold_parts(found)].append((-1 if said else 0, -count, _rank_stem(file.path), place, parts))
    for rivals in claims.values():
        *_, place, parts = min(rivals)
        yield alone[place].path, QueryName(parts, fills=True)


def _find_declared_table(file: QueryFile, uses: NameUses) -> NameParts:
    """The table that the settings or the head of a file name."""
    parts = match_name_pattern(file.path, file.patterns)
    title, is_table = file.titles[0]
    if not parts and title and is_table:
        parts = tuple(title.split("."))
        if len(parts) == 1 and not uses.readers.get(fold_parts(file.space.complete(parts)), frozenset()) - {file.path}:
            return ()
    return file.space.complete(tuple(fold_default_name(part, file.space.traits) for part in parts)) if parts else ()


def _spell_parts(file: QueryFile, folded: NameParts) -> NameParts:
    """The parts of a name as its path spells them, where it does."""
    spelt = {part.lower(): part for part in name_path(file.path)}
    return tuple(fold_default_name(spelt.get(part, part), file.space.traits) for part in folded)


def _name_uniquely(files: Sequence[QueryFile], taken: Collection[str]) -> dict[StatementPlace, QueryName]:
    """Names by declared names and stems, each with as many folders as it takes to tell it from all others."""
    depths = {file.path: 1 for file in files}
    while True:
        ids = {
            file.path: [render_query_id(parts).lower() for parts in _name_at(file, depths[file.path])] for file in files
        }
        uses = Counter(one for found in ids.values() for one in found)
        unclear = [
            path
            for path, found in ids.items()
            if depths[path] <= len(name_path(path)) and any(uses[one] > 1 or one in taken for one in found)
        ]
        if not unclear:
            break
        for path in unclear:
            depths[path] += 1
    return {
        (file.path, ordinal): QueryName(parts)
        for file in files
        for ordinal, parts in zip(file.ordinals, _name_at(file, depths[file.path]), strict=True)
    }


def _name_at(file: QueryFile, depth: int) -> list[NameParts]:
    """The names of the queries of a file with some folders before the stem; at last the whole path is the name."""
    *around, stem = name_path(file.path)[-depth:] if depth <= len(name_path(file.path)) else (file.path,)
    if file.path == STANDARD_INPUT and depth == 1:
        stem = UNPLACED_NAME
    found: list[NameParts] = []
    seen: Counter[str] = Counter()
    for title, _ in file.titles:
        last = title or stem
        seen[last.lower()] += 1
        number = seen[last.lower()]
        found.append((*around, last if number == 1 else f"{last}_{number}"))
    return found


def render_query_id(parts: NameParts) -> str:
    """The id of a bare query: no system and no folding, since no statement says the name."""
    return render_object_id(parts, IdentifierFolding.EXACT, "")
