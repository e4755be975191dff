"""`lineage init`: a settings file for a folder, based on its files."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from lineage_pipeline.cli.output import print_note, write_output
from lineage_pipeline.model.errors import LineageError

SAMPLE_SIZE = 200
"""Number of files that are read to guess the dialect: more would not change the guess."""


class FolderSurvey(NamedTuple):
    """What was found in a folder."""

    files: int
    folders: tuple[tuple[str, int], ...]
    dialect: str
    evidence: str
    dbt: bool
    manifest: str
    git: bool


def init(
    path: Annotated[Path, typer.Argument(help="The folder to look at.", metavar="PATH")] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Overwrite a settings file that is there.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the file, and write nothing.")] = False,
) -> None:
    """Write a commented lineage.toml after a look at the folder.

    Example: lineage init

    Example: lineage init warehouse --dry-run
    """
    if not path.is_dir():
        raise LineageError(f"{path} is not a folder")
    target = path / "lineage.toml"
    if target.exists() and not (force or dry_run):
        raise LineageError(f"{target} is there already; --force overwrites it, --dry-run shows what would be written")
    look = survey_folder(path)
    text = "".join(f"{line}\n" for line in build_settings_lines(look))
    write_output(text, None if dry_run else target)
    if not dry_run:
        spoken = f"dialect {look.dialect}" if look.dialect else "no sign of a dialect: name it in the file"
        print_note(f"lineage: {target} written: {look.files} SQL files, {spoken}")


def survey_folder(path: Path) -> FolderSurvey:
    """Count the SQL files, and look for evidence of a dialect, of dbt and of git."""
    from lineage_pipeline.config.load import Settings
    from lineage_pipeline.discover.dialect_detection import find_signs
    from lineage_pipeline.discover.dialect_vote import vote_on_dialect
    from lineage_pipeline.discover.folder import read_folder
    from lineage_pipeline.discover.git.repository import is_repository
    from lineage_pipeline.files.encoding import decode_content

    found = list(read_folder(path, Settings()))
    step = max(len(found) // SAMPLE_SIZE, 1)
    vote = vote_on_dialect("", [find_signs(decode_content(raw.content).text) for raw in found[::step]])
    folders = Counter(raw.path.partition("/")[0] if "/" in raw.path else "." for raw in found)
    manifest = next((name for name in ("target/manifest.json", "manifest.json") if (path / name).is_file()), "")
    listed = tuple(sorted(folders.items(), key=lambda item: (-item[1], item[0])))
    return FolderSurvey(
        files=len(found),
        folders=listed,
        dialect=vote.dialect if vote.is_clear else "",
        evidence=vote.evidence,
        dbt=(path / "dbt_project.yml").is_file(),
        manifest=manifest,
        git=is_repository(path),
    )


def build_settings_lines(look: FolderSurvey) -> Iterator[str]:
    """Yield the lines of a settings file for what was found; commented lines show defaults."""
    yield "# Settings of lineage. Flags beat environment variables (LINEAGE_DIALECT, …), those beat this file."
    yield f"# Seen when this was written: {_describe_files(look.files, look.folders)}."
    yield from (
        "",
        '# Which files are read. Without a slash a pattern fits at any depth; "defaults" stands for the usual ones.',
    )
    yield '# include = ["defaults", "*.txt"]'
    yield '# exclude = ["defaults", "old/**"]'
    if look.dbt:
        yield "# This is a dbt project: what is compiled lies in target/compiled, the models have templates."
    yield from ("", "[analysis]")
    if look.dialect:
        yield f'dialect = "{look.dialect}" # {look.evidence}'
    else:
        yield '# dialect = "snowflake" # nothing speaks clearly for one: name it'
    yield '# default_catalog = "" # completes names of one or two parts'
    yield '# default_schema = ""'
    if look.manifest:
        yield f'schemas = ["{look.manifest}"] # the columns that dbt knows'
    else:
        yield '# schemas = ["schema.json"] # columns of tables that no file here defines'
    if len(look.folders) > 1:
        yield from ("", "# One warehouse each, where there are several; the first whose paths fit a file counts.")
        yield "# [[systems]]"
        yield f'# name = "{look.folders[0][0]}"'
        yield f'# paths = ["{look.folders[0][0]}/**"]'
    yield from ("", "# Tags and owners by patterns of names.", "# [[labels]]")
    yield from ('# objects = ["raw.*"]', '# columns = ["*email*"]', '# tags = ["pii"]')
    yield from ("", "[diff]", '# leaf = "unknown" # who else reads an object: "unknown", "public" or "private"')
    if look.git:
        yield from ("", "# `lineage check --base main` compares with the merge base; see the page on changes.")


def _describe_files(files: int, folders: Sequence[tuple[str, int]]) -> str:
    shown = ", ".join(f"{count} in {name}" for name, count in folders[:5])
    return f"{files} SQL files" + (f" ({shown})" if files else "")
