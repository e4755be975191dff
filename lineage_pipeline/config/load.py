"""Loads the settings, and says where each comes from: flags, `LINEAGE_*`, lineage.toml, `[tool.lineage]` or default."""

import difflib
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec
from pydantic import PrivateAttr, ValidationError, field_validator

from lineage_pipeline.config.file_manifest import ManifestEntry, parse_file_manifest
from lineage_pipeline.config.models import (
    COMMA_LISTS,
    DEFAULT_EXCLUDE,
    DEFAULT_INCLUDE,
    DEFAULTS,
    READING_TABLES,
    REPOSITORY_TABLES,
    VARIABLE_PREFIX,
    AlertSettings,
    AnalysisSettings,
    ChecksSettings,
    DbtSettings,
    DiffSettings,
    LabelSettings,
    OpenLineageSettings,
    RepositorySettings,
    RetentionSettings,
    SettingsLayer,
    SettingsSection,
    SparkSettings,
    SystemSettings,
    TemplatingSettings,
    WatchSettings,
    build_options,
    collect_variables,
    drop_overridden,
    merge_layers,
)
from lineage_pipeline.config.toml_files import parse_toml_text, read_toml_file, suggest_word
from lineage_pipeline.files.bounded_files import LISTING, read_bounded_file
from lineage_pipeline.files.encoding import decode_content
from lineage_pipeline.files.fingerprints import engine_version
from lineage_pipeline.files.git_command import run_git
from lineage_pipeline.files.path_patterns import matches_path, matches_path_any_case
from lineage_pipeline.files.sql_endings import FileChoice, choose_by_ending
from lineage_pipeline.model.analysis import Options, SchemaImports, TableSchema
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.templating import Templating

__all__ = ["Settings", "find_settings_file", "load_settings"]

