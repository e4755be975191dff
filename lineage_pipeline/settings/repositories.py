"""The repositories that are watched, how often, and how long their snapshots are kept."""

from pathlib import Path

from pydantic import Field

from lineage_pipeline.discover.commands import git
from lineage_pipeline.settings.foreign import harmless
from lineage_pipeline.settings.layers import TAKEN, Layer
from lineage_pipeline.settings.reading import parse_toml
from lineage_pipeline.settings.sections import (
    AnalysisSettings,
    ChecksSettings,
    DiffSettings,
    LabelSettings,
    Section,
    SystemSettings,
)
from lineage_pipeline.settings.templating import DbtSettings, TemplatingSettings
from lineage_pipeline.vocabulary.errors import LineageError

MIRRORS = (".lineage", "mirrors")
"""The folders in which the repositories lie that have an address."""


class RepositorySettings(Section):
    """A repository that the pipeline watches; what it says of reading beats the repository's own file."""

    name: str = Field(min_length=1, pattern=r"^[^@\s]+$")
    path: str = Field(min_length=1)
    refs: tuple[str, ...] = ()
    base_ref: str = ""
    history: bool = False
    analysis: AnalysisSettings = AnalysisSettings()
    systems: tuple[SystemSettings, ...] = ()
    labels: tuple[LabelSettings, ...] = ()
    templating: TemplatingSettings = TemplatingSettings()
    dbt: DbtSettings = DbtSettings()
    diff: DiffSettings = DiffSettings()
    checks: ChecksSettings = ChecksSettings()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    manifest: str = ""

    def reading(self, root: Path) -> Layer:
        """Give what is said here of how the repository is read and judged; files are relative to the folder here."""
        said: Layer = self.model_dump(include=set(TAKEN), exclude_unset=True)
        for part in (said.get("analysis", {}), *said.get("systems", ())):
            if part.get("schemas"):
                part["schemas"] = [_placed(place, root) for place in part["schemas"]]
        return said


class WatchSettings(Section):
    """How the sensor looks at repositories: each tick is short, and asks for few runs."""

    interval: int = Field(30, gt=0)
    seconds: int = Field(40, gt=0)
    requests: int = Field(20, gt=0)
    assets: bool = False


class RetentionSettings(Section):
    """How long snapshots are kept: by age in days, by number a repository, and for ever where they are 0."""

    days: int = Field(0, ge=0)
    snapshots: int = Field(0, ge=0)
    cache_days: int = Field(7, ge=0)
    schedule: str = "0 3 * * *"
    timezone: str = "UTC"


def _placed(place: str, root: Path) -> str:
    return place if "://" in place or place.startswith("snapshot:") else str(root / place)


def is_mirror(folder: Path) -> bool:
    """Say whether a folder is a mirror of a repository that has an address."""
    return folder.parts[-4:-2] == MIRRORS and (folder / "HEAD").is_file()


def own_layer(mirror: Path) -> Layer | None:
    """Read the settings that a mirrored repository has on its default branch, if it has some."""
    for name in ("lineage.toml", "pyproject.toml"):
        try:
            text = git(mirror, "cat-file", "blob", f"HEAD:{name}").decode("utf-8")
        except (LineageError, UnicodeDecodeError):
            continue
        content = parse_toml(text, f"{mirror.name}:{name}")
        own = content if name == "lineage.toml" else dict(content.get("tool", {}).get("lineage", {}))
        if own:
            return harmless(own, f"{mirror.name}:{name}", mirror)
    return None


def mirrored_layer(layer: Layer, mirror: Path) -> Layer:
    """Take from a mirrored repository how to read and judge it, and all else from the settings here."""
    own = own_layer(mirror)
    if own is None:
        return layer
    return {key: value for key, value in layer.items() if key not in TAKEN} | {
        key: value for key, value in own.items() if key in TAKEN
    }
