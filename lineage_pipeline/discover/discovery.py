"""Discovery: raw files of a folder or a revision become rows; templates become the rows of their rendered text."""

import hashlib
import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self

import msgspec
import yaml

from lineage_pipeline.config.models import DEFAULTS
from lineage_pipeline.discover.code_owners import CodeOwners
from lineage_pipeline.discover.declared_dialects import DeclaredDialects
from lineage_pipeline.discover.dialect_detection import find_name_signs, find_signs
from lineage_pipeline.discover.dialect_vote import AgreedDialects, DialectVote
from lineage_pipeline.discover.embedded_sql.extractor import HOST_NAMES, RepositoryExtractor
from lineage_pipeline.discover.embedded_sql.python_program import RepositoryModules
from lineage_pipeline.discover.file_options import (
    HEADER_KEYS,
    find_unknown_header_words,
    options_of_row,
    parse_header,
    resolve_file_options,
)
from lineage_pipeline.discover.file_selection import (
    FileSelection,
    UnreadFile,
    UnreadFolder,
    UnreadReason,
    count_by_ending,
    describe_unread,
)
from lineage_pipeline.discover.schemas.declared_schemas import find_declared_schemas, read_declared_schema
from lineage_pipeline.discover.sql_sniffing import SHEBANG_MARK, find_shebang_dialect, is_gzip, unpack_gzip
from lineage_pipeline.discover.templating.protocol import Library, NoLibrary, Problem, Rendered
from lineage_pipeline.discover.templating.templaters import DBT, RepositoryTemplaters
from lineage_pipeline.discover.tree_dialects import assign_dialects
from lineage_pipeline.engine.graph.script_scopes import natural_path_key
from lineage_pipeline.files.bounded_yaml import load_yaml
from lineage_pipeline.files.encoding import decode_content, replace_surrogates
from lineage_pipeline.files.sql_endings import FileChoice
from lineage_pipeline.model.analysis import InputFile, Options
from lineage_pipeline.model.enums import Stage, Status
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.findings import CODES, build_diagnostic
from lineage_pipeline.model.source_map import NO_COPIES, SourceMap, SourceText, find_line_starts
from lineage_pipeline.model.tables import SCHEMA_TEMPLATER, Diagnostic, Snapshot, Source, SqlFile
from lineage_pipeline.model.templating import Templating

MAX_BYTES_PER_CHARACTER = 4
"""Most bytes per character in any encoding; a file larger than its character limit allows is not read."""


class RecalledFile(msgspec.Struct, frozen=True):
    """What an earlier run found about an unchanged file: its row, its signs of dialects and its findings."""

    file: SqlFile
    signs: tuple[str, ...] = ()
    findings: tuple[Diagnostic, ...] = ()


class RawFile(msgspec.Struct, frozen=True):
    """The bytes of a file; `problem` is why it could not be read, `excess` the limit it exceeds.

    An `absent` file has no content in a partial clone; a `recalled` file was not read again.
    """

    path: str
    content: bytes
    problem: str = ""
    excess: str = ""
    absent: bool = False
    recalled: RecalledFile | None = None


class OptionsLookup(Protocol):
    """Settings that give the options of a path."""

    def options_for(self, path: str) -> Options:
        """Return the options of the system that this path belongs to."""


def max_file_bytes(path: str, rules: OptionsLookup) -> int:
    """Return the largest size in bytes at which a file is read at all."""
    return MAX_BYTES_PER_CHARACTER * rules.options_for(path).limits.bytes


def oversized_file(path: str, most: int) -> RawFile:
    """Build the raw file of a path whose content exceeds the limit."""
    return RawFile(path, b"", excess=f"{most // MAX_BYTES_PER_CHARACTER} characters")


DIALECT_EVIDENCE = {
    "sqlmesh": "the SQLMesh model or its project",
    "dataform": "Dataform writes for BigQuery",
}
"""Why a file has the dialect that its templater reports, by templater."""

FileRows = tuple[SqlFile, Source, Sequence[Diagnostic]]


class RenderingRules(Protocol):
    """The settings that rendering needs."""

    def options_for(self, path: str) -> Options:
        """Return the options of the system that this path belongs to."""

    def templating_for(self, path: str) -> Templating:
        """Return how the file at this path is rendered."""

    def selects(self, path: str) -> bool:
        """Return whether the file at this path is read."""

    def leaves_out(self, path: str) -> bool:
        """Return whether the file at this path is excluded, whatever kind of file it is."""


