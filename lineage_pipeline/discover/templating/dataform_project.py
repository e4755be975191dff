"""Names in a Dataform project: its actions, the defaults of its settings, and included constants."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import yaml

from lineage_pipeline.discover.templating.dataform_syntax import (
    ActionCall,
    TextSpan,
    find_action_calls,
    find_blocks,
    find_constants,
    mask_literals,
    object_entries,
    split_arguments,
)
from lineage_pipeline.discover.templating.protocol import Library
from lineage_pipeline.files.bounded_yaml import load_yaml
from lineage_pipeline.model.analysis import RUNTIME_PLACEHOLDER

CONFIG_SETTING = re.compile(r"\b(\w+)\s*:\s*(?:\"([^\"]*)\"|'([^']*)'|`([^`]*)`)")
REFERENCE_CALL = re.compile(r"(?:\w+\.)?(ref|resolve|self|name)\s*\((.*)\)\s*\Z", re.DOTALL)
STRING_LITERAL = re.compile(r"\"([^\"]*)\"|'([^']*)'|`([^`$]*)`")
WHEN_INCREMENTAL = re.compile(r"(?:\w+\.)?when\s*\(\s*(?:\w+\.)?incremental\(\)\s*,\s*`(.*?)`", re.DOTALL)
SETTINGS_FILES = ("workflow_settings.yaml", "dataform.json")
DEFAULT_KEYS = (("defaultProject", "defaultDatabase"), ("defaultDataset", "defaultSchema"))
PROJECT_CONFIG_PREFIX = "dataform.projectConfig."
INCLUDES_FOLDER = "includes"
ACTION_KINDS = {"operate": "operations", "assert": "assertion", "declare": "declaration"}


class DataformAction(NamedTuple):
    """What a file defines: its kind, and the parts of its name."""

    kind: str
    database: str
    schema: str
    name: str

    def qualified_name(self) -> str:
        """Return the name as BigQuery writes it."""
        return ".".join(f"`{part}`" for part in (self.database, self.schema, self.name) if part)


class DataformNames:
    """The names of a repository."""

    def __init__(self, library: Library) -> None:
        """Read the settings, the included constants, and the actions."""
        self.defaults, self.constants = _read_settings(library)
        self.constants |= dict(_read_includes(library))
        self.actions: dict[str, DataformAction] = {}
        for path in library.paths():
            if path.endswith(".sqlx"):
                self._add_action(self.action_of_file(path, library.read(path) or ""))
            elif path.endswith(".js") and is_in_dataform_project(path, library):
                text = library.read(path) or ""
                constants = find_constants(text)
                for called in find_action_calls(text):
                    self._add_action(self.action_of_call(text, called, constants))

    def _add_action(self, action: DataformAction) -> None:
        if RUNTIME_PLACEHOLDER not in action.qualified_name():
            self.actions[action.name] = action

    def action_of_file(self, path: str, text: str) -> DataformAction:
        """Return the action of a `.sqlx` file."""
        config = next((text[start:end] for word, _, start, end in find_blocks(text) if word == "config"), "")
        said = {key: one or two or three for key, one, two, three in CONFIG_SETTING.findall(config)}
        return self._build_action(said, "operations", posixpath.splitext(posixpath.basename(path))[0])

    def action_of_call(self, text: str, called: ActionCall, constants: Mapping[str, object]) -> DataformAction:
        """Return the action that a call defines; parts that are not literals are placeholders."""
        said: dict[str, str] = {}
        for start, end in (*called.arguments, *(span for word, span in called.said if word == "config")):
            inner = text[start:end].strip()
            if inner.startswith("{"):
                said |= {
                    key: self.evaluate_part(value, constants) or RUNTIME_PLACEHOLDER
                    for key, value in object_entries(inner)
                }
        said |= {
            word: self.evaluate_part(text[slice(*span)], constants) or RUNTIME_PLACEHOLDER for word, span in called.said
        }
        first = called.arguments[0] if called.arguments else TextSpan(0, 0)
        if called.word in ACTION_KINDS:
            said["type"] = ACTION_KINDS[called.word]
        return self._build_action(
            said, "view", self.evaluate_part(text[first.start : first.end], constants) or RUNTIME_PLACEHOLDER
        )

    def _build_action(self, said: Mapping[str, str], kind: str, name: str) -> DataformAction:
        database, schema = self.defaults
        return DataformAction(
            said.get("type", kind), said.get("database", database), said.get("schema", schema), said.get("name", name)
        )

    def evaluate(self, inner: str, action: DataformAction, variables: Mapping[str, object]) -> str | None:
        """Return the value of a `${…}`, or None where it is unknown."""
        call = REFERENCE_CALL.match(inner)
        if call is None:
            return "" if WHEN_INCREMENTAL.match(inner) else self._resolve_constant(inner, variables)
        if call.group(1) in ("self", "name"):
            return action.qualified_name()
        given = self._reference_parts(call.group(2), variables)
        if given is None:
            return None
        known = self.actions.get(given["name"])
        if known is not None and given["schema"] in ("", known.schema) and given["database"] in ("", known.database):
            return known.qualified_name()
        database, schema = self.defaults
        return DataformAction(
            "", given["database"] or database, given["schema"] or schema, given["name"]
        ).qualified_name()

    def _reference_parts(self, arguments: str, variables: Mapping[str, object]) -> dict[str, str] | None:
        """Return the name parts of a reference: as arguments, or as an object."""
        parts = {"name": "", "schema": "", "database": ""}
        if arguments.strip().startswith("{"):
            named = {
                key: self.evaluate_part(value, variables)
                for key, value in object_entries(arguments.strip())
                if key in parts
            }
        else:
            masked = mask_literals(arguments)
            listed = [
                self.evaluate_part(arguments[slice(*span)], variables)
                for span in split_arguments(masked, 0, len(masked))
            ]
            named = dict(zip(parts, reversed(listed), strict=False))
        if None in named.values():
            return None
        return parts | {key: value for key, value in named.items() if value is not None}

    def evaluate_part(self, written: str, variables: Mapping[str, object]) -> str | None:
        """Return a part of a name: a literal, or a constant."""
        string = STRING_LITERAL.fullmatch(written.strip())
        if string is None:
            return self._resolve_constant(written.strip(), variables)
        return next(part for part in string.groups() if part is not None)

    def _resolve_constant(self, name: str, variables: Mapping[str, object]) -> str | None:
        """Return the value of a name: a given variable, one of the project, or an included constant."""
        short = name.removeprefix(f"{PROJECT_CONFIG_PREFIX}vars.").removeprefix("constants.")
        known = variables.get(short, self.constants.get(name))
        return None if known is None else str(known)


def is_in_dataform_project(path: str, library: Library) -> bool:
    """Return whether a program lies in the definitions or includes folder of a Dataform project."""
    folders = path.split("/")[:-1]
    roots = [
        "/".join(folders[:place]) for place, name in enumerate(folders) if name in ("definitions", INCLUDES_FOLDER)
    ]
    return any(library.read(posixpath.join(root, name)) is not None for root in roots for name in SETTINGS_FILES)


def _read_includes(library: Library) -> Iterator[tuple[str, str]]:
    """Return the constants of included programs: `constants.x` of `includes/constants.js`."""
    for path in library.paths():
        folder, name = posixpath.split(path)
        if (
            posixpath.basename(folder) == INCLUDES_FOLDER
            and name.endswith(".js")
            and is_in_dataform_project(path, library)
        ):
            found = find_constants(library.read(path) or "")
            yield from ((f"{name.removesuffix('.js')}.{key}", value) for key, value in found.items())


def _read_settings(library: Library) -> tuple[tuple[str, str], dict[str, str]]:
    """Return the default project and dataset, and the variables of the settings."""
    for path in library.paths():
        if posixpath.basename(path) not in SETTINGS_FILES:
            continue
        try:
            document = load_yaml(library.read(path) or "")  # JSON is YAML, too
        except (yaml.YAMLError, RecursionError):  # names stay as they are written
            continue
        if isinstance(document, Mapping):
            first, second = (
                next((str(document[key]) for key in keys if document.get(key)), "") for keys in DEFAULT_KEYS
            )
            given = document.get("vars")
            said = {f"vars.{key}": str(value) for key, value in given.items()} if isinstance(given, Mapping) else {}
            said |= {
                key: value for keys, value in zip(DEFAULT_KEYS, (first, second), strict=True) for key in keys if value
            }
            return (first, second), {f"{PROJECT_CONFIG_PREFIX}{key}": value for key, value in said.items()}
    return ("", ""), {}
