"""Which commit a head is compared with: named, told by the machinery that checks a pull request, or the merge base."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from lineage_pipeline.discover.commands import git
from lineage_pipeline.discover.git import WORKTREE, merge_base, read_commit, resolve
from lineage_pipeline.vocabulary.errors import LineageError


class Base(msgspec.Struct, frozen=True):
    """The commit to compare with, and why it is this one."""

    commit: str
    why: str


class Teller(NamedTuple):
    """A variable by which a service tells the target of a pull request: a branch, or the very commit."""

    variable: str
    service: str
    exact: bool = False


TELLERS = (
    Teller("CI_MERGE_REQUEST_DIFF_BASE_SHA", "GitLab", exact=True),
    Teller("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "GitLab"),
    Teller("GITHUB_BASE_REF", "GitHub"),
    Teller("SYSTEM_PULLREQUEST_TARGETBRANCH", "Azure Pipelines"),
    Teller("BITBUCKET_PR_DESTINATION_BRANCH", "Bitbucket"),
    Teller("BUILDKITE_PULL_REQUEST_BASE_BRANCH", "Buildkite"),
    Teller("CHANGE_TARGET", "Jenkins"),
)

DEFAULT_BRANCH = "origin/HEAD"

RELATIVE = frozenset("~^@:")
"""Signs of a revision that is counted from another one."""

UNSHALLOW = "fetch its history: git fetch --unshallow (in a workflow: fetch-depth: 0)"


def find_base(repo: Path, base: str, head: str, environ: Mapping[str, str], *, exact: bool = False) -> Base:
    """Give the commit to compare with, and say why; where it cannot be told for certain, nothing is guessed."""
    ref, told, certain = _named(repo, base, environ)
    commit = _resolved(repo, ref)
    if exact or certain:
        return Base(commit, told)
    tip = resolve(repo, "HEAD" if head == WORKTREE else head)
    found = merge_base(repo, tip, commit)
    if found is None:
        raise LineageError(_no_common(repo, ref, head))
    if found == tip and head != WORKTREE:
        return Base(tip, f"{head} is part of {ref}, so that there is nothing to merge; {told}{_last_commit(repo, tip)}")
    return Base(found, f"the merge base of {ref} and {head}; {told}")


def _named(repo: Path, base: str, environ: Mapping[str, str]) -> tuple[str, str, bool]:
    """Give the base as somebody names it, who that is, and whether it is the very commit."""
    if base:
        return base, "--base names it", False
    for teller in TELLERS:
        value = environ.get(teller.variable, "").removeprefix("refs/heads/")
        if value:
            ref = value if teller.exact or not _is_there(repo, f"origin/{value}") else f"origin/{value}"
            return ref, f"{teller.variable} of {teller.service} names it", teller.exact
    if _is_there(repo, DEFAULT_BRANCH):
        return (
            DEFAULT_BRANCH,
            f"nobody names another: --base is not given, {DEFAULT_BRANCH} is the default branch",
            False,
        )
    raise LineageError("nothing says what to compare with; name it: --base origin/main")


def _resolved(repo: Path, ref: str) -> str:
    try:
        return resolve(repo, ref)
    except LineageError:
        raise LineageError(_not_there(repo, ref)) from None


def _not_there(repo: Path, ref: str) -> str:
    """Say how to get a base; one that is counted from another commit cannot be fetched by its name."""
    shallow = _is_shallow(repo)
    if RELATIVE.isdisjoint(ref) and ref != "HEAD":
        branch = ref.removeprefix("origin/")
        if branch == ref and _is_there(repo, f"origin/{ref}"):
            return f"the base {ref} is not a branch of this clone; its remote has one: --base origin/{ref}"
        fetch = f"git fetch origin {branch}" + (f":refs/remotes/origin/{branch}" if shallow else "")
        return f"the base {ref} is not in this clone; fetch it: {fetch}"
    if shallow:
        return f"this shallow clone does not reach back to the base {ref}; {UNSHALLOW}"
    return f"there is no commit {ref} to compare with; name another base: --base origin/main"


def _is_there(repo: Path, ref: str) -> bool:
    try:
        return bool(resolve(repo, ref))
    except LineageError:
        return False


def _is_shallow(repo: Path) -> bool:
    return git(repo, "rev-parse", "--is-shallow-repository").strip() == b"true"


def _no_common(repo: Path, ref: str, head: str) -> str:
    if _is_shallow(repo):
        return f"this shallow clone lacks the merge base of {ref} and {head}; {UNSHALLOW}"
    return f"{ref} and {head} have no common history; name another base, or compare with {ref} itself: --exact-base"


def _last_commit(repo: Path, tip: str) -> str:
    """Say how to look at what a commit did that is merged already."""
    return f"; what it changed itself: --base {tip[:12]}~1" if read_commit(repo, tip).parents else ""
