"""The base commit of a comparison: named by the user, by the CI system of a pull request, or the merge base."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from lineage_pipeline.discover.git.repository import WORKTREE, find_merge_base, read_commit, resolve_commit
from lineage_pipeline.files.git_command import run_git
from lineage_pipeline.model.errors import LineageError


class BaseCommit(msgspec.Struct, frozen=True):
    """The commit to compare with, and why it was chosen."""

    commit: str
    why: str


class CiVariable(NamedTuple):
    """An environment variable in which a CI system names the target of a pull request: a branch, or a commit."""

    variable: str
    service: str
    exact: bool = False


CI_VARIABLES = (
    CiVariable("CI_MERGE_REQUEST_DIFF_BASE_SHA", "GitLab", exact=True),
    CiVariable("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "GitLab"),
    CiVariable("GITHUB_BASE_REF", "GitHub"),
    CiVariable("SYSTEM_PULLREQUEST_TARGETBRANCH", "Azure Pipelines"),
    CiVariable("BITBUCKET_PR_DESTINATION_BRANCH", "Bitbucket"),
    CiVariable("BUILDKITE_PULL_REQUEST_BASE_BRANCH", "Buildkite"),
    CiVariable("CHANGE_TARGET", "Jenkins"),
)

DEFAULT_BRANCH = "origin/HEAD"

RELATIVE_SIGNS = frozenset("~^@:")
"""Characters of a revision that is relative to another one."""

UNSHALLOW_ADVICE = "fetch its history: git fetch --unshallow (in a workflow: fetch-depth: 0)"


def find_base_commit(
    repo: Path, base: str, head: str, environ: Mapping[str, str], *, exact: bool = False
) -> BaseCommit:
    """Return the commit to compare with, and why; fail where it is not certain."""
    ref, reason, certain = _find_base_ref(repo, base, environ)
    commit = _resolve_base(repo, ref)
    if exact or certain:
        return BaseCommit(commit, reason)
    tip = resolve_commit(repo, "HEAD" if head == WORKTREE else head)
    found = find_merge_base(repo, tip, commit)
    if found is None:
        raise LineageError(_explain_no_merge_base(repo, ref, head))
    if found == tip and head != WORKTREE:
        return BaseCommit(
            tip,
            f"{head} is part of {ref}, so that there is nothing to merge; {reason}{_suggest_parent_base(repo, tip)}",
        )
    return BaseCommit(found, f"the merge base of {ref} and {head}; {reason}")


def _find_base_ref(repo: Path, base: str, environ: Mapping[str, str]) -> tuple[str, str, bool]:
    """Return the name of the base, who named it, and whether it is the exact commit."""
    if base:
        return base, "--base names it", False
    for teller in CI_VARIABLES:
        value = environ.get(teller.variable, "").removeprefix("refs/heads/")
        if value:
            ref = value if teller.exact or not _has_ref(repo, f"origin/{value}") else f"origin/{value}"
            return ref, f"{teller.variable} of {teller.service} names it", teller.exact
    if _has_ref(repo, DEFAULT_BRANCH):
        return (
            DEFAULT_BRANCH,
            f"nobody names another: --base is not given, {DEFAULT_BRANCH} is the default branch",
            False,
        )
    raise LineageError("nothing says what to compare with; name it: --base origin/main")


def _resolve_base(repo: Path, ref: str) -> str:
    try:
        return resolve_commit(repo, ref)
    except LineageError:
        raise LineageError(_explain_missing_base(repo, ref)) from None


def _explain_missing_base(repo: Path, ref: str) -> str:
    """Explain how to get a base that is missing; a relative revision cannot be fetched by its name."""
    shallow = _is_shallow(repo)
    if RELATIVE_SIGNS.isdisjoint(ref) and ref != "HEAD":
        branch = ref.removeprefix("origin/")
        if branch == ref and _has_ref(repo, f"origin/{ref}"):
            return f"the base {ref} is not a branch of this clone; its remote has one: --base origin/{ref}"
        fetch = f"git fetch origin {branch}" + (f":refs/remotes/origin/{branch}" if shallow else "")
        return f"the base {ref} is not in this clone; fetch it: {fetch}"
    if shallow:
        return f"this shallow clone does not reach back to the base {ref}; {UNSHALLOW_ADVICE}"
    return f"there is no commit {ref} to compare with; name another base: --base origin/main"


def _has_ref(repo: Path, ref: str) -> bool:
    try:
        return bool(resolve_commit(repo, ref))
    except LineageError:
        return False


def _is_shallow(repo: Path) -> bool:
    return run_git(repo, "rev-parse", "--is-shallow-repository").strip() == b"true"


def _explain_no_merge_base(repo: Path, ref: str, head: str) -> str:
    if _is_shallow(repo):
        return f"this shallow clone lacks the merge base of {ref} and {head}; {UNSHALLOW_ADVICE}"
    return f"{ref} and {head} have no common history; name another base, or compare with {ref} itself: --exact-base"


def _suggest_parent_base(repo: Path, tip: str) -> str:
    """Suggest how to compare a commit that is already merged with its parent."""
    return f"; what it changed itself: --base {tip[:12]}~1" if read_commit(repo, tip).parents else ""
