"""A git revision, read from the object database: no checkout, and neither hooks, filters nor the network."""

import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from lineage_pipeline.discover.belonging import StrangerError, own_top
from lineage_pipeline.discover.blobs import Blob, contents
from lineage_pipeline.discover.bounded import SETTINGS, read_bounded
from lineage_pipeline.discover.commands import git, started
from lineage_pipeline.discover.decode import decode
from lineage_pipeline.discover.folder import MOST_TEXT, gather_folder, repository_name
from lineage_pipeline.discover.gather import Around, Discovery, Gathering, Rules, finding
from lineage_pipeline.discover.ignores import OWN_FILES, Ignores
from lineage_pipeline.discover.library import RevisionLibrary
from lineage_pipeline.discover.owners import PLACES, parse_owners
from lineage_pipeline.discover.raw import RawFile, most_bytes
from lineage_pipeline.discover.sqlproj import SUFFIX, positions
from lineage_pipeline.discover.tracked import LINK, SUBMODULE, followed
from lineage_pipeline.discover.waivers import FILE_NAME
from lineage_pipeline.engine.graph.scopes import natural
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.tables import Diagnostic, Snapshot

WORKTREE = "WORKTREE"
"""The revision that means: the folder as it lies on the disk."""

ABSENT = "CONTENT_MISSING"
"""What is told of a file whose content was left behind when the repository was cloned."""

LONGEST_LINK = 10_000
"""Bytes of a link beyond which it leads nowhere: a few bytes of a repository may stand for a gigabyte."""

LONGEST_NAME, LAST = 1_000, 253_402_300_799
"""Characters of an author, and the last second that has a date of four digits."""

REGULAR_FILES = frozenset({"100644", "100755"})
"""Modes that hold content."""


class Commit(msgspec.Struct, frozen=True):
    """What is known about a commit."""

    id: str
    parents: tuple[str, ...]
    committed_at: str
    author: str


def discover_revision(repo: Path, revision: str, rules: Rules, *, name: str = "", base_ref: str = "") -> Discovery:
    """Read the selected files of a revision; its base is the merge base with `base_ref`, else the first parent."""
    return gather_revision(repo, revision, rules, name=name, base_ref=base_ref).whole()


def gather_revision(repo: Path, revision: str, rules: Rules, *, name: str = "", base_ref: str = "") -> Gathering:
    """Prepare to read the selected files of a revision, one by one."""
    top = toplevel(repo)
    if revision == WORKTREE:
        return _gather_worktree(top, rules, name)
    commit = read_commit(top, resolve(top, revision))
    base, base_rule, findings = base_of(top, commit, base_ref)
    snapshot = Snapshot(
        repo=name or repository_name(top),
        refs=refs_at(top, commit.id),
        commit=commit.id,
        parents=commit.parents,
        base=base,
        base_rule=base_rule,
        committed_at=commit.committed_at,
        author=commit.author,
        files=0,
        analysis_key="",
    )
    entries = list(list_entries(top, commit.id))
    tree = _with_links(top, entries)
    ignores = _ignores(top, tree)
    chosen = (blob for blob in tree if rules.selects(blob.path) and not ignores.ignores(blob.path))
    ordered = sorted(chosen, key=lambda blob: natural(blob.path))
    blobs = [msgspec.structs.replace(blob, most=most_bytes(blob.path, rules)) for blob in ordered]
    said = _text(top, tree, PLACES)
    owners = parse_owners(said) if said else None
    library = RevisionLibrary({blob.path: blob.id for blob in tree}, lambda blob: _content(top, blob))
    around, waivers = Around(owners, library), _text(top, tree, [FILE_NAME])
    projects = [blob.path for blob in tree if blob.path.endswith(SUFFIX)]
    known = {"waivers": waivers, "positions": lambda: positions(projects, library.read), "projects": projects}
    known["modules"] = [entry.path for entry in entries if entry.mode == SUBMODULE]
    return Gathering(snapshot, read_blobs(top, blobs), rules, around, detect=True, findings=findings, **known)


def _with_links(repo: Path, entries: Sequence[Blob]) -> list[Blob]:
    """Give the files of a tree; a link to one of them has its content."""
    files = {entry.path: entry for entry in entries if entry.mode in REGULAR_FILES}
    linking = [entry for entry in entries if entry.mode == LINK]
    if linking:
        short = [msgspec.structs.replace(entry, most=LONGEST_LINK) for entry in linking]
        links = {file.path: os.fsdecode(file.content) for file in read_blobs(repo, short) if file.content}
        targets = followed(links, files)
        files |= {path: msgspec.structs.replace(files[target], path=path) for path, target in targets.items()}
    return list(files.values())


def refuse_partial(found: Discovery) -> None:
    """Refuse a revision whose files were left behind: what cannot be read would look like what is new, or gone."""
    absent, commit = [one for one in found.diagnostics if one.code == ABSENT], found.snapshot.commit
    if not absent:
        return
    raise LineageError(
        f"this is a partial clone without the contents of {len(absent)} files of {commit[:12]}, {absent[0].path} among "
        f"them: fetch them with `git archive {commit} > {os.devnull}`, or clone without --filter"
    )


def read_waivers(repo: Path, commit: str) -> str:
    """Read the file of waivers of a commit, or of a folder without one, empty where there is none."""
    if commit.startswith("tree-"):
        file = repo / FILE_NAME
        return decode(read_bounded(file, SETTINGS)).text if file.is_file() else ""
    top = toplevel(repo)
    return _text(top, list_entries(top, commit), [FILE_NAME])


