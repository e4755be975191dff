"""How a file is to be read: as a comment at its top says, as the settings say, or as its own words give away."""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from lineage_pipeline.dialects.evidence import Guess, guess_dialect
from lineage_pipeline.discover.headers import header_of
from lineage_pipeline.discover.hosts.reading import HOST_NAMES
from lineage_pipeline.vocabulary.analysis import Options
from lineage_pipeline.vocabulary.tables import Source, SqlFile

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
    """Give files of which nobody says the dialect the one that their words give away, or that of most of the others."""
    counts = Counter(guess.dialect for guess in guesses.values())
    if not counts:
        return list(files)
    most, number = min(counts.items(), key=lambda item: (-item[1], item[0]))
    told = f"like most files here: {number} of {sum(counts.values())} that can be told are {most}"
    return [_with_dialect(file, guesses.get(file.path) or Guess(most, ()), told) for file in files]


def _with_dialect(file: SqlFile, guess: Guess, told: str) -> SqlFile:
    if file.dialect:
        return file
    evidence = f"detected: {', '.join(guess.signs)}" if guess.signs else told
    return msgspec.structs.replace(file, dialect=guess.dialect, evidence=evidence)


def guess_of(file: SqlFile, source: Source) -> Guess | None:
    """Give what the SQL of a file and the program around it give away, where nobody says its dialect."""
    if file.dialect:
        return None
    return guess_dialect(source.rendered, source.text if file.templater in HOST_NAMES else "")
