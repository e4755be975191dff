"""A git repository: branches, tags, commits, and the files of a revision, read without a checkout."""

import os
import subprocess
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from itertools import chain, islice
from pathlib import Path
from typing import IO

import msgspec

from lineage_pipeline.discover.code_owners import OWNER_FILES, parse_code_owners
from lineage_pipeline.discover.discovery import (
    Discovery,
    DiscoveryReader,
    DiscoveryRules,
    FileSurroundings,
    RawFile,
    build_file_finding,
    max_file_bytes,
    oversized_file,
)
from lineage_pipeline.discover.file_selection import FileSelection
from lineage_pipeline.discover.folder import MAX_TEXT_BYTES, name_repository, open_folder
from lineage_pipeline.discover.git.boundary import (
    LINK,
    SUBMODULE,
    ForeignRepositoryError,
    RevisionLibrary,
    find_trusted_top,
    resolve_tree_links,
)
from lineage_pipeline.discover.ignore_rules import REVISION_IGNORE_FILES, IgnoreRules
from lineage_pipeline.discover.sql_sniffing import HEAD_BYTES
from lineage_pipeline.discover.sqlproj import SQLPROJ_SUFFIX, find_deployment_positions
from lineage_pipeline.discover.waiver_file import WAIVER_FILE_NAME
from lineage_pipeline.files.bounded_files import DOCUMENT, SETTINGS, read_bounded_file
from lineage_pipeline.files.encoding import decode_content
from lineage_pipeline.files.git_command import open_git_output, run_git, start_git
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.tables import Diagnostic, Snapshot


class Blob(msgspec.Struct, frozen=True):
    """A file of a tree, by its object id; one of more than `most` bytes is not read.

    Of a file with a `selection`, the first bytes decide whether it is read.
    """

    path: str
    id: str
    mode: str = "100644"
    most: int = 0
    selection: FileSelection | None = None


def read_blob_contents(
    start: Callable[[], subprocess.Popen[bytes]], blobs: Iterable[Blob], repo: Path
) -> Iterator[RawFile]:
    """Yield the contents of blobs; git ends at an object it would have to fetch, and is restarted behind it."""
    left = iter(blobs)
    unread = list(islice(left, MAX_BATCH_BLOBS))
    while unread:
        unread = (yield from _read_batch(start, chain(unread, left), repo)) or list(islice(left, MAX_BATCH_BLOBS))


def _read_batch(
    start: Callable[[], subprocess.Popen[bytes]], blobs: Iterator[Blob], repo: Path
) -> Generator[RawFile, None, list[Blob]]:
    """Yield contents until git ends; return the blobs that it did not answer."""
    with start() as process:
        assert process.stdin
        answered = open_git_output(process, repo)
        while asked := list(islice(blobs, MAX_BATCH_BLOBS)):
            process.stdin.write("".join(f"{blob.id}\n" for blob in asked).encode("ascii"))
            process.stdin.flush()
            for number, blob in enumerate(asked, 1):
                line = answered.readline()
                raw = _read_blob_answer(answered, blob, line.split())
                yield from [raw] if raw is not None else []
                if not line:
                    return asked[number:]
    return []


MAX_BATCH_BLOBS = 200
"""Blobs requested at once: few enough that the pipe takes all names without being read."""


def _read_blob_answer(stream: IO[bytes], blob: Blob, header: Sequence[bytes]) -> RawFile | None:
    """Read the content that a header line of `git cat-file` announces; None for a file that is not taken."""
    if len(header) != 3:
        missed = blob.selection is None or blob.selection.expects(blob.path)
        return RawFile(blob.path, b"", absent=True) if missed else None
    size = int(header[2])
    head = stream.read(min(size, HEAD_BYTES)) if blob.selection is not None else b""
    taken = blob.selection is None or blob.selection.takes(blob.path, head)
    if not taken or (blob.most and size > blob.most):
        _skip_bytes(stream, size - len(head) + 1)
        return oversized_file(blob.path, blob.most) if taken else None
    content = head + stream.read(size - len(head))
    stream.read(1)
    return RawFile(blob.path, content)


def _skip_bytes(stream: IO[bytes], size: int) -> None:
    """Read past some bytes without keeping them."""
    while size > 0 and (content := stream.read(min(size, 1 << 20))):
        size -= len(content)


