"""Raw files → the rows of discovery. Folders and revisions differ only in where the bytes come from."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from lineage_pipeline.dialects.evidence import Guess
from lineage_pipeline.discover.decode import characters, decode
from lineage_pipeline.discover.detect import guess_of, in_projects, options_of, reading_of, with_dialects
from lineage_pipeline.discover.headers import KEYS, unknown_words
from lineage_pipeline.discover.hosts.modules import Modules
from lineage_pipeline.discover.hosts.reading import hosted
from lineage_pipeline.discover.owners import Owners
from lineage_pipeline.discover.raw import Optioned, RawFile, Recalled
from lineage_pipeline.discover.rendered import SCHEMA, Rows, further_rows, rendered_rows
from lineage_pipeline.discover.templating.choosing import Templates
from lineage_pipeline.discover.templating.protocol import Library, NoLibrary, Templating
from lineage_pipeline.engine.graph.scopes import natural
from lineage_pipeline.vocabulary.analysis import InputFile
from lineage_pipeline.vocabulary.codes import CODES, diagnose
from lineage_pipeline.vocabulary.places import Text, Written, line_starts
from lineage_pipeline.vocabulary.sets import Stage, Status
from lineage_pipeline.vocabulary.tables import Diagnostic, Snapshot, Source, SqlFile

LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""What a file begins with that only says where its content is."""


class Rules(Optioned, Protocol):
    """What discovery asks of the settings."""

    def selects(self, path: str) -> bool:
        """Say whether the file at this path is to be read."""

    def leaves_out(self, path: str) -> bool:
        """Say whether nothing of the file at this path is to be read, whatever it is."""

    def listed(self) -> Collection[str]:
        """Give the files that have to be there."""

    def templating_for(self, path: str) -> Templating:
        """Give how the file at this path is rendered."""

    def analysis_key(self) -> str:
        """Name all that bears on results apart from the files."""


class Around(NamedTuple):
    """What lies around the files: who owns them, and what templates may load."""

    owners: Owners | None = None
    library: Library = NoLibrary()