def render_rows(file: SqlFile, source: Source, templates: RepositoryTemplaters, rules: RenderingRules) -> FileRows:
    """Return the rows of a file after rendering; a file that is no template keeps its rows."""
    if file.status is Status.FAILED or file.templater:  # nothing was read, or a host has been taken apart
        return file, source, ()
    wanted, own = rules.templating_for(file.path), parse_header(source.text).get("templater", "")
    if own:
        wanted = msgspec.structs.replace(wanted, templater=own)
    try:
        configured = rules.options_for(file.path).dialect
        done = templates.render(file.path, source.text, file.dialect, wanted, configured)
    except LineageError as error:
        if not own:  # settings that name nobody are a mistake, a file that does is a finding
            raise
        text = SourceText(file.path, find_line_starts(source.text))
        at = max(source.text.find("templater"), 0)
        return file, source, [build_diagnostic("TEMPLATE_ERROR", {"reason": str(error)}, text, at, Stage.DISCOVERY)]
    if done is None:
        return file, source, ()
    templater, rendering = done
    row = msgspec.structs.replace(file, templater=templater)
    if not file.dialect and (rendering.dialect or rendering.evidence):
        evidence = rendering.evidence or _dialect_evidence(templater)
        row = msgspec.structs.replace(row, dialect=rendering.dialect, evidence=evidence)
    return _build_rows(row, source, rendering)


def _dialect_evidence(templater: str) -> str:
    return DIALECT_EVIDENCE.get(templater, f"the templater {templater}")


def render_project_rows(
    templates: RepositoryTemplaters, rules: RenderingRules, known: Collection[str]
) -> Iterator[FileRows]:
    """Yield rows of files without SQL that define objects: seeds, YAML and packages of dbt projects in use."""
    for further in templates.dbt.project_files(known) if templates.dbt is not None else ():
        if further.path in known or not _is_selected(further.path, further.templater, rules):
            continue
        options = rules.options_for(further.path)
        content = hash_text(further.text)
        source = Source(
            source_hash=content,
            content_hash=content,
            text=further.text,
            rendered=further.rendered.text,
            source_map=further.rendered.copies,
        )
        row = SqlFile(
            path=further.path,
            system=options.system,
            dialect=options.dialect or further.rendered.dialect,
            source_hash=content,
            bytes=len(further.text.encode()),
            encoding="utf-8",
            templater=further.templater,
            status=Status.ANALYSED,
            owners=(),
            evidence="settings" if options.dialect else further.rendered.evidence or None,
        )
        yield _build_rows(row, source, further.rendered)


def render_declared_schemas(library: Library, rules: RenderingRules) -> Iterator[FileRows]:
    """Yield rows of files that declare the columns of the table of a query beside them."""
    queries = {
        path: query
        for path, query in find_declared_schemas(library.paths())
        if not rules.leaves_out(path) and rules.selects(query)
    }
    for path, text in library.read_all(queries):
        found = read_declared_schema(path, text or "", queries[path])
        if found is None:
            continue
        options, content = rules.options_for(path), hash_text(found.text)
        row = SqlFile(
            path=path,
            system=options.system,
            dialect=options.dialect,
            source_hash=content,
            bytes=len(found.text.encode()),
            encoding="utf-8",
            templater=SCHEMA_TEMPLATER,
            status=Status.ANALYSED,
            owners=(),
            evidence="settings" if options.dialect else None,
        )
        listed = msgspec.json.encode((found.table,) if found.table is not None else ()).decode()
        source = Source(
            source_hash=content, content_hash=content, text=found.text, rendered=listed, source_map=NO_COPIES
        )
        wrong = (Problem("TEMPLATE_ERROR", {"reason": found.problem}),) if found.problem else ()
        yield _build_rows(row, source, Rendered(listed, NO_COPIES, wrong))


def _is_selected(path: str, templater: str, rules: RenderingRules) -> bool:
    """Return whether a row of a project file is kept: not excluded, and an SQL file at its place would be read.

    Files that describe tables are kept, since they affect files elsewhere.
    """
    if rules.leaves_out(path):
        return False
    return templater == SCHEMA_TEMPLATER or rules.selects(path) or rules.selects(posixpath.splitext(path)[0] + ".sql")