WORKTREE = "WORKTREE"
"""The revision that means the folder on disk."""

MISSING_CONTENT_CODE = "CONTENT_MISSING"
"""Finding code for a file whose content is missing in a partial clone."""

MAX_LINK_BYTES = 10_000
"""Size in bytes beyond which a symbolic link is not followed: a small object may expand to a gigabyte."""

LONGEST_NAME, LAST = 1_000, 253_402_300_799
"""Characters of an author, and the last second that has a date of four digits."""

REGULAR_FILE_MODES = frozenset({"100644", "100755"})
"""Modes of tree entries that hold content."""


FIRST_PARENT, LAST_LOOK = "first-parent", "last-look"
"""Rules by which a base is chosen: the commit before, or where the ref was when it was last looked at."""


class BaseChoice(msgspec.Struct, frozen=True):
    """What a revision is compared with: its merge base with `ref`, else `seen` (where its ref was), else its parent."""

    ref: str = ""
    seen: str = ""


class Commit(msgspec.Struct, frozen=True):
    """What is known about a commit."""

    id: str
    parents: tuple[str, ...]
    committed_at: str
    author: str


def discover_revision(
    repo: Path, revision: str, rules: DiscoveryRules, *, name: str = "", base_ref: str = "", analysis_key: str = ""
) -> Discovery:
    """Read the selected files of a revision; its base is the merge base with `base_ref`, else the first parent."""
    choice = BaseChoice(base_ref)
    return open_revision(repo, revision, rules, name=name, base=choice, analysis_key=analysis_key).whole()


def open_revision(
    repo: Path,
    revision: str,
    rules: DiscoveryRules,
    *,
    name: str = "",
    base: "BaseChoice | None" = None,
    analysis_key: str = "",
) -> DiscoveryReader:
    """Prepare to read the selected files of a revision one by one; the snapshot stores `analysis_key`."""
    top = find_toplevel(repo)
    if revision == WORKTREE:
        return _open_worktree(top, rules, name, analysis_key)
    commit = read_commit(top, resolve_commit(top, revision))
    choice = base or BaseChoice()
    found, base_rule, findings = find_snapshot_base(top, commit, choice.ref)
    if choice.seen not in ("", found) and base_rule == FIRST_PARENT and has_commit(top, choice.seen):
        found, base_rule = choice.seen, LAST_LOOK
    snapshot = Snapshot(
        repo=name or name_repository(top),
        refs=list_refs_at(top, commit.id),
        commit=commit.id,
        parents=commit.parents,
        base=found,
        base_rule=base_rule,
        committed_at=commit.committed_at,
        author=commit.author,
        files=0,
        analysis_key=analysis_key,
    )
    entries = list(list_tree_entries(top, commit.id))
    tree = _resolve_links(top, entries)
    ignores = _read_revision_ignores(top, tree)
    selection = FileSelection(rules)
    blobs = list(_select_blobs([blob for blob in tree if not ignores.ignores(blob.path)], rules, selection))
    said = _read_first_text(top, tree, OWNER_FILES)
    owners = parse_code_owners(said) if said else None
    library = RevisionLibrary(
        {blob.path: blob.id for blob in tree}, lambda blob: _read_blob(top, blob), lambda ids: _read_objects(top, ids)
    )
    around, waivers = FileSurroundings(owners, library), _read_first_text(top, tree, [WAIVER_FILE_NAME])
    projects = [blob.path for blob in tree if blob.path.endswith(SQLPROJ_SUFFIX)]
    known = {
        "waivers": waivers,
        "positions": lambda: find_deployment_positions(projects, library.read),
        "projects": projects,
        "selection": selection,
    }
    known["modules"] = [entry.path for entry in entries if entry.mode == SUBMODULE]
    return DiscoveryReader(snapshot, read_blobs(top, blobs), rules, around, detect=True, findings=findings, **known)


def _select_blobs(tree: Sequence[Blob], rules: DiscoveryRules, selection: FileSelection) -> Iterator[Blob]:
    """Yield the files of a tree that are opened, in natural path order, each with its limit."""
    known = {blob.path: blob for blob in tree}
    for path in selection.select(known):
        look = selection if selection.needs_look(path) else None
        yield msgspec.structs.replace(known[path], most=max_file_bytes(path, rules), selection=look)