SECRET_VARIABLES = ("PGPASSWORD", "LINEAGE_CATALOG_PASSWORD", "DATABRICKS_TOKEN")
"""Environment variables with secrets of catalogs; no file and no address holds one."""


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

    @field_validator("include")
    @classmethod
    def _expand_default_include(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        return _expand_defaults(patterns, DEFAULT_INCLUDE)

    @field_validator("exclude")
    @classmethod
    def _expand_default_exclude(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        return _expand_defaults(patterns, DEFAULT_EXCLUDE)

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
        """Return whether a file is read, whatever is in it."""
        return self.choose(path) is FileChoice.READ

    def choose(self, path: str) -> FileChoice:
        """Return what becomes of a file; one that the user's own settings leave out is never news."""
        full = self._prefix + path
        if self.manifest:
            return FileChoice.READ if full in self._manifest() else FileChoice.LEFT_OUT
        if matches_path_any_case(full, self.exclude):
            return FileChoice.EXCLUDED_BY_DEFAULT if self.exclude == DEFAULT_EXCLUDE else FileChoice.LEFT_OUT
        if matches_path_any_case(full, self.include):
            return FileChoice.READ
        extends = self.include == DEFAULT_INCLUDE or set(self.include).issuperset(DEFAULT_INCLUDE)
        return choose_by_ending(path) if extends else FileChoice.LEFT_OUT

    def leaves_out(self, path: str) -> bool:
        """Return whether a file is excluded, whatever kind of file it is."""
        return not self.manifest and matches_path_any_case(self._prefix + path, self.exclude)

    def options_for(self, path: str) -> Options:
        """Return the options of the first system whose paths match; its name only where there are several."""
        full = self._prefix + path
        system = next((system for system in self.systems if matches_path(full, system.paths)), None)
        listed = self._manifest().get(full) if self.manifest else None
        return listed.apply_to(self._options(system)) if listed is not None else self._options(system)

    def list_required_files(self) -> tuple[str, ...]:
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


def _expand_defaults(patterns: tuple[str, ...], defaults: tuple[str, ...]) -> tuple[str, ...]:
    """Replace the word `defaults` by the default patterns, so that a setting can add to them."""
    return tuple(one for pattern in patterns for one in (defaults if pattern == DEFAULTS else (pattern,)))


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


LINEAGE_PREFIX = "LINEAGE_"
CONFIG_VARIABLE = "LINEAGE_CONFIG"  # names the settings file; without it the file is searched upwards


def find_section(model: type[SettingsSection], key: str) -> type[SettingsSection] | None:
    """Return the model of a nested table, or of the rows of a list of tables."""
    annotation = model.model_fields[key].annotation
    for candidate in (annotation, *getattr(annotation, "__args__", ())):
        if isinstance(candidate, type) and issubclass(candidate, SettingsSection):
            return candidate
    return None


def list_variables(model: type[SettingsSection], path: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each setting that an environment variable can set; those of `[analysis]` omit the table name."""
    for key, field in model.model_fields.items():
        inner = find_section(model, key)
        if inner and field.annotation is inner:
            yield from list_variables(inner, (*path, key))
        elif not inner and not str(field.annotation).startswith("dict"):
            named = (*path[1:], key) if path[:1] == ("analysis",) else (*path, key)
            yield LINEAGE_PREFIX + "_".join(named).upper(), (*path, key)


def suggest_section(model: type[SettingsSection], key: str) -> str:
    """Return a hint in which table a top-level key belongs, or None."""
    sections = {name: field.annotation for name, field in model.model_fields.items()}
    owners = [
        name for name, inner in sections.items() if inner is find_section(model, name) and key in _section_keys(inner)
    ]
    return f"did you mean {owners[0]}.{key}?" if len(owners) == 1 else ""


def _section_keys(section: object) -> Iterable[str]:
    return section.model_fields if isinstance(section, type) and issubclass(section, SettingsSection) else ()


def read_environment_layer(model: type[SettingsSection], environ: Mapping[str, str]) -> SettingsLayer:
    """Read `LINEAGE_*`; a near miss of one of ours is an error, other names are ignored."""
    known = dict(list_variables(model))
    layer: SettingsLayer = {}
    for name in sorted(environ):
        if name in known:
            (*sections, key), text = known[name], environ[name]
            value: SettingsLayer = {key: [part.strip() for part in text.split(",")] if key in COMMA_LISTS else text}
            for section in reversed(sections):
                value = {section: value}
            layer = merge_layers(layer, value)
        elif name.startswith(LINEAGE_PREFIX) and name != CONFIG_VARIABLE and not name.startswith(VARIABLE_PREFIX):
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.85)
            if close:
                raise LineageError(f"unknown environment variable {name}; did you mean {close[0]}?")
    return layer


PATH_SETTINGS = (
    ("manifest",),
    ("templating", "variables_file"),
    ("analysis", "schemas"),
    ("systems", "schemas"),
)
"""Settings that name files to read."""


def is_own_file(file: Path, here: Path) -> bool:
    """Return whether a settings file is the user's own: in the working directory or above."""
    return here.is_relative_to(file.parent)


def restrict_foreign_layer(layer: SettingsLayer, source: str, root: Path) -> SettingsLayer:
    """Refuse foreign settings that run code, contact other machines, or name files outside the repository.

    A foreign warehouse setting is dropped, since the user decides where results go.
    """
    if any(value is not False for value in _values_at(layer, ("dbt", "trust"))):
        raise LineageError(f"{source}: dbt.trust is {_FOREIGN_LAYER_ADVICE}")
    for keys in PATH_SETTINGS:
        for place in _values_at(layer, keys):
            if isinstance(place, str) and _is_outside(place, root):
                raise LineageError(
                    f"{source}: {'.'.join(keys)} leads out of its folder, which is {_FOREIGN_LAYER_ADVICE}"
                )
    return {key: value for key, value in layer.items() if key != "warehouse" or not _is_outside(str(value), root)}


_FOREIGN_LAYER_ADVICE = (
    "for whoever starts the analysis to say: start it in that folder, or name the file in LINEAGE_CONFIG"
)


def _is_outside(place: str, root: Path) -> bool:
    """Return whether a path is outside both a folder and the working directory; snapshots are named by key."""
    kind, _, rest = place.partition("snapshot:")
    path = (place if kind else rest.rpartition("#")[0]).removeprefix("duckdb:///")
    leading = (root.resolve() / path).resolve()
    return "://" in path or not any(leading.is_relative_to(folder) for folder in (root.resolve(), Path.cwd()))


def _values_at(node: Any, keys: tuple[str, ...]) -> Iterator[Any]:
    """Yield the values at a key path, in every row of lists on the way."""
    if isinstance(node, list):
        for item in node:
            yield from _values_at(item, keys)
    elif not keys:
        yield node
    elif isinstance(node, dict) and keys[0] in node:
        yield from _values_at(node[keys[0]], keys[1:])


MIRROR_FOLDERS = (".lineage", "mirrors")
"""The folders that hold mirrors of remote repositories."""


def is_mirror_folder(folder: Path) -> bool:
    """Return whether a folder is a mirror of a remote repository."""
    return folder.parts[-4:-2] == MIRROR_FOLDERS and (folder / "HEAD").is_file()


def read_mirror_layer(mirror: Path) -> SettingsLayer | None:
    """Read the settings of a mirrored repository on its default branch, if it has some."""
    for name in ("lineage.toml", "pyproject.toml"):
        try:
            text = run_git(mirror, "cat-file", "blob", f"HEAD:{name}").decode("utf-8")
        except (LineageError, UnicodeDecodeError):
            continue
        content = parse_toml_text(text, f"{mirror.name}:{name}")
        own = content if name == "lineage.toml" else dict(content.get("tool", {}).get("lineage", {}))
        if own:
            return restrict_foreign_layer(own, f"{mirror.name}:{name}", mirror)
    return None


def apply_mirror_layer(layer: SettingsLayer, mirror: Path) -> SettingsLayer:
    """Take the reading and judging tables from a mirrored repository, and all others from our settings."""
    own = read_mirror_layer(mirror)
    if own is None:
        return layer
    return {key: value for key, value in layer.items() if key not in REPOSITORY_TABLES} | {
        key: value for key, value in own.items() if key in REPOSITORY_TABLES
    }


class SettingOrigin(NamedTuple):
    """One value, and where it was set."""

    key: str
    value: Any
    origin: str


def list_setting_origins(start: Path, environ: Mapping[str, str]) -> tuple[Settings, list[SettingOrigin]]:
    """Load the settings, and return each with its origin."""
    settings = load_settings(start, {}, environ)
    folder = (start if start.is_dir() else start.parent).resolve()
    file = Path(environ[CONFIG_VARIABLE]).resolve() if environ.get(CONFIG_VARIABLE) else find_settings_file(folder)
    in_file = dict(_flatten_layer(parse_settings_file(file))) if file else {}
    in_environment = dict(_flatten_layer(read_environment_layer(Settings, environ)))
    names = {".".join(path): name for name, path in list_variables(Settings)}
    found = []
    for key, value in _flatten_layer(settings.model_dump(mode="json")):
        if key in in_environment:
            found.append(SettingOrigin(key, value, f"environment {names[key]}"))
        elif any(known == key or known.startswith(f"{key}.") or key.startswith(f"{known}.") for known in in_file):
            found.append(SettingOrigin(key, value, str(file)))
        else:
            found.append(SettingOrigin(key, value, "default"))
    return settings, found


def _flatten_layer(layer: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Return the values of nested tables by dotted keys; lists and free tables are values."""
    for key, value in layer.items():
        if isinstance(value, Mapping) and value and not _is_free_table(f"{path}{key}"):
            yield from _flatten_layer(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


FREE_TABLES = frozenset({"spark.config", "openlineage.namespaces", "diff.levels"})
"""Tables whose keys are the user's own."""


def _is_free_table(key: str) -> bool:
    return key in FREE_TABLES
