"""The branches and tags of a repository, which of them are meant, and the commits that one has gained."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from lineage_pipeline.discover.commands import git
from lineage_pipeline.discover.git import has_commit, merge_base, resolve
from lineage_pipeline.vocabulary.errors import LineageError

BRANCHES = "refs/heads/"
PLACES = ("refs/heads", "refs/tags", "refs/remotes")
APART = ("tags/", "remotes/")
"""What the names of tags and of branches elsewhere begin with; only patterns that begin so fit them."""


def list_refs(repo: Path) -> dict[str, str]:
    """Give the commit of every ref: `main`, `tags/v1`, `remotes/origin/main`."""
    shown = git(repo, "for-each-ref", "--format=%(refname) %(objectname) %(objecttype) %(*objectname)", *PLACES)
    found = {}
    for line in shown.decode("utf-8", "backslashreplace").removesuffix("\n").split("\n"):
        name, target, kind, *peeled = line.split(" ")
        if kind == "commit" or any(peeled):
            found[name.removeprefix(BRANCHES).removeprefix("refs/")] = peeled[0] if any(peeled) else target
    return {name: found[name] for name in sorted(found) if not name.endswith("/HEAD")}


def chosen_refs(repo: Path, patterns: Sequence[str], base_ref: str) -> dict[str, str]:
    """Give the refs that are meant: by patterns, else the base ref, else the branch that is checked out."""
    if patterns:
        return {name: commit for name, commit in list_refs(repo).items() if is_meant(name, patterns)}
    name = base_ref or "HEAD"
    return {_branch(repo) if name == "HEAD" else name: resolve(repo, name)}


def is_meant(name: str, patterns: Sequence[str]) -> bool:
    """Say whether a pattern fits a name and none with `!` does; `*` crosses slashes."""
    kind = next((prefix for prefix in APART if name.startswith(prefix)), "")
    fitting = [pattern for pattern in patterns if _kind(pattern.removeprefix("!")) == kind]
    hits = [pattern for pattern in fitting if fnmatchcase(name, pattern.removeprefix("!"))]
    return bool(hits) and not any(pattern.startswith("!") for pattern in hits)


def _kind(pattern: str) -> str:
    return next((prefix for prefix in APART if pattern.startswith(prefix)), "")


def _branch(repo: Path) -> str:
    try:
        return git(repo, "symbolic-ref", "--short", "HEAD").decode("utf-8", "backslashreplace").strip()
    except LineageError:  # a commit is checked out, and no branch
        return "HEAD"


def gained(repo: Path, before: str, after: str) -> list[str]:
    """Give the commits that a ref has gained, the oldest first, along first parents; of what it lost, nothing."""
    start = merge_base(repo, before, after) if has_commit(repo, before) else None
    return commits_since(repo, start, after) if start else [after]


def commits_since(repo: Path, start: str, end: str) -> list[str]:
    """Give the commits along first parents after one up to another, the oldest first."""
    listed = git(repo, "rev-list", "--first-parent", "--reverse", end, f"^{start}").decode("ascii").split()
    return listed or [end]


def is_forced(repo: Path, before: str, after: str) -> bool:
    """Say whether a ref was moved to where its old commit is not part of."""
    return not has_commit(repo, before) or merge_base(repo, before, after) != before