def _build_rows(file: SqlFile, source: Source, rendering: Rendered) -> FileRows:
    rendered = replace_surrogates(rendering.text)
    identity = "\0".join((source.content_hash, file.templater, rendered, *map(str, rendering.copies)))
    row = Source(
        source_hash=hash_text(identity),
        content_hash=source.content_hash,
        text=source.text,
        rendered=rendered,
        source_map=rendering.copies,
    )
    text = SourceText(file.path, find_line_starts(source.text))
    found = [build_diagnostic(one.code, one.values, text, one.offset, Stage.DISCOVERY) for one in rendering.problems]
    return msgspec.structs.replace(file, source_hash=row.source_hash), row, found


LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""First bytes of a Git LFS pointer file, which only names where its content is."""

LIMIT_CODE = "LIMIT_EXCEEDED"

MAX_SUGGESTED_PATHS = 3
"""How many files without an ending a finding names one by one."""


class DiscoveryRules(OptionsLookup, Protocol):
    """The settings that discovery needs."""

    def selects(self, path: str) -> bool:
        """Return whether the file at this path is read, whatever is in it."""

    def choose(self, path: str) -> FileChoice:
        """Return what becomes of the file at this path."""

    def leaves_out(self, path: str) -> bool:
        """Return whether the file at this path is excluded, whatever kind of file it is."""

    def list_required_files(self) -> Collection[str]:
        """Return the paths of files that must exist."""

    def templating_for(self, path: str) -> Templating:
        """Return how the file at this path is rendered."""


class FileSurroundings(NamedTuple):
    """What surrounds the files: their owners, and the files that templates may load."""

    owners: CodeOwners | None = None
    library: Library = NoLibrary()


class Discovery(msgspec.Struct, frozen=True):
    """One repository at one moment: files in natural path order, and each distinct content once.

    `waivers` is the text of its waiver file, empty where there is none. `unread` files look like SQL and are not read.
    `votes` are the dialects that nothing declares.
    """

    snapshot: Snapshot
    files: tuple[SqlFile, ...]
    sources: tuple[Source, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    waivers: str = ""
    unread: tuple[UnreadFile, ...] = ()
    votes: tuple[DialectVote, ...] = ()

    @property
    def key(self) -> str:
        """Return the key of the snapshot: `<repo>@<commit>`."""
        return f"{self.snapshot.repo}@{self.snapshot.commit}"


class DiscoveryReader:
    """Reads raw files into rows one by one, in natural path order, without keeping their contents.

    With `detect`, files without a configured dialect get that of their project or tree.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        raw_files: Iterable[RawFile],
        rules: DiscoveryRules,
        around: FileSurroundings | None = None,
        **said: Any,
    ) -> None:
        """Store what is to be read; nothing is read yet.

        `said`: `findings`, `waivers`, a callable for the `positions` of files, whether to `detect` dialects, the
        `selection` that chose the files, and what is known with the first file: paths of database `projects`, and
        nested repositories, `modules`.
        """
        self.snapshot = snapshot
        self.raw_files = raw_files
        self.rules = rules
        self.around = around or FileSurroundings()
        self.detect = bool(said.get("detect"))
        self.waivers: str = said.get("waivers", "")
        self.diagnostics: list[Diagnostic] = list(said.get("findings", ()))
        self.positions: Callable[[], Mapping[str, int]] = said.get("positions", dict)
        self.projects: Sequence[str] = said.get("projects", ())
        self.modules: Sequence[str] = said.get("modules", ())
        self.selection: FileSelection | None = said.get("selection")
        self.files: list[SqlFile] = []
        self.agreed: AgreedDialects = {}
        self.templates = RepositoryTemplaters(self.around.library)
        self.signs: dict[str, tuple[str, ...]] = {}
        self._told: dict[str, tuple[Diagnostic, ...]] = {}

    def follow(self, agreed: AgreedDialects) -> Self:
        """Read the files in these dialects where nothing declares one; call it before anything is read."""
        self.agreed, self.templates = agreed, RepositoryTemplaters(self.around.library, agreed)
        return self

    def sources(self) -> Iterator[Source]:
        """Read all files and yield each distinct content once."""
        seen: set[str] = set()
        for file, source, findings in _iter_rows(self._to_read(), self.rules, self.around, self.templates):
            self._add_rows(RecalledFile(file, self._find_signs(file, source), tuple(findings)))
            if source.source_hash not in seen:
                seen.add(source.source_hash)
                yield source

    def _find_signs(self, file: SqlFile, source: Source) -> tuple[str, ...]:
        """Return the signs of dialects in a file that nothing says the dialect of."""
        if not self.detect or file.dialect or file.templater in (SCHEMA_TEMPLATER, DBT):
            return ()
        hosted = file.templater in HOST_NAMES
        named = () if hosted else find_name_signs(file.path, find_shebang_dialect(source.text) or "")
        return (*find_signs(source.rendered, source.text if hosted else ""), *named)

    def _to_read(self) -> Iterator[RawFile]:
        """Yield the files whose rows are not recalled; recalled rows are added in their turn."""
        for raw in self.raw_files:
            if raw.recalled is None:
                yield raw
            else:
                self._add_rows(raw.recalled)

    def _add_rows(self, found: RecalledFile) -> None:
        file = found.file
        self.files.append(file)
        self.diagnostics.extend(found.findings)
        self.signs[file.path] = found.signs
        if found.findings:
            self._told[file.path] = found.findings

    def to_recall(self) -> dict[str, RecalledFile]:
        """Return what was found about each file; call it after all sources are consumed."""
        return {
            file.path: RecalledFile(file, self.signs[file.path], self._told.get(file.path, ())) for file in self.files
        }

    def done(self, sources: Iterable[Source] = ()) -> Discovery:
        """Return the discovery after all sources are consumed; without a commit, its name is a hash of the files."""
        ordered = sorted(self.files, key=lambda file: natural_path_key(file.path))
        assigned, votes = self._assign_dialects(ordered)
        files = _set_positions(assigned, self.positions())
        found = {file.path for file in files}
        modules = [build_file_finding("SUBMODULE", path) for path in sorted(self.modules)]
        missing = [
            build_file_finding("FILE_MISSING", path) for path in self.rules.list_required_files() if path not in found
        ]
        named = msgspec.structs.replace(
            self.snapshot,
            commit=self.snapshot.commit or f"tree-{_hash_tree(files)}",
            files=len(files),
        )
        folders = self.selection.unread_folders() if self.selection is not None else ()
        findings = (*modules, *map(build_unread_finding, folders), *self.diagnostics, *missing, *_report_doubts(votes))
        return Discovery(
            snapshot=named,
            files=tuple(files),
            sources=tuple(sources),
            diagnostics=findings,
            waivers=self.waivers,
            unread=(
                *(self.selection.unread() if self.selection is not None else ()),
                *_find_oversized(files, findings),
            ),
            votes=votes,
        )

    def _assign_dialects(self, files: Sequence[SqlFile]) -> tuple[Sequence[SqlFile], tuple[DialectVote, ...]]:
        """Give files without a dialect that of their project or tree; return the votes as well."""
        if not self.detect:
            return files, ()
        declared = DeclaredDialects(self.around.library, self.projects)
        assigned, votes = assign_dialects(files, self.signs, declared, self.agreed)
        projects = tuple(self.templates.dbt.votes()) if self.templates.dbt is not None else ()
        return assigned, (*projects, *votes)

    def whole(self) -> Discovery:
        """Read all files and keep their contents."""
        sources = sorted(self.sources(), key=lambda source: source.source_hash)
        return self.done(sources)

    def key(self) -> str:
        """Read all files only to compute the key of the snapshot."""
        for _ in self.sources():
            pass
        return self.done().key