def _resolve_links(repo: Path, entries: Sequence[Blob]) -> list[Blob]:
    """Return the files of a tree; a symbolic link to one of them gets its content."""
    files = {entry.path: entry for entry in entries if entry.mode in REGULAR_FILE_MODES}
    linking = [entry for entry in entries if entry.mode == LINK]
    if linking:
        short = [msgspec.structs.replace(entry, most=MAX_LINK_BYTES) for entry in linking]
        links = {file.path: os.fsdecode(file.content) for file in read_blobs(repo, short) if file.content}
        targets = resolve_tree_links(links, files)
        files |= {path: msgspec.structs.replace(files[target], path=path) for path, target in targets.items()}
    return list(files.values())


def refuse_missing_contents(found: Discovery) -> None:
    """Refuse a revision with missing contents: unread files would look new or removed."""
    absent, commit = [one for one in found.diagnostics if one.code == MISSING_CONTENT_CODE], found.snapshot.commit
    if not absent:
        return
    raise LineageError(
        f"this is a partial clone without the contents of {len(absent)} files of {commit[:12]}, {absent[0].path} among "
        f"them: fetch them with `git archive {commit} > {os.devnull}`, or clone without --filter"
    )


def read_waiver_text(repo: Path, commit: str) -> str:
    """Read the waiver file of a commit, or of the folder; empty where there is none."""
    if commit.startswith("tree-"):
        file = repo / WAIVER_FILE_NAME
        return decode_content(read_bounded_file(file, SETTINGS)).text if file.is_file() else ""
    top = find_toplevel(repo)
    return _read_first_text(top, list_tree_entries(top, commit), [WAIVER_FILE_NAME])