def _text(repo: Path, tree: Iterable[Blob], places: Sequence[str]) -> str:
    """Read the first of some files that a revision has."""
    known = {blob.path: blob for blob in tree if blob.path in places}
    found = next((known[place] for place in places if place in known), None)
    files = list(_beside(repo, [found])) if found is not None else []
    return decode(files[0].content).text if files else ""


def _beside(repo: Path, blobs: Iterable[Blob]) -> Iterator[RawFile]:
    """Read files beside the SQL; one that is too long to be one is left unread."""
    return read_blobs(repo, [msgspec.structs.replace(blob, most=MOST_TEXT) for blob in blobs])


def _ignores(repo: Path, tree: Iterable[Blob]) -> Ignores:
    """Read what a revision says is not to be looked at."""
    found = [blob for blob in tree if blob.path.rpartition("/")[2] in OWN_FILES]
    texts = {file.path: decode(file.content).text for file in _beside(repo, found)} if found else {}
    return Ignores(texts.get, OWN_FILES)


def _content(repo: Path, blob: str) -> bytes | None:
    """Read one object by its id."""
    try:
        return git(repo, "cat-file", "blob", blob)
    except LineageError:
        return None


def _gather_worktree(top: Path, rules: Rules, name: str) -> Gathering:
    """Read the folder as it lies there: what is tracked, changed or not, and what is new and not ignored."""
    if git(top, "rev-parse", "--is-inside-work-tree").strip() != b"true":
        raise LineageError(f"{top} is a bare repository: it has no {WORKTREE}")
    return gather_folder(top, rules, name=name)


def toplevel(path: Path) -> Path:
    """Give the folder of the repository that a path lies in; of a bare repository, its own."""
    if not path.is_dir():
        raise LineageError(f"{path} is not a folder")
    return own_top(path)


def is_repository(path: Path) -> bool:
    """Say whether a path lies in a git repository."""
    try:
        return bool(toplevel(path))
    except StrangerError:
        raise
    except LineageError:
        return False


def resolve(repo: Path, revision: str) -> str:
    """Give the commit that a revision names."""
    try:
        found = git(repo, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except LineageError:
        raise LineageError(f"{revision} is not a revision of {repo}") from None
    return found.decode("ascii").strip()


def has_commit(repo: Path, commit: str) -> bool:
    """Say whether a repository is there and has a commit."""
    try:
        return repo.is_dir() and bool(resolve(repo, commit))
    except LineageError:
        return False


def merge_base(repo: Path, one: str, other: str) -> str | None:
    """Give the best common ancestor of two commits, or nothing where they have none."""
    try:
        return git(repo, "merge-base", one, other).decode("ascii").strip()
    except LineageError:
        return None


def base_of(repo: Path, commit: Commit, base_ref: str) -> tuple[str | None, str, tuple[Diagnostic, ...]]:
    """Give the commit to compare with, the rule that chose it, and a finding where it cannot be had."""
    if base_ref:
        rule = f"merge-base:{base_ref}"
        try:
            base = merge_base(repo, commit.id, resolve(repo, base_ref))
        except LineageError as error:
            return None, rule, (finding("BASE_MISSING", None, base=base_ref, reason=str(error)),)
        if base is None:
            return None, rule, (finding("BASE_MISSING", None, base=base_ref, reason="no common ancestor"),)
        if base != commit.id:
            return base, rule, ()
    return (commit.parents[0], "first-parent", ()) if commit.parents else (None, "none", ())


def read_commit(repo: Path, commit: str) -> Commit:
    """Read what is known about a commit."""
    shown = git(repo, "rev-list", "--max-count=1", "--format=%P%x00%ct%x00%an <%ae>", commit).decode("utf-8", "replace")
    parents, seconds, author = shown.split("\n", 1)[1].rstrip("\n").split("\0")
    return Commit(commit, tuple(parents.split()), _moment(int(seconds or 0)), author[:LONGEST_NAME])


def _moment(seconds: int) -> str:
    """Write the time of a commit; whoever makes one may claim any, or none."""
    moment = datetime.fromtimestamp(min(max(seconds, 0), LAST), UTC)
    return moment.isoformat().replace("+00:00", "Z")


def first_parents(repo: Path, revision: str) -> list[str]:
    """List the commits that led to a revision, the oldest first; of a merge, the side that it was merged into."""
    return git(repo, "rev-list", "--first-parent", "--reverse", resolve(repo, revision)).decode("ascii").split()


def refs_at(repo: Path, commit: str) -> tuple[str, ...]:
    """Give the branches and tags that point at a commit."""
    shown = git(repo, "for-each-ref", "--format=%(refname:short)", f"--points-at={commit}", "refs/heads", "refs/tags")
    return tuple(sorted(name for name in shown.decode("utf-8", "replace").split("\n") if name))


def list_entries(repo: Path, commit: str) -> Iterator[Blob]:
    """Give the files, links and submodules of a commit."""
    try:
        listed = git(repo, "ls-tree", "-r", "-z", "--full-tree", commit)
    except LineageError:
        if not _is_partial(repo):
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


def _is_partial(repo: Path) -> bool:
    """Say whether a clone fetches what it has not got when that is needed."""
    try:
        return bool(git(repo, "config", "--get-regexp", r"^remote\..*\.promisor$"))
    except LineageError:
        return False


def read_blobs(repo: Path, blobs: Iterable[Blob]) -> Iterator[RawFile]:
    """Read contents one by one through a single git process, which is started again where it ends."""
    quiet = subprocess.DEVNULL  # of what it has not got, we tell in our own words

    def start() -> subprocess.Popen[bytes]:
        return started(repo, "cat-file", "--batch", stdin=subprocess.PIPE, stderr=quiet)

    yield from contents(start, blobs, repo)