def _report_doubts(votes: Iterable[DialectVote]) -> Iterator[Diagnostic]:
    """Report the votes with which another dialect had nearly as many signs."""
    for vote in votes:
        if vote.other:
            where = vote.folder or "these files"
            said = {
                "where": where,
                "dialect": vote.dialect or "generic SQL",
                "evidence": vote.evidence,
                "other": vote.other,
            }
            yield build_file_finding("DIALECT_UNCERTAIN", None, **said)


def _set_positions(files: Sequence[SqlFile], positions: Mapping[str, int]) -> Sequence[SqlFile]:
    """Set the position of files that run before or after all others."""
    if not positions:
        return files
    return [msgspec.structs.replace(file, position=positions.get(file.path)) for file in files]


def _iter_rows(
    raw_files: Iterable[RawFile], rules: DiscoveryRules, around: FileSurroundings, templates: RepositoryTemplaters
) -> Iterator[FileRows]:
    """Yield the rows of each file, decoded and rendered, and of files that projects around them add."""
    extractor, known = RepositoryExtractor(RepositoryModules(around.library)), set[str]()
    for raw in raw_files:
        file, source, problems = _read_raw_file(raw, rules, templates, extractor)
        if file is None:
            continue
        known.add(file.path)
        owned = msgspec.structs.replace(file, owners=around.owners.of(raw.path)) if around.owners else file
        row, source, findings = render_rows(owned, source, templates, rules)
        yield row, source, [_encodable_finding(one) for one in (*problems, *findings)]
    yield from render_project_rows(templates, rules, known)
    yield from render_declared_schemas(around.library, rules)


