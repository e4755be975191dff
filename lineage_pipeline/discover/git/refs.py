"""The branches and tags of a repository, which of them are selected, and the commits that one has gained."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from lineage_pipeline.discover.git.repository import find_merge_base, has_commit, resolve_commit
from lineage_pipeline.files.git_command import run_git
from lineage_pipeline.model.errors import LineageError

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
