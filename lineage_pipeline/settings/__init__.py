"""Flags over `LINEAGE_*` over lineage.toml or `[tool.lineage]` over defaults → one frozen `Settings`, read once."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import msgspec
from pydantic import PrivateAttr, ValidationError, field_validator

from lineage_pipeline.discover.bounded import LISTING, read_bounded
from lineage_pipeline.discover.decode import decode
from lineage_pipeline.discover.globs import matches
from lineage_pipeline.discover.manifests import Listed, parse_manifest
from lineage_pipeline.discover.schemas.model import SECRETS, Imports
from lineage_pipeline.discover.templating.protocol import Templating
from lineage_pipeline.settings.alerting import AlertSettings
from lineage_pipeline.settings.environment import CONFIG_VARIABLE, environment_layer, moved, section_of
from lineage_pipeline.settings.foreign import harmless, is_own
from lineage_pipeline.settings.layers import EXCLUDED, INCLUDED, READING, TAKEN, Layer, loosen_systems, merge
from lineage_pipeline.settings.reading import read_toml, suggestion
from lineage_pipeline.settings.repositories import (
    RepositorySettings,
    RetentionSettings,
    WatchSettings,
    is_mirror,
    mirrored_layer,
)
from lineage_pipeline.settings.sections import (
    AnalysisSettings,
    ChecksSettings,
    DiffSettings,
    LabelSettings,
    OpenLineageSettings,
    Section,
    SparkSettings,
    SystemSettings,
    options_from,
)
from lineage_pipeline.settings.snapshots import Snapshots
from lineage_pipeline.settings.templating import DbtSettings, TemplatingSettings, given_variables
from lineage_pipeline.store.engine import engine_version
from lineage_pipeline.vocabulary.analysis import Options
from lineage_pipeline.vocabulary.errors import LineageError

__all__ = [
    "DiffSettings",
    "RepositorySettings",
    "Settings",
    "SparkSettings",
    "SystemSettings",
    "find_file",
    "load_settings",
    "suggestion",
]

FILE_NAME, PROJECT_NAME = "lineage.toml", "pyproject.toml"


class Settings(Section):
    """All settings. Paths of files are relative to the folder that the settings were loaded for."""

    analysis: AnalysisSettings = AnalysisSettings()
    systems: tuple[SystemSettings, ...] = ()
    spark: SparkSettings = SparkSettings()
    warehouse: str = ".lineage/warehouse"
    cache: bool = True
    openlineage: OpenLineageSettings = OpenLineageSettings()
    repositories: tuple[RepositorySettings, ...] = ()
    watch: WatchSettings = WatchSettings()
    retention: RetentionSettings = RetentionSettings()
    diff: DiffSettings = DiffSettings()
    checks: ChecksSettings = ChecksSettings()
    alerts: AlertSettings = AlertSettings()
    labels: tuple[LabelSettings, ...] = ()
    templating: TemplatingSettings = TemplatingSettings()
    dbt: DbtSettings = DbtSettings()
    include: tuple[str, ...] = INCLUDED
    exclude: tuple[str, ...] = EXCLUDED
    manifest: str = ""

    @field_validator("repositories")
    @classmethod
    def _told_apart(cls, rows: tuple[RepositorySettings, ...]) -> tuple[RepositorySettings, ...]:
        names = [row.name for row in rows]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"two repositories have the name {twice}")
        return rows

    _root: Path = PrivateAttr(default=Path())
    _prefix: str = PrivateAttr(default="")
    _schemas_root: Path = PrivateAttr(default=Path())
    _secrets: Mapping[str, str] = PrivateAttr(default_factory=dict)
    _imports: Imports | None = PrivateAttr(default=None)
    _listed: dict[str, Listed] | None = PrivateAttr(default=None)
    _file: Path | None = PrivateAttr(default=None)
    _given: Mapping[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def root(self) -> Path:
        """Give the folder of the settings file, or the one the search began in; relative paths start here."""
        return self._root

    @property
    def home(self) -> Path:
        """Give the folder for all that runs leave behind: the example, `dagster` for DAGSTER_HOME, the warehouse."""
        return self._root / ".lineage"

    @property
    def file(self) -> Path | None:
        """Give the settings file, if there is one."""
        return self._file

    def selects(self, path: str) -> bool:
        """Say whether a file is to be read."""
        full = self._prefix + path
        if self.manifest:
            return full in self._manifest()
        return matches(full, self.include) and not matches(full, self.exclude)

    def leaves_out(self, path: str) -> bool:
        """Say whether a file is excluded, whatever it is."""
        return not self.manifest and matches(self._prefix + path, self.exclude)

    def options_for(self, path: str) -> Options:
        """Give the options of the first system whose paths fit; its name only where there are several systems."""
        full = self._prefix + path
        system = next((system for system in self.systems if matches(full, system.paths)), None)
        listed = self._manifest().get(full) if self.manifest else None
        return listed.applied(self._options(system)) if listed is not None else self._options(system)

    def listed(self) -> tuple[str, ...]:
        """Give the files that a manifest lists, as they are called below the folder that is read."""
        paths = self._manifest() if self.manifest else ()
        return tuple(path[len(self._prefix) :] for path in paths if path.startswith(self._prefix))

    def _manifest(self) -> dict[str, Listed]:
        """Read the manifest, once; it is relative to the settings' folder."""
        if self._listed is None:
            place = self._schemas_root / self.manifest
            try:
                self._listed = parse_manifest(decode(read_bounded(place, LISTING)).text, self.manifest)
            except OSError as error:
                raise LineageError(f"{place}: {error.strerror}") from None
        return self._listed

    def _options(self, system: SystemSettings | None) -> Options:
        several = len({system.name for system in self.systems}) > 1
        return options_from(self.analysis, system, system.name if system and several else "", self.labels)

    def options_of(self, name: str) -> Options:
        """Give the options of a system by its name; without one, those of the only or the first system."""
        named = [system for system in self.systems if name in ("", system.name)]
        if name and not named:
            hint = suggestion(name, (system.name for system in self.systems))
            raise LineageError(f"there is no system {name} in the settings; {hint}")
        return self._options(named[0] if named else None)

    def templating_for(self, path: str) -> Templating:
        """Give how the file at this path is rendered, if it is a template."""
        return self.templating.templating_for(self._prefix + path, self._schemas_root, self._given, self.dbt)

    def completed(self, dialect: str, default_schema: str) -> Self:
        """Give settings in which an engine says what they leave open: its dialect, and where bare names live."""
        said = {"dialect": dialect, "default_schema": default_schema}
        blank = {key: value for key, value in said.items() if not getattr(self.analysis, key)}
        return self.model_copy(update={"analysis": self.analysis.model_copy(update=blank)})

    def imports(self) -> Imports:
        """Read the schemas that are imported into each system, once; a system without a list of its own takes all."""
        if self._imports is None:
            joint = Imports()
            for system in self.systems or (None,):
                places = self.analysis.schemas if system is None or system.schemas is None else system.schemas
                found = self._read(places, self._options(system)) if places else Imports()
                joint = Imports({**found.schemas, **joint.schemas}, (*joint.findings, *found.findings))
            self._imports = joint
        return self._imports

    def _read(self, places: Iterable[str], options: Options) -> Imports:
        from lineage_pipeline.discover.schemas.reading import import_schemas  # it takes a moment, and few need it

        return import_schemas(places, options, self._schemas_root, self._secrets, self.snapshots(self._schemas_root))

    def snapshots(self, root: Path) -> Snapshots:
        """Give who reads the snapshots of other repositories."""
        return Snapshots(root, self.warehouse)

    def analysis_key(self) -> str:
        """Hash what bears on results apart from the files: the engine, and how files are chosen and read."""
        chosen = self.model_dump(mode="json", include=set(READING))
        schemas = msgspec.json.encode([*sorted(self.imports().schemas.items())]).decode()
        listed = [msgspec.to_builtins(one) for one in self._manifest().values()] if self.manifest else []
        parts = [engine_version(), self._prefix, chosen, schemas, listed, dict(self._given)]
        text = json.dumps(parts, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def namespaces(self) -> dict[str, str]:
        """Give the OpenLineage namespace of each system; the nameless one is that of the only system or dialect."""
        names = {system.name: self.openlineage.namespaces.get(system.name, system.name) for system in self.systems}
        only = next(iter(names), "") or self.analysis.dialect or "default"
        return names | {"": self.openlineage.namespaces.get(only, names.get(only, only))}

    def unnamed_systems(self) -> dict[str, str]:
        """Give the systems, by the name that objects have for them, whose namespace nobody configured."""
        systems = {"": self.namespaces()[""]} | {system.name: system.name for system in self.systems}
        configured = self.openlineage.namespaces
        return {key: name for key, name in systems.items() if name not in (*configured, *configured.values())}

    def for_repository(
        self,
        repo: Path,
        overrides: Mapping[str, Any],
        environ: Mapping[str, str],
        row: RepositorySettings | None = None,
    ) -> Self:
        """Take from the repository's own file and its row here how to read and judge it; where to work stays."""
        own = load_settings(repo, overrides, environ, row.reading(self.root) if row else {})
        taken = {name: getattr(own, name) for name in TAKEN}
        joint = self.model_copy(update=taken)
        joint._prefix, joint._schemas_root, joint._secrets = own._prefix, own._schemas_root, own._secrets
        joint._given, joint._imports, joint._listed = own._given, None, None
        return joint


def load_settings(
    start: Path, overrides: Mapping[str, Any], environ: Mapping[str, str], row: Mapping[str, Any] | None = None
) -> Settings:
    """Merge the file found from `start` upwards, what a row says of the repository, the environment and the flags.

    A flag that is None is not given.
    """
    folder = (start if start.is_dir() else start.parent).resolve()
    file = Path(environ[CONFIG_VARIABLE]).resolve() if environ.get(CONFIG_VARIABLE) else find_file(folder)
    layer = _parse(file) if file else {}
    if file and not environ.get(CONFIG_VARIABLE) and not is_own(file, Path.cwd()):
        layer = harmless(layer, str(file), file.parent)
    layer = mirrored_layer(layer, folder) if is_mirror(folder) else layer
    joint = layered(layer, str(file or "settings"), row or {}, environment_layer(Settings, environ), overrides)
    placed = _placed(joint, file, folder)
    placed._given = given_variables(environ, overrides)
    placed._secrets = {name: environ[name] for name in SECRETS if name in environ}
    return placed


def layered(layer: Layer, place: str, *stronger: Mapping[str, Any]) -> Settings:
    """Lay layers over what a file says, each over those before it."""
    for one in stronger:
        layer = merge(loosen_systems(layer, one), one)
    return _validate(layer, place)


def find_file(folder: Path) -> Path | None:
    """Find the nearest lineage.toml, or pyproject.toml with `[tool.lineage]`, from a folder upwards."""
    for parent in (folder, *folder.parents):
        if (parent / FILE_NAME).is_file():
            return parent / FILE_NAME
        if (parent / PROJECT_NAME).is_file() and _parse(parent / PROJECT_NAME):
            return parent / PROJECT_NAME
    return None


def _parse(file: Path) -> Layer:
    return own_part(read_toml(file), file.name)


def own_part(content: Layer, name: str) -> Layer:
    """Give our part of a settings file."""
    return dict(content.get("tool", {}).get("lineage", {})) if name == PROJECT_NAME else content


def _validate(layer: Layer, place: str) -> Settings:
    try:
        return Settings.model_validate(layer)
    except ValidationError as error:
        problem = min(error.errors(), key=lambda problem: problem["type"] != "extra_forbidden")
        where = ".".join(str(part) for part in problem["loc"])
        if problem["type"] != "extra_forbidden":
            raise LineageError(f"{place}: {where}: {problem['msg'][0].lower()}{problem['msg'][1:]}") from None
        model: type[Section] = Settings
        for part in problem["loc"][:-1]:
            model = (section_of(model, part) if isinstance(part, str) else None) or model
        hint = moved(Settings, where) or suggestion(str(problem["loc"][-1]), model.model_fields)
        raise LineageError(f"{place}: unknown key {where}; {hint}") from None


def _placed(settings: Settings, file: Path | None, folder: Path) -> Settings:
    """Remember where the settings stand, and make the warehouse's path independent of the working folder."""
    root = file.parent if file else folder
    warehouse = settings.warehouse if "://" in settings.warehouse else str(root / settings.warehouse)
    placed = settings.model_copy(update={"warehouse": warehouse})
    placed._root, placed._file, placed._schemas_root = root, file, root
    if folder != root and folder.is_relative_to(root) and not is_mirror(folder):
        placed._prefix = folder.relative_to(root).as_posix() + "/"
    return placed