def build_input_files(discovery: Discovery, rules: DiscoveryRules) -> Iterator[InputFile]:
    """Return the files as engine inputs, in natural path order; unreadable files only have a finding."""
    yield from build_inputs_from_rows(discovery.files, discovery.sources, rules)


def is_analyzable(file: SqlFile) -> bool:
    """Return whether a file could be read and holds SQL."""
    return file.status is not Status.FAILED and file.templater != SCHEMA_TEMPLATER


def build_inputs_from_rows(
    files: Iterable[SqlFile], sources: Iterable[Source], rules: OptionsLookup
) -> Iterator[InputFile]:
    """Return the readable files among the given rows as engine inputs."""
    known = {source.source_hash: source for source in sources}
    for file in files:
        if is_analyzable(file):
            source = known[file.source_hash]
            written = SourceMap.from_copies(source.text, source.source_map)
            options = options_of_row(file, rules.options_for(file.path))
            yield InputFile(
                path=file.path,
                text=source.rendered,
                options=options,
                owners=file.owners,
                written=written,
                source=file.source_hash,
                position=file.position or 0,
            )


def build_file_finding(code: str, path: str | None, **values: str) -> Diagnostic:
    """Build a discovery finding about a whole file."""
    message = CODES[code].message.format(**values)
    identity = hash_text("\0".join((code, path or "", message)))[:16]
    return Diagnostic(
        id=identity,
        code=code,
        severity=CODES[code].severity,
        message=message,
        path=path,
        line=None,
        column=None,
        object=None,
        stage=Stage.DISCOVERY,
    )


def add_unread_folders(found: Discovery, folders: Sequence[UnreadFolder]) -> Discovery:
    """Return a discovery with unread files of further folders, and the findings about them."""
    unread = (*found.unread, *(file for folder in folders for file in folder.files))
    reported = (*found.diagnostics, *map(build_unread_finding, folders))
    return msgspec.structs.replace(found, unread=unread, diagnostics=reported)


def build_unread_finding(folder: UnreadFolder) -> Diagnostic:
    """Build the finding about the files of a folder that look like SQL and are not read."""
    patterns = _suggest_patterns(folder)
    some = f" ({folder.opened} of {folder.unknown} files with unknown endings were looked at)"
    return build_file_finding(
        "UNREAD_FILES",
        folder.path,
        subject=describe_unread(len(folder.files)),
        counts=count_by_ending(folder.files) + (some if folder.opened < folder.unknown else ""),
        remedy=f"to read them, set include = [{', '.join(patterns)}]"
        if patterns
        else "see `lineage explain UNREAD_FILES`",
    )


def _suggest_patterns(folder: UnreadFolder) -> list[str]:
    """Return the patterns for `include` that would read the files of a folder whose endings are unknown."""
    unknown = [file for file in folder.files if file.reason is UnreadReason.UNKNOWN_ENDING]
    named = [f"*{ending}" for ending in sorted({file.ending for file in unknown}) if ending.startswith(".")]
    others = [file.path for file in unknown if not file.ending.startswith(".")]
    few = others[:MAX_SUGGESTED_PATHS] if len(others) <= MAX_SUGGESTED_PATHS else [f"{folder.path}/*"]
    return [f'"{pattern}"' for pattern in (DEFAULTS, *named, *few)] if unknown else []


def _find_oversized(files: Iterable[SqlFile], findings: Iterable[Diagnostic]) -> list[UnreadFile]:
    """Return the files that are not read because of their size; each has a finding of its own."""
    large = {finding.path for finding in findings if finding.code == LIMIT_CODE}
    failed = [file.path for file in files if file.status is Status.FAILED and file.path in large]
    return [UnreadFile(path, UnreadReason.TOO_LARGE) for path in failed]


