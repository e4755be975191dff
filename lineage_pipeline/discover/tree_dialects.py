"""The dialects of a tree of files: as project files declare, or else as the signs in all files vote.

A tree is a dbt project, a configured system, or else the whole folder or revision. A folder in a tree has a dialect
of its own only where its name and its files clearly differ from the rest.
"""

import posixpath
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from lineage_pipeline.dialects.registry import DIALECTS
from lineage_pipeline.discover.declared_dialects import DeclaredDialects
from lineage_pipeline.discover.dialect_detection import (
    CONNECTORS,
    MIN_WEIGHT,
    PARENTS,
    SIGN_WEIGHTS,
    choose_dialect,
    find_path_dialect,
    find_path_sign,
    remove_path_dialect,
    weigh_signs,
)
from lineage_pipeline.discover.dialect_vote import (
    AGREED_EVIDENCE,
    DOUBT,
    MAX_NAMED_SIGNS,
    MIN_SHARE,
    MIN_VOTERS,
    AgreedDialects,
    DialectVote,
    compare_dialects,
    parent_folders,
    vote_on_dialect,
)
from lineage_pipeline.discover.templating.templaters import DBT
from lineage_pipeline.files.sql_endings import find_file_kind
from lineage_pipeline.model.tables import SCHEMA_TEMPLATER, SqlFile

MIN_FOLDER_SHARE = 5
"""That one file in so many of a folder speaks for a dialect which differs from that of the tree."""

MIN_OWN_LEAD = 5
"""How much more the signs of one file weigh for its own dialect where it does not follow the tree."""

SAID = frozenset({"settings", "header comment"})
"""Evidence that says nothing of the files around."""


class TreeDialects(msgspec.Struct, frozen=True):
    """The dialects of one tree: of its top, of folders that differ, and of files that differ, with the evidence."""

    votes: tuple[DialectVote, ...]
    files: Mapping[str, tuple[str, str]]


def assign_dialects(
    files: Sequence[SqlFile],
    signs: Mapping[str, Collection[str]],
    declared: DeclaredDialects,
    agreed: AgreedDialects,
) -> tuple[list[SqlFile], tuple[DialectVote, ...]]:
    """Give files without a dialect that of their project or tree, and return the votes of the trees.

    The files of a dbt project have its dialect already, or it is unknown. Each system is a tree of its own.
    """
    known = [_assign_declared(file, declared) for file in files]
    open_files = [file for file in known if not file.dialect and file.templater not in (SCHEMA_TEMPLATER, DBT)]
    found: dict[str, tuple[str, str]] = {}
    votes: list[DialectVote] = []
    for system in sorted({file.system for file in open_files}):
        inside = {file.path: signs.get(file.path, ()) for file in open_files if file.system == system}
        tree_name = f"system {system}"
        followed = {folder: name for (tree, folder), name in agreed.items() if tree == tree_name}
        given = _read_linters(inside, declared) | {one: (name, AGREED_EVIDENCE) for one, name in followed.items()}
        tree = _follow_projects(vote_on_tree(inside, given), known)
        found.update(tree.files)
        votes.extend(msgspec.structs.replace(vote, tree=tree_name) for vote in tree.votes)
    return [_assign_dialect(file, *found[file.path]) if file.path in found else file for file in known], tuple(votes)


def _read_linters(paths: Iterable[str], declared: DeclaredDialects) -> dict[str, tuple[str, str]]:
    """Return what settings of sqlfluff declare, by folder; a folder inside may still clearly differ."""
    folders = sorted({folder for path in paths for folder in parent_folders(path)})
    return {folder: said for folder in folders if (said := declared.read_linter(folder)) is not None}


def _assign_declared(file: SqlFile, declared: DeclaredDialects) -> SqlFile:
    """Return a file with the dialect that project files around it declare, unless it has one."""
    if file.dialect or file.evidence:
        return file
    said = declared.of_project(file.path)
    return _assign_dialect(file, said.dialect, said.evidence) if said is not None else file