class Discovery(msgspec.Struct, frozen=True):
    """One repository at one moment: files in natural path order, and each distinct content once.

    `waivers` is the text of its file of waivers, empty where there is none.
    """

    snapshot: Snapshot
    files: tuple[SqlFile, ...]
    sources: tuple[Source, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    waivers: str = ""

    @property
    def key(self) -> str:
        """Name the snapshot: `<repo>@<commit>`."""
        return f"{self.snapshot.repo}@{self.snapshot.commit}"


class Gathering:
    """Files on their way into rows, in natural path order; no content is kept, so that many of them will do.

    Where it is to `detect` dialects, files whose dialect nobody says are read as their words suggest.
    """

    def __init__(
        self, snapshot: Snapshot, raw_files: Iterable[RawFile], rules: Rules, around: Around | None = None, **said: Any
    ) -> None:
        """Take what is to be read; nothing is read yet.

        `said`: `findings`, `waivers`, who gives the `positions` of files, whether to `detect`, and what may come with
        the first file: the files of `projects` of databases, and other repositories inside, `modules`.
        """
        self.snapshot = snapshot
        self.raw_files = raw_files
        self.rules = rules
        self.around = around or Around()
        self.detect = bool(said.get("detect"))
        self.waivers: str = said.get("waivers", "")
        self.diagnostics: list[Diagnostic] = list(said.get("findings", ()))
        self.positions: Callable[[], Mapping[str, int]] = said.get("positions", dict)
        self.projects: Sequence[str] = said.get("projects", ())
        self.modules: Sequence[str] = said.get("modules", ())
        self.files: list[SqlFile] = []
        self.guesses: dict[str, Guess] = {}
        self._told: dict[str, tuple[Diagnostic, ...]] = {}

    def sources(self) -> Iterator[Source]:
        """Read all files, and give each distinct content once, as it comes."""
        seen: set[str] = set()
        for file, source, told in _rows(self._to_read(), self.rules, self.around):
            guess = guess_of(file, source) if self.detect and file.templater != SCHEMA else None
            self._take(Recalled(file, guess, tuple(told)))
            if source.source_hash not in seen:
                seen.add(source.source_hash)
                yield source

    def _to_read(self) -> Iterator[RawFile]:
        """Give the files that are not known; the others are taken when it is their turn."""
        for raw in self.raw_files:
            if raw.recalled is None:
                yield raw
            else:
                self._take(raw.recalled)

    def _take(self, found: Recalled) -> None:
        file = found.file
        self.files.append(file)
        self.diagnostics.extend(found.findings)
        if found.guess is not None:
            self.guesses[file.path] = found.guess
        if found.findings:
            self._told[file.path] = found.findings

    def to_recall(self) -> dict[str, Recalled]:
        """Give what was found about each file, once all sources were taken."""
        return {
            file.path: Recalled(file, self.guesses.get(file.path), self._told.get(file.path, ())) for file in self.files
        }

    def done(self, sources: Iterable[Source] = ()) -> Discovery:
        """Give what was found once all sources were taken; a snapshot without a commit is named after what it holds."""
        ordered = sorted(self.files, key=lambda file: natural(file.path))
        guesses = self.guesses | in_projects(ordered, self.projects)
        files = _positioned(with_dialects(ordered, guesses), self.positions())
        found = {file.path for file in files}
        modules = [finding("SUBMODULE", path) for path in sorted(self.modules)]
        missing = [finding("FILE_MISSING", path) for path in self.rules.listed() if path not in found]
        named = msgspec.structs.replace(
            self.snapshot,
            commit=self.snapshot.commit or f"tree-{_tree_hash(files)}",
            files=len(files),
            analysis_key=self.rules.analysis_key(),
        )
        told = (*modules, *self.diagnostics, *missing)
        return Discovery(named, tuple(files), tuple(sources), told, self.waivers)

    def whole(self) -> Discovery:
        """Read all files and keep their contents."""
        sources = sorted(self.sources(), key=lambda source: source.source_hash)
        return self.done(sources)

    def key(self) -> str:
        """Read all files for the name of the snapshot alone."""
        for _ in self.sources():
            pass
        return self.done().key


def _positioned(files: Sequence[SqlFile], positions: Mapping[str, int]) -> Sequence[SqlFile]:
    """Put the files that run first or last into their places."""
    if not positions:
        return files
    return [msgspec.structs.replace(file, position=positions.get(file.path)) for file in files]


def _rows(raw_files: Iterable[RawFile], rules: Rules, around: Around) -> Iterator[Rows]:
    """Give the rows of each file, decoded and rendered, and of what the projects around them bring."""
    templates, modules, known = Templates(around.library), Modules(around.library), set[str]()
    for raw in raw_files:
        file, source, problems = _read(raw, rules, templates, modules)
        if file is None:
            continue
        known.add(file.path)
        owned = msgspec.structs.replace(file, owners=around.owners.of(raw.path)) if around.owners else file
        row, source, told = rendered_rows(owned, source, templates, rules)
        yield row, source, [_readable(one) for one in (*problems, *told)]
    yield from further_rows(templates, rules, known)


def input_files(discovery: Discovery, rules: Rules) -> Iterator[InputFile]:
    """Give the files as the engine takes them, in natural path order; unreadable ones are left to their finding."""
    yield from as_inputs(discovery.files, discovery.sources, rules)


def is_analysed(file: SqlFile) -> bool:
    """Say whether a file could be read, and holds SQL."""
    return file.status is not Status.FAILED and file.templater != SCHEMA


def as_inputs(files: Iterable[SqlFile], sources: Iterable[Source], rules: Optioned) -> Iterator[InputFile]:
    """Give the files that could be read as the engine takes them."""
    known = {source.source_hash: source for source in sources}
    for file in files:
        if is_analysed(file):
            source = known[file.source_hash]
            written = Written.of(source.text, source.source_map)
            options = options_of(file, rules.options_for(file.path))
            yield InputFile(
                file.path, source.rendered, options, file.owners, written, file.source_hash, file.position or 0
            )


def finding(code: str, path: str | None, **values: str) -> Diagnostic:
    """Make a finding of discovery about a whole file."""
    message = CODES[code].message.format(**values)
    identity = hash_text("\0".join((code, path or "", message)))[:16]
    return Diagnostic(identity, code, CODES[code].severity, message, path, None, None, None, Stage.DISCOVERY)


def hash_text(text: str) -> str:
    """Give the SHA-256 of a text in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _read(
    raw: RawFile, rules: Rules, templates: Templates, modules: Modules
) -> tuple[SqlFile | None, Source, list[Diagnostic]]:
    """Decode one file, take the SQL out of a host, and say what is wrong; a host without SQL is no file."""
    decoded = decode(raw.content)
    problem, findings = _problem(raw, decoded.problem)
    given = rules.options_for(raw.path)
    reading = reading_of(decoded.text, given)
    findings += _unread(raw.path, decoded.text)
    options = reading.options
    taken = templates.takes(raw.path, decoded.text, options.dialect, rules.templating_for(raw.path))
    host = hosted(raw.path, decoded.text, options.dialect, modules) if not problem and not taken else None
    rendered, copies = (characters(host.text), host.copies) if host is not None else (decoded.text, ())
    content_hash = hashlib.sha256(raw.content).hexdigest()
    made = f"{host.host} {hash_text(rendered)}" if host is not None else ""
    source = Source(hash_text("\0".join((content_hash, made))), content_hash, decoded.text, rendered, copies)
    if host is not None:
        text = Text(raw.path, line_starts(decoded.text))
        findings += [diagnose(one.code, dict(one.values), text, one.at, Stage.DISCOVERY) for one in host.problems]
        if not rendered and not findings:
            return None, source, []
    file = SqlFile(
        path=raw.path,
        system=options.system,
        dialect=options.dialect,
        source_hash=source.source_hash,
        bytes=len(raw.content),
        encoding=decoded.encoding,
        templater=host.host if host is not None else "",
        status=Status.FAILED if problem else Status.ANALYSED,
        owners=(),
        default_catalog=options.default_catalog if options is not given else None,
        default_schema=options.default_schema if options is not given else None,
        evidence=reading.evidence or None,
    )
    return file, source, findings


def _readable(finding: Diagnostic) -> Diagnostic:
    """Give a finding that can be written down, whatever words of a program it repeats."""
    message = characters(finding.message)
    return finding if message == finding.message else msgspec.structs.replace(finding, message=message)


def _problem(raw: RawFile, undecoded: str) -> tuple[str, list[Diagnostic]]:
    """Say why a file cannot be read, if it cannot."""
    if raw.content.startswith(LFS_POINTER):
        return "a pointer", [finding("LFS_POINTER", raw.path)]
    if raw.excess:
        return "too large", [finding("LIMIT_EXCEEDED", raw.path, what="the file", limit=raw.excess)]
    if raw.absent:
        return "absent", [finding("CONTENT_MISSING", raw.path)]
    problem = raw.problem or undecoded
    return problem, [finding("ENCODING_ERROR", raw.path, reason=problem)] if problem else []


def _unread(path: str, text: str) -> list[Diagnostic]:
    """Tell of words of a comment at the top that say nothing to us."""
    found = unknown_words(text)
    place = Text(path, line_starts(text)) if found else None
    known = ", ".join(sorted(KEYS))
    return [
        diagnose("HEADER_UNKNOWN", {"word": word, "known": known}, place, at, Stage.DISCOVERY)
        for word, at in found
        if place is not None
    ]


def _tree_hash(files: Iterable[SqlFile]) -> str:
    """Name a set of files by paths and contents, and where they run out of turn."""
    placed = ((file, f"\0{file.position}" if file.position else "") for file in files)
    return hash_text("".join(f"{file.path}\0{file.source_hash}{place}\n" for file, place in placed))[:40]
