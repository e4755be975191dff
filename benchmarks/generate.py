"""Synthetic SQL repositories of any size: the same seed gives the same files, and `edit` the same next revision."""

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from benchmarks.shapes import LAYERS, SHAPES, Draw, Relation, Shape, object_name

Files = dict[str, str]
"""Texts by path."""


def generate(statements: int, seed: int = 0, dialect: str = "") -> Files:
    """A repository of about that many statements: raw tables, staging, core and marts, one object a file."""
    chance = Random(f"{seed} {dialect} {statements}")
    made: dict[str, list[Relation]] = {layer: [] for layer in LAYERS}
    files: Files = {}
    for layer, shapes in _quotas(chance, statements).items():
        readable = [relation for below in LAYERS[layer] for relation in made[below]] or list(made["raw"])
        for shape in shapes:
            name = object_name(chance, layer, len(files) + 1)
            written = shape.write(Draw(chance, dialect, readable), name)
            files[f"{layer}/{name.partition('.')[2]}.sql"] = written.sql
            made[layer].append(Relation(name, written.columns))
            if layer in LAYERS[layer]:
                readable.append(made[layer][-1])
    return files


def _quotas(chance: Random, statements: int) -> dict[str, list[Shape]]:
    """Which shapes to write in each layer; never a repository without a table."""
    drawn = [SHAPES[0]]
    weights, count = [shape.weight for shape in SHAPES], SHAPES[0].statements
    while count < statements:
        drawn += chance.choices(SHAPES, weights)
        count += drawn[-1].statements
    return {layer: [shape for shape in drawn if shape.layer == layer] for layer in LAYERS}


def edit(files: Mapping[str, str], percent: float, seed: int = 0) -> Files:
    """The next revision: that share of the files is changed, at least one, each in one of the ways of `EDITS`."""
    chance = Random(f"{seed} edit")
    wanted = max(1, round(len(files) * percent / 100))
    changed = dict(files)
    for path in chance.sample(sorted(files), min(wanted, len(files))):
        changed[path] = chance.choice(EDITS)(files[path], chance.randint(1000, 9999))
    return changed


def _add_column(text: str, number: int) -> str:
    """Add a column to the first select list or column list."""
    if "select\n" in text:
        return text.replace("select\n", f"select\n    {number} as added_{number},\n", 1)
    return text.replace("(\n", f"(\n    added_{number} int,\n", 1)


def _add_comment(text: str, number: int) -> str:
    """Say something that changes nothing."""
    return f"-- ticket {number}\n{text}"


def _narrow_filter(text: str, number: int) -> str:
    """Let fewer rows through; a file without a filter gets a remark."""
    return text.replace("where ", f"where {number} > 0 and ", 1) if "where " in text else _add_comment(text, number)


EDITS: tuple[Callable[[str, int], str], ...] = (_add_column, _add_comment, _narrow_filter)


def write(files: Mapping[str, str], folder: Path) -> None:
    """Put a repository on the disk."""
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