def _assign_dialect(file: SqlFile, dialect: str, evidence: str) -> SqlFile:
    return msgspec.structs.replace(file, dialect=dialect, evidence=evidence)


def _follow_projects(tree: TreeDialects, files: Iterable[SqlFile]) -> TreeDialects:
    """Return the tree with the only dialect of the projects in it, where its own files do not tell one."""
    top = next((vote for vote in tree.votes if not vote.folder), None)
    around = {file.dialect for file in files if file.dialect and file.evidence not in SAID}
    if top is None or top.dialect or len(around) != 1:
        return tree
    (dialect,) = around
    vote = msgspec.structs.replace(top, dialect=dialect, evidence="as in the projects here", other="")
    paths = {path: found if found[0] else (dialect, vote.evidence) for path, found in tree.files.items()}
    return TreeDialects(tuple(vote if one is top else one for one in tree.votes), paths)


def vote_on_tree(
    signs: Mapping[str, Collection[str]], given: Mapping[str, tuple[str, str]] | None = None
) -> TreeDialects:
    """Return the dialects of the files of a tree, given the signs in the text of each file by path.

    `given` are dialects of folders that do not follow from these files, each with the evidence.
    """
    variants = _find_variants(signs)
    signs = {path: found for path, found in signs.items() if path not in variants}
    paths = sorted(signs)
    whole = _replace_given(vote_on_dialect("", _list_ballots(paths, signs)), given or {})
    differing = _find_differing_folders(signs, whole.dialect, given or {})
    home = {path: next((one for one in parent_folders(path) if one in differing), "") for path in paths}
    votes = {"": whole, **differing}
    found = {path: _decide_file(path, signs[path], votes[home[path]]) for path in paths}
    if not whole.dialect:
        apart = {name for name, _ in (*found.values(), *variants.values()) if name}
        texts = [signs[path] for path in paths if home[path]]
        votes[""] = whole = _follow_folders(whole, differing.values(), apart, texts)
        found |= {path: (whole.dialect, whole.evidence) for path in paths if not home[path] and not found[path][0]}
    # Files and folders that differ neither count for the top nor put it in doubt.
    rest = [path for path in paths if not home[path] and found[path][0] == whole.dialect]
    again = _replace_given(vote_on_dialect("", _list_ballots(rest, signs)), given or {})
    if whole.dialect and again.dialect == whole.dialect:
        votes[""] = again
        found |= dict.fromkeys(rest, (again.dialect, again.evidence))
    return TreeDialects(tuple(votes[folder] for folder in sorted(votes) if folder or rest), found | variants)


def _follow_folders(
    top: DialectVote, folders: Collection[DialectVote], apart: Collection[str], signs: Sequence[Collection[str]]
) -> DialectVote:
    """Return the vote of a tree that tells nothing itself, such as texts beside the programs that run them.

    It follows the folders that tell something if they have enough of the files, some of them with signs in their text,
    and all dialects in the tree, with those of single files, `apart`, are of one family.
    """
    families = {DIALECTS[name].family for name in (*apart, *(vote.dialect for vote in folders))}
    if top.other or not folders or len(families) != 1:
        return top
    speaking = sum(any(DIALECTS[name].family in families for name in weigh_signs(found)) for found in signs)
    if speaking < MIN_VOTERS or sum(vote.files for vote in folders) * MIN_SHARE < top.files:
        return top
    most = max(folders, key=lambda vote: (vote.files, vote.dialect))
    return msgspec.structs.replace(top, dialect=most.dialect, evidence=f"as in {most.folder}")


def _list_ballots(paths: Iterable[str], signs: Mapping[str, Collection[str]]) -> list[Collection[str]]:
    """Return the signs of the files that vote: a dump, which is mostly rows, only if it has some."""
    return [signs[path] for path in paths if signs[path] or not _holds_rows(path)]


def _holds_rows(path: str) -> bool:
    kind = find_file_kind(path)
    return kind is not None and kind.rows