def read_tracked_files(repo: Path, revision: str, place: str, endings: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Yield a file, or those of a folder that have one of some endings, by path, as a revision has them."""
    top = find_toplevel(repo)
    blobs = [
        msgspec.structs.replace(blob, most=DOCUMENT)
        for blob in list_tree_entries(top, resolve_commit(top, revision))
        if blob.path == place or (blob.path.startswith(f"{place}/") and blob.path.lower().endswith(endings))
    ]
    for file in read_blobs(top, sorted(blobs, key=lambda blob: blob.path)):
        if not (file.absent or file.problem or file.excess):
            yield file.path, file.content


def _read_first_text(repo: Path, tree: Iterable[Blob], places: Sequence[str]) -> str:
    """Read the first of some files that a revision has."""
    known = {blob.path: blob for blob in tree if blob.path in places}
    found = next((known[place] for place in places if place in known), None)
    files = list(_read_small_blobs(repo, [found])) if found is not None else []
    return decode_content(files[0].content).text if files else ""


def _read_small_blobs(repo: Path, blobs: Iterable[Blob]) -> Iterator[RawFile]:
    """Read files beside the SQL; one that exceeds the size limit is not read."""
    return read_blobs(repo, [msgspec.structs.replace(blob, most=MAX_TEXT_BYTES) for blob in blobs])


def _read_revision_ignores(repo: Path, tree: Iterable[Blob]) -> IgnoreRules:
    """Read the ignore rules of a revision."""
    found = [blob for blob in tree if blob.path.rpartition("/")[2] in REVISION_IGNORE_FILES]
    texts = {file.path: decode_content(file.content).text for file in _read_small_blobs(repo, found)} if found else {}
    return IgnoreRules(texts.get, REVISION_IGNORE_FILES)


def _read_blob(repo: Path, blob: str) -> bytes | None:
    """Read one object by its id."""
    try:
        return run_git(repo, "cat-file", "blob", blob)
    except LineageError:
        return None


def _read_objects(repo: Path, blobs: Sequence[str]) -> Iterator[bytes | None]:
    """Read objects by their ids, in order; None for what is too large or not there."""
    named = [Blob(path=blob, id=blob, most=MAX_TEXT_BYTES) for blob in blobs]
    for file in read_blobs(repo, named):
        yield None if file.absent or file.problem or file.excess else file.content


def _open_worktree(top: Path, rules: DiscoveryRules, name: str, analysis_key: str) -> DiscoveryReader:
    """Prepare to read the folder on disk: tracked files, changed or not, and new files that are not ignored."""
    if run_git(top, "rev-parse", "--is-inside-work-tree").strip() != b"true":
        raise LineageError(f"{top} is a bare repository: it has no {WORKTREE}")
    return open_folder(top, rules, name=name, analysis_key=analysis_key)


def find_toplevel(path: Path) -> Path:
    """Return the top folder of the repository around a path; for a bare repository, its own folder."""
    if not path.is_dir():
        raise LineageError(f"{path} is not a folder")
    return find_trusted_top(path)


def is_repository(path: Path) -> bool:
    """Return whether a path lies in a git repository."""
    try:
        return bool(find_toplevel(path))
    except ForeignRepositoryError:
        raise
    except LineageError:
        return False


def resolve_commit(repo: Path, revision: str) -> str:
    """Return the commit id that a revision names."""
    try:
        found = run_git(repo, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except LineageError:
        raise LineageError(f"{revision} is not a revision of {repo}") from None
    return found.decode("ascii").strip()


def has_commit(repo: Path, commit: str) -> bool:
    """Return whether a repository exists and has a commit."""
    try:
        return repo.is_dir() and bool(resolve_commit(repo, commit))
    except LineageError:
        return False


def find_merge_base(repo: Path, one: str, other: str) -> str | None:
    """Return the best common ancestor of two commits, or None where they have none."""
    try:
        return run_git(repo, "merge-base", one, other).decode("ascii").strip()
    except LineageError:
        return None


def find_snapshot_base(repo: Path, commit: Commit, base_ref: str) -> tuple[str | None, str, tuple[Diagnostic, ...]]:
    """Return the base commit of a snapshot, the rule that chose it, and a finding where it is not available."""
    if base_ref:
        rule = f"merge-base:{base_ref}"
        try:
            base = find_merge_base(repo, commit.id, resolve_commit(repo, base_ref))
        except LineageError as error:
            return None, rule, (build_file_finding("BASE_MISSING", None, base=base_ref, reason=str(error)),)
        if base is None:
            return None, rule, (build_file_finding("BASE_MISSING", None, base=base_ref, reason="no common ancestor"),)
        if base != commit.id:
            return base, rule, ()
    return (commit.parents[0], FIRST_PARENT, ()) if commit.parents else (None, "none", ())


def read_commit(repo: Path, commit: str) -> Commit:
    """Read the parents, time and author of a commit."""
    shown = run_git(repo, "rev-list", "--max-count=1", "--format=%P%x00%ct%x00%an <%ae>", commit).decode(
        "utf-8", "replace"
    )
    parents, seconds, author = shown.split("\n", 1)[1].rstrip("\n").split("\0")
    return Commit(commit, tuple(parents.split()), _format_commit_time(int(seconds or 0)), author[:LONGEST_NAME])


def _format_commit_time(seconds: int) -> str:
    """Format the time of a commit; commits may claim any time, or none."""
    moment = datetime.fromtimestamp(min(max(seconds, 0), LAST), UTC)
    return moment.isoformat().replace("+00:00", "Z")


def list_first_parents(repo: Path, revision: str) -> list[str]:
    """List the commits that led to a revision along first parents, oldest first."""
    return (
        run_git(repo, "rev-list", "--first-parent", "--reverse", resolve_commit(repo, revision)).decode("ascii").split()
    )


def list_refs_at(repo: Path, commit: str) -> tuple[str, ...]:
    """Return the branches and tags that point at a commit."""
    shown = run_git(
        repo, "for-each-ref", "--format=%(refname:short)", f"--points-at={commit}", "refs/heads", "refs/tags"
    )
    return tuple(sorted(name for name in shown.decode("utf-8", "replace").split("\n") if name))


def list_tree_entries(repo: Path, commit: str) -> Iterator[Blob]:
    """Return the files, links and submodules of a commit."""
    try:
        listed = run_git(repo, "ls-tree", "-r", "-z", "--full-tree", commit)
    except LineageError:
        if not _is_partial_clone(repo):
            raise
        raise LineageError(
            f"this is a partial clone without the folders of {commit[:12]}: fetch them with `git archive {commit} > "
            f"{os.devnull}`, or clone without --filter"
        ) from None
    for entry in listed.split(b"\0"):
        if entry:
            described, path = entry.split(b"\t", 1)
            mode, _, blob = described.decode("ascii").split()
            yield Blob(path.decode("utf-8", "backslashreplace"), blob, mode)


def _is_partial_clone(repo: Path) -> bool:
    """Return whether a clone fetches missing objects on demand."""
    try:
        return bool(run_git(repo, "config", "--get-regexp", r"^remote\..*\.promisor$"))
    except LineageError:
        return False


def read_blobs(repo: Path, blobs: Iterable[Blob]) -> Iterator[RawFile]:
    """Yield contents one by one through a single git process, which is restarted where it ends."""
    quiet = subprocess.DEVNULL  # of what it has not got, we tell in our own words

    def start() -> subprocess.Popen[bytes]:
        return start_git(repo, "cat-file", "--batch", stdin=subprocess.PIPE, stderr=quiet)

    yield from read_blob_contents(start, blobs, repo)


BRANCH_PREFIX = "refs/heads/"
REF_PREFIXES = ("refs/heads", "refs/tags", "refs/remotes")
SEPARATE_PREFIXES = ("tags/", "remotes/")
"""Name prefixes of tags and remote branches; only patterns with the same prefix match them."""


def list_refs(repo: Path) -> dict[str, str]:
    """Return the commit of every ref: `main`, `tags/v1`, `remotes/origin/main`."""
    shown = run_git(
        repo, "for-each-ref", "--format=%(refname) %(objectname) %(objecttype) %(*objectname)", *REF_PREFIXES
    )
    found = {}
    for line in shown.decode("utf-8", "backslashreplace").removesuffix("\n").split("\n"):
        name, target, kind, *peeled = line.split(" ")
        if kind == "commit" or any(peeled):
            found[name.removeprefix(BRANCH_PREFIX).removeprefix("refs/")] = peeled[0] if any(peeled) else target
    return {name: found[name] for name in sorted(found) if not name.endswith("/HEAD")}


def select_refs(repo: Path, patterns: Sequence[str], base_ref: str) -> dict[str, str]:
    """Return the selected refs: by patterns, else the base ref, else the branch that is checked out."""
    if patterns:
        return {name: commit for name, commit in list_refs(repo).items() if is_ref_selected(name, patterns)}
    name = base_ref or "HEAD"
    return {_current_branch(repo) if name == "HEAD" else name: resolve_commit(repo, name)}


def is_ref_selected(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a pattern matches a name and none with `!` does; `*` crosses slashes."""
    kind = next((prefix for prefix in SEPARATE_PREFIXES if name.startswith(prefix)), "")
    fitting = [pattern for pattern in patterns if _separate_prefix(pattern.removeprefix("!")) == kind]
    hits = [pattern for pattern in fitting if fnmatchcase(name, pattern.removeprefix("!"))]
    return bool(hits) and not any(pattern.startswith("!") for pattern in hits)


def _separate_prefix(pattern: str) -> str:
    return next((prefix for prefix in SEPARATE_PREFIXES if pattern.startswith(prefix)), "")


def _current_branch(repo: Path) -> str:
    try:
        return run_git(repo, "symbolic-ref", "--short", "HEAD").decode("utf-8", "backslashreplace").strip()
    except LineageError:  # a commit is checked out, and no branch
        return "HEAD"


def list_gained_commits(repo: Path, before: str, after: str) -> list[str]:
    """Return the commits that a ref has gained, oldest first, along first parents; lost commits are ignored."""
    start = find_merge_base(repo, before, after) if has_commit(repo, before) else None
    return list_commits_between(repo, start, after) if start else [after]


def list_commits_between(repo: Path, start: str, end: str) -> list[str]:
    """Return the commits along first parents after one up to another, oldest first."""
    listed = run_git(repo, "rev-list", "--first-parent", "--reverse", end, f"^{start}").decode("ascii").split()
    return listed or [end]


def is_force_pushed(repo: Path, before: str, after: str) -> bool:
    """Return whether a ref was moved to a commit that does not contain its old one."""
    return not has_commit(repo, before) or find_merge_base(repo, before, after) != before
