"""The light install without a network: its packages, taken from the environment that runs the tests."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from lineage_pipeline_tests.support.paths import ROOT

PROJECT = ROOT / "pyproject.toml"


def light_dependencies() -> set[str]:
    """The distributions that ours needs without its extras."""
    return resolve_dependencies(*tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"])


def resolve_dependencies(*texts: str) -> set[str]:
    """The given distributions and all that they need, as an installer would find them."""
    found: set[str] = set()
    wishes = [Requirement(text) for text in texts]
    waiting = [(normalize_name(wish.name), frozenset(wish.extras)) for wish in wishes]
    while waiting:
        name, extras = waiting.pop()
        if name in found and not extras:
            continue
        found.add(name)
        for text in metadata.requires(name) or ():
            requirement = Requirement(text)
            wanted = [{"extra": extra} for extra in extras] or [{"extra": ""}]
            if requirement.marker is None or any(requirement.marker.evaluate(each) for each in wanted):
                waiting.append((normalize_name(requirement.name), frozenset(requirement.extras)))
    return found


def normalize_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def link_packages(names: set[str], folder: Path) -> Path:
    """Link distributions into a folder that holds nothing else."""
    folder.mkdir(parents=True)
    for name in sorted(names):
        distribution = metadata.distribution(name)
        tops = {file.parts[0] for file in distribution.files or () if ".." not in file.parts}
        for top in sorted(tops - {"__pycache__"}):
            target = Path(str(distribution.locate_file(top))).resolve()
            if target.exists() and not (folder / top).exists():
                (folder / top).symlink_to(target)
    return folder