def _find_variants(paths: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return the dialects of files with the same content for several dialects: `ddl-mysql.sql`, `ddl-oracle.sql`."""
    alike: dict[str, dict[str, str]] = {}
    for path in paths:
        folder, name = posixpath.split(path)
        if dialect := find_path_dialect(name):
            alike.setdefault(posixpath.join(folder, remove_path_dialect(name)), {})[path] = dialect
    several = [names for names in alike.values() if len(set(names.values())) > 1]
    return {path: (dialect, f"detected: the name {dialect}") for names in several for path, dialect in names.items()}


def _replace_given(vote: DialectVote, given: Mapping[str, tuple[str, str]]) -> DialectVote:
    if vote.folder not in given:
        return vote
    dialect, evidence = given[vote.folder]
    return msgspec.structs.replace(vote, dialect=dialect, evidence=evidence, other="")


def _find_differing_folders(
    signs: Mapping[str, Collection[str]], dialect: str, given: Mapping[str, tuple[str, str]]
) -> dict[str, DialectVote]:
    """Return the votes of the outermost folders whose files clearly have another dialect than the folder around."""
    inside: dict[str, list[str]] = {}
    for path in signs:
        for folder in parent_folders(path)[:-1]:
            inside.setdefault(folder, []).append(path)
    found: dict[str, DialectVote] = {}
    around = {"": dialect}
    for folder in sorted(inside, key=lambda folder: (folder.count("/"), folder)):
        above = around[parent_folders(folder)[0]]
        # The name of a folder speaks for the files below it, not for those of the folder around.
        named = [sign] if (sign := find_path_sign(folder)) else []
        texts = [(*found, *named) for found in _list_ballots(inside[folder], signs)]
        vote = _replace_given(vote_on_dialect(folder, texts), given)
        differs = vote.dialect != above and (folder in given or _is_strong(vote, above, texts))
        around[folder] = vote.dialect if differs else above
        if differs:
            own = find_path_dialect(posixpath.basename(folder)) == vote.dialect
            found[folder] = msgspec.structs.replace(vote, other="") if own else vote
    return found


def _is_strong(vote: DialectVote, above: str, signs: Sequence[Collection[str]]) -> bool:
    """Return whether the vote of a folder is clear enough to differ from the dialect around it."""
    if not vote.dialect:
        return False
    more, less = compare_dialects(vote.dialect, above, signs)
    if find_path_dialect(posixpath.basename(vote.folder)) == vote.dialect:
        return more >= less
    weights = [weigh_signs(found) for found in signs]
    around = PARENTS.get(above, above)
    speaking = sum(found.get(vote.dialect, 0) - found.get(around, 0) >= MIN_WEIGHT for found in weights)
    enough = speaking >= MIN_VOTERS and speaking * MIN_FOLDER_SHARE >= len(signs)
    return enough and vote.is_clear and less * DOUBT <= more


def _decide_file(path: str, signs: Collection[str], vote: DialectVote) -> tuple[str, str]:
    """Return the dialect of one file with the evidence: its own where it surely differs, else that of its tree."""
    own = choose_dialect(signs)
    if own is None or own.dialect in (vote.dialect, PARENTS.get(vote.dialect)):
        return vote.dialect, vote.evidence
    evidence = f"detected: {', '.join(own.signs[:MAX_NAMED_SIGNS])}"
    if not vote.dialect:
        return own.dialect, evidence
    weights = weigh_signs(signs)
    named = find_path_dialect(posixpath.basename(path)) == own.dialect
    drivers = [SIGN_WEIGHTS[sign] for sign in CONNECTORS.intersection(signs)]
    connected = any(own.dialect in reached and vote.dialect not in reached for reached in drivers)
    sure = weights[own.dialect] - weights.get(vote.dialect, 0) >= MIN_OWN_LEAD and vote.dialect not in weights
    return (own.dialect, evidence) if named or connected or sure else (vote.dialect, vote.evidence)