def hash_text(text: str) -> str:
    """Return the SHA-256 of a text in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _read_raw_file(
    raw: RawFile, rules: DiscoveryRules, templates: RepositoryTemplaters, extractor: RepositoryExtractor
) -> tuple[SqlFile | None, Source, list[Diagnostic]]:
    """Decode one file, extract SQL from a host language, and report problems; a host file without SQL is dropped."""
    raw = _unpack(raw, rules)
    decoded = decode_content(raw.content)
    problem, findings = _describe_problem(raw, decoded.problem)
    given = rules.options_for(raw.path)
    reading = resolve_file_options(decoded.text, given)
    findings += _report_header_words(raw.path, decoded.text)
    options = reading.options
    taken = templates.takes_program(raw.path, decoded.text, given.dialect, rules.templating_for(raw.path))
    host = extractor.extract(raw.path, decoded.text, options.dialect) if not problem and not taken else None
    plain = _comment_front_matter(_comment_shebang(decoded.text))
    rendered, copies = (replace_surrogates(host.text), host.copies) if host is not None else (plain, ())
    content_hash = hashlib.sha256(raw.content).hexdigest()
    made = f"{host.host} {hash_text(rendered)}" if host is not None else ""
    source = Source(
        source_hash=hash_text("\0".join((content_hash, made))),
        content_hash=content_hash,
        text=decoded.text,
        rendered=rendered,
        source_map=copies,
    )
    if host is not None:
        text = SourceText(raw.path, find_line_starts(decoded.text))
        findings += [
            build_diagnostic(one.code, dict(one.values), text, one.at, Stage.DISCOVERY) for one in host.problems
        ]
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


def _unpack(raw: RawFile, rules: OptionsLookup) -> RawFile:
    """Return a file with its content unpacked, within the limit that holds for plain files."""
    if not is_gzip(raw.path, raw.content):
        return raw
    most = max_file_bytes(raw.path, rules)
    try:
        content = unpack_gzip(raw.content, most)
    except OSError as error:
        return msgspec.structs.replace(raw, content=b"", problem=f"it cannot be unpacked: {error}")
    return msgspec.structs.replace(raw, content=content) if content is not None else oversized_file(raw.path, most)


def _comment_shebang(text: str) -> str:
    """Return a script with `#!` in its first line as a comment of SQL, of the same length."""
    return f"--{text[len(SHEBANG_MARK) :]}" if text.startswith(SHEBANG_MARK) else text


FRONT_MATTER = re.compile(r"\A\s*(---)[ \t]*\r?\n(.*?)^(---)[ \t]*$", re.DOTALL | re.MULTILINE)
COMMENT_MARKS = re.compile(r"\*/|/\*")


def _comment_front_matter(text: str) -> str:
    """Return a text whose head of YAML between two lines `---` is a comment of SQL, of the same length."""
    match = FRONT_MATTER.match(text)
    if match is None or not _is_mapping(match[2]):
        return text
    inner = COMMENT_MARKS.sub("  ", match[2])
    return f"{text[: match.start(1)]}/* {text[match.end(1) : match.start(2)]}{inner}*/ {text[match.end(3) :]}"


def _is_mapping(text: str) -> bool:
    """Return whether a text is YAML with keys."""
    try:
        return isinstance(load_yaml(text), Mapping)
    except (yaml.YAMLError, ValueError, RecursionError):
        return False


def _encodable_finding(finding: Diagnostic) -> Diagnostic:
    """Return the finding with texts that can be encoded, whatever program text it quotes."""
    message = replace_surrogates(finding.message)
    return finding if message == finding.message else msgspec.structs.replace(finding, message=message)


def _describe_problem(raw: RawFile, undecoded: str) -> tuple[str, list[Diagnostic]]:
    """Return why a file cannot be read, and its findings."""
    if raw.content.startswith(LFS_POINTER):
        return "a pointer", [build_file_finding("LFS_POINTER", raw.path)]
    if raw.excess:
        return "too large", [build_file_finding(LIMIT_CODE, raw.path, what="the file", limit=raw.excess)]
    if raw.absent:
        return "absent", [build_file_finding("CONTENT_MISSING", raw.path)]
    problem = raw.problem or undecoded
    return problem, [build_file_finding("ENCODING_ERROR", raw.path, reason=problem)] if problem else []


def _report_header_words(path: str, text: str) -> list[Diagnostic]:
    """Report unknown words in the `-- lineage:` header comment."""
    found = find_unknown_header_words(text)
    place = SourceText(path, find_line_starts(text)) if found else None
    known = ", ".join(sorted(HEADER_KEYS))
    return [
        build_diagnostic("HEADER_UNKNOWN", {"word": word, "known": known}, place, at, Stage.DISCOVERY)
        for word, at in found
        if place is not None
    ]


def _hash_tree(files: Iterable[SqlFile]) -> str:
    """Hash a set of files by path, content and deployment position."""
    placed = ((file, f"\0{file.position}" if file.position else "") for file in files)
    return hash_text("".join(f"{file.path}\0{file.source_hash}{place}\n" for file, place in placed))[:40]
