"""How a file is to be read: as a comment at its top says, as the settings say, or as its own words give away."""

import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from lineage_pipeline.dialects.evidence import PROJECTS, Guess, guess_dialect
from lineage_pipeline.discover.headers import header_of
from lineage_pipeline.discover.hosts.reading import HOST_NAMES
from lineage_pipeline.vocabulary.analysis import Options
from lineage_pipeline.vocabulary.tables import Source, SqlFile

FEWEST, SHARE = 2, 5
"""How many files of a folder have to tell their dialect, and that it is one in so many, for the others to be alike."""

FIELDS = ("dialect", "system", "default_catalog", "default_schema")


class Reading(msgspec.Struct, frozen=True):
    """The options of one file, and why they are what they are."""

    options: Options
    evidence: str = ""


def reading_of(text: str, options: Options) -> Reading:
    """Give the options of a file: what its header says beats what the settings say."""
    said = {key: value for key, value in header_of(text).items() if key in FIELDS}
    evidence = "settings" if options.dialect else ""
    if not said:
        return Reading(options, evidence)
    return Reading(msgspec.structs.replace(options, **said), "header comment" if "dialect" in said else evidence)


def options_of(file: SqlFile, options: Options) -> Options:
    """Give the options of a path with what was found out about the file itself."""
    if (file.dialect, file.system, file.default_catalog, file.default_schema) == (
        options.dialect,
        options.system,
        None,
        None,
    ):
        return options
    return msgspec.structs.replace(
        options,
        dialect=file.dialect,
        system=file.system,
        default_catalog=options.default_catalog if file.default_catalog is None else file.default_catalog,
        default_schema=options.default_schema if file.default_schema is None else file.default_schema,
    )


def with_dialects(files: Sequence[SqlFile], guesses: Mapping[str, Guess]) -> list[SqlFile]:
    """Give files of which nobody says the dialect the one that their words give away, or that of the files around.

    The innermost folder counts that can tell: one dialect is that of most who speak, and enough of all files do.
    """
    unsaid = [file.path for file in files if not file.dialect]
    if not guesses:
        return list(files)
    told: dict[str, Counter[str]] = {}
    numbers = Counter(folder for path in unsaid for folder in _folders(path))
    for path, guess in guesses.items():
        for folder in _folders(path):
            told.setdefault(folder, Counter())[guess.dialect] += 1
    around = {folder: _agreed(counts, numbers[folder]) for folder, counts in told.items()}
    return [_with_dialect(file, guesses.get(file.path), around) for file in files]


def _folders(path: str) -> list[str]:
    """Give the folders that a path lies in, the innermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:end]) for end in range(len(parts), -1, -1)]


def _agreed(counts: Counter[str], files: int) -> tuple[str, str]:
    """Give the dialect of a folder and why, or no dialect where too few files tell one."""
    most, number = min(counts.items(), key=lambda item: (-item[1], item[0]))
    told = counts.total()
    if number * 2 > told and (number * 2 >= files or (number >= FEWEST and number * SHARE >= files)):
        return most, f"like most files here: {number} of {told} that can be told are {most}"
    return "", f"no sign, and the files around tell too little: {number} of {files} are {most}"


def _with_dialect(file: SqlFile, guess: Guess | None, around: Mapping[str, tuple[str, str]]) -> SqlFile:
    if file.dialect:
        return file
    if guess is not None:
        evidence = f"detected: {', '.join(guess.signs)}"
        return msgspec.structs.replace(file, dialect=guess.dialect, evidence=evidence)
    near = [around[folder] for folder in _folders(file.path) if folder in around]
    dialect, evidence = next((found for found in near if found[0]), near[-1])
    return msgspec.structs.replace(file, dialect=dialect, evidence=evidence)


def in_projects(files: Iterable[SqlFile], projects: Iterable[str]) -> dict[str, Guess]:
    """Give the dialect of files without one that lie in a project whose SQL is all of one dialect."""
    known = {posixpath.dirname(path): path for path in sorted(projects, reverse=True)}
    found = {}
    for file in files if known else ():
        project = next((known[folder] for folder in _folders(file.path) if folder in known), "")
        dialect = PROJECTS.get(posixpath.splitext(project)[1])
        if dialect and not file.dialect:
            found[file.path] = Guess(dialect, (f"the project {project}",))
    return found


def guess_of(file: SqlFile, source: Source) -> Guess | None:
    """Give what the SQL of a file and the program around it give away, where nobody says its dialect."""
    if file.dialect:
        return None
    return guess_dialect(source.rendered, source.text if file.templater in HOST_NAMES else "")
