"""Loads the settings: flags over `LINEAGE_*` over lineage.toml or `[tool.lineage]` over defaults."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import msgspec
from pydantic import PrivateAttr, ValidationError, field_validator

from lineage_pipeline.config.environment import CONFIG_VARIABLE, find_section, read_environment_layer, suggest_section
from lineage_pipeline.config.file_manifest import ManifestEntry, parse_file_manifest
from lineage_pipeline.config.layers import (
    DEFAULT_EXCLUDE,
    DEFAULT_INCLUDE,
    READING_TABLES,
    REPOSITORY_TABLES,
    SettingsLayer,
    drop_overridden,
    merge_layers,
)
from lineage_pipeline.config.models import (
    AlertSettings,
    AnalysisSettings,
    ChecksSettings,
    DbtSettings,
    DiffSettings,
    LabelSettings,
    OpenLineageSettings,
    RepositorySettings,
    RetentionSettings,
    SettingsSection,
    SparkSettings,
    SystemSettings,
    TemplatingSettings,
    WatchSettings,
    build_options,
    collect_variables,
)
from lineage_pipeline.config.repository_layer import (
    apply_mirror_layer,
    is_mirror_folder,
    is_own_file,
    restrict_foreign_layer,
)
from lineage_pipeline.config.toml_files import read_toml_file, suggest_word
from lineage_pipeline.files.bounded_files import LISTING, read_bounded_file
from lineage_pipeline.files.encoding import decode_content
from lineage_pipeline.files.fingerprints import engine_version
from lineage_pipeline.files.path_patterns import matches_path
from lineage_pipeline.model.analysis import Options, TableSchema
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.schema_imports import SECRET_VARIABLES, SchemaImports
from lineage_pipeline.model.templating import Templating

__all__ = [
    "DiffSettings",
    "RepositorySettings",
    "Settings",
    "SparkSettings",
    "SystemSettings",
    "find_settings_file",
    "load_settings",
]

FILE_NAME, PROJECT_NAME = "lineage.toml", "pyproject.toml"


class Settings(SettingsSection):
    """All settings. File paths are relative to the folder that the settings were loaded for."""

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
    include: tuple[str, ...] = DEFAULT_INCLUDE
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    manifest: str = ""

    @field_validator("repositories")
    @classmethod
    def _check_distinct_names(cls, rows: tuple[RepositorySettings, ...]) -> tuple[RepositorySettings, ...]:
        names = [row.name for row in rows]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"two repositories have the name {twice}")
        return rows

    _root: Path = PrivateAttr(default=Path())
    _prefix: str = PrivateAttr(default="")
    _schemas_root: Path = PrivateAttr(default=Path())
    _secrets: Mapping[str, str] = PrivateAttr(default_factory=dict)
    _imports: SchemaImports | None = PrivateAttr(default=None)
    _listed: dict[str, ManifestEntry] | None = PrivateAttr(default=None)
    _file: Path | None = PrivateAttr(default=None)
    _given: Mapping[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def root(self) -> Path:
        """Return the folder of the settings file, or the start of the search; relative paths start here."""
        return self._root

    @property
    def home(self) -> Path:
        """Return the folder of everything that runs write: the example, `dagster` for DAGSTER_HOME, the warehouse."""
        return self._root / ".lineage"

    @property
    def file(self) -> Path | None:
        """Return the settings file, if there is one."""
        return self._file

    def selects(self, path: str) -> bool:
        """Return whether a file is read."""
        full = self._prefix + path
        if self.manifest:
            return full in self._manifest()
        return matches_path(full, self.include) and not matches_path(full, self.exclude)

    def leaves_out(self, path: str) -> bool:
        """Return whether a file is excluded, whatever kind of file it is."""
        return not self.manifest and matches_path(self._prefix + path, self.exclude)

    def options_for(self, path: str) -> Options:
        """Return the options of the first system whose paths match; its name only where there are several."""
        full = self._prefix + path
        system = next((system for system in self.systems if matches_path(full, system.paths)), None)
        listed = self._manifest().get(full) if self.manifest else None
        return listed.apply_to(self._options(system)) if listed is not None else self._options(system)

    def listed(self) -> tuple[str, ...]:
        """Return the files of the manifest, relative to the folder that is read."""
        paths = self._manifest() if self.manifest else ()
        return tuple(path[len(self._prefix) :] for path in paths if path.startswith(self._prefix))

    def _manifest(self) -> dict[str, ManifestEntry]:
        """Read the manifest, once; it is relative to the settings' folder."""
        if self._listed is None:
            place = self._schemas_root / self.manifest
            try:
                self._listed = parse_file_manifest(
                    decode_content(read_bounded_file(place, LISTING)).text, self.manifest
                )
            except OSError as error:
                raise LineageError(f"{place}: {error.strerror}") from None
        return self._listed

    def _options(self, system: SystemSettings | None) -> Options:
        several = len({system.name for system in self.systems}) > 1
        return build_options(self.analysis, system, system.name if system and several else "", self.labels)

    def options_of(self, name: str) -> Options:
        """Return the options of a system by its name; without one, those of the only or the first system."""
        named = [system for system in self.systems if name in ("", system.name)]
        if name and not named:
            hint = suggest_word(name, (system.name for system in self.systems))
            raise LineageError(f"there is no system {name} in the settings; {hint}")
        return self._options(named[0] if named else None)

    def templating_for(self, path: str) -> Templating:
        """Return how the file at this path is rendered, if it is a template."""
        return self.templating.templating_for(self._prefix + path, self._schemas_root, self._given, self.dbt)

    def with_engine_defaults(self, dialect: str, default_schema: str) -> Self:
        """Return settings with missing dialect and default schema taken from an engine."""
        said = {"dialect": dialect, "default_schema": default_schema}
        blank = {key: value for key, value in said.items() if not getattr(self.analysis, key)}
        return self.model_copy(update={"analysis": self.analysis.model_copy(update=blank)})

    @property
    def schemas_root(self) -> Path:
        """Return the folder that the places of imported schemas are relative to."""
        return self._schemas_root

    @property
    def secrets(self) -> Mapping[str, str]:
        """Return the environment variables with secrets of catalogs."""
        return self._secrets

    def schema_places(self) -> Iterator[tuple[tuple[str, ...], Options]]:
        """Yield the places of the schemas of each system, with its options; a system without a list takes all."""
        for system in self.systems or (None,):
            places = self.analysis.schemas if system is None or system.schemas is None else system.schemas
            yield places, self._options(system)

    def cache_imports(self, read: Callable[[Self], SchemaImports]) -> SchemaImports:
        """Return the imported schemas; `read` reads them the first time."""
        if self._imports is None:
            self._imports = read(self)
        return self._imports

    def hash_with_schemas(self, imported: Mapping[str, TableSchema]) -> str:
        """Hash the engine, how files are selected and read, and imported schemas."""
        chosen = self.model_dump(mode="json", include=set(READING_TABLES))
        schemas = msgspec.json.encode([*sorted(imported.items())]).decode()
        listed = [msgspec.to_builtins(one) for one in self._manifest().values()] if self.manifest else []
        parts = [engine_version(), self._prefix, chosen, schemas, listed, dict(self._given)]
        text = json.dumps(parts, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def namespaces(self) -> dict[str, str]:
        """Return the OpenLineage namespace of each system; the unnamed one is that of the only system or dialect."""
        names = {system.name: self.openlineage.namespaces.get(system.name, system.name) for system in self.systems}
        only = next(iter(names), "") or self.analysis.dialect or "default"
        return names | {"": self.openlineage.namespaces.get(only, names.get(only, only))}

    def unnamed_systems(self) -> dict[str, str]:
        """Return the systems without a configured namespace, by the name that objects have for them."""
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
        """Return settings with the reading and judging tables of a repository; where results go stays."""
        own = load_settings(repo, overrides, environ, row.as_layer(self.root) if row else {})
        taken = {name: getattr(own, name) for name in REPOSITORY_TABLES}
        joint = self.model_copy(update=taken)
        joint._prefix, joint._schemas_root, joint._secrets = own._prefix, own._schemas_root, own._secrets
        joint._given, joint._imports, joint._listed = own._given, None, None
        return joint


def load_settings(
    start: Path, overrides: Mapping[str, Any], environ: Mapping[str, str], row: Mapping[str, Any] | None = None
) -> Settings:
    """Merge the file found from `start` upwards, the row of the repository, the environment and the flags.

    A flag that is None is not given.
    """
    folder = (start if start.is_dir() else start.parent).resolve()
    file = Path(environ[CONFIG_VARIABLE]).resolve() if environ.get(CONFIG_VARIABLE) else find_settings_file(folder)
    layer = parse_settings_file(file) if file else {}
    if file and not environ.get(CONFIG_VARIABLE) and not is_own_file(file, Path.cwd()):
        layer = restrict_foreign_layer(layer, str(file), file.parent)
    layer = apply_mirror_layer(layer, folder) if is_mirror_folder(folder) else layer
    joint = merge_and_validate(
        layer, str(file or "settings"), row or {}, read_environment_layer(Settings, environ), overrides
    )
    placed = _bind_to_folder(joint, file, folder)
    placed._given = collect_variables(environ, overrides)
    placed._secrets = {name: environ[name] for name in SECRET_VARIABLES if name in environ}
    return placed


def merge_and_validate(layer: SettingsLayer, place: str, *stronger: Mapping[str, Any]) -> Settings:
    """Merge layers over a file's layer, each over those before it, and validate the result."""
    for one in stronger:
        layer = merge_layers(drop_overridden(layer, one), one)
    return _validate_layer(layer, place)


def find_settings_file(folder: Path) -> Path | None:
    """Find the nearest lineage.toml, or pyproject.toml with `[tool.lineage]`, from a folder upwards."""
    for parent in (folder, *folder.parents):
        if (parent / FILE_NAME).is_file():
            return parent / FILE_NAME
        if (parent / PROJECT_NAME).is_file() and parse_settings_file(parent / PROJECT_NAME):
            return parent / PROJECT_NAME
    return None


def parse_settings_file(file: Path) -> SettingsLayer:
    return select_own_table(read_toml_file(file), file.name)


def select_own_table(content: SettingsLayer, name: str) -> SettingsLayer:
    """Return our part of a settings file: `[tool.lineage]` of pyproject.toml, else the whole."""
    return dict(content.get("tool", {}).get("lineage", {})) if name == PROJECT_NAME else content


def _validate_layer(layer: SettingsLayer, place: str) -> Settings:
    try:
        return Settings.model_validate(layer)
    except ValidationError as error:
        problem = min(error.errors(), key=lambda problem: problem["type"] != "extra_forbidden")
        where = ".".join(str(part) for part in problem["loc"])
        if problem["type"] != "extra_forbidden":
            raise LineageError(f"{place}: {where}: {problem['msg'][0].lower()}{problem['msg'][1:]}") from None
        model: type[SettingsSection] = Settings
        for part in problem["loc"][:-1]:
            model = (find_section(model, part) if isinstance(part, str) else None) or model
        hint = suggest_section(Settings, where) or suggest_word(str(problem["loc"][-1]), model.model_fields)
        raise LineageError(f"{place}: unknown key {where}; {hint}") from None


def _bind_to_folder(settings: Settings, file: Path | None, folder: Path) -> Settings:
    """Store where the settings were found, and make the warehouse path absolute."""
    root = file.parent if file else folder
    warehouse = settings.warehouse if "://" in settings.warehouse else str(root / settings.warehouse)
    placed = settings.model_copy(update={"warehouse": warehouse})
    placed._root, placed._file, placed._schemas_root = root, file, root
    if folder != root and folder.is_relative_to(root) and not is_mirror_folder(folder):
        placed._prefix = folder.relative_to(root).as_posix() + "/"
    return placed
