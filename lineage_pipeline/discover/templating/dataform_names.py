"""What names mean in a Dataform project: its actions, the defaults of its settings, and constants that are included."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import yaml

from lineage_pipeline.discover.templating.dataform_syntax import (
    Called,
    Span,
    blocks,
    calls_in,
    constants_of,
    entries_of,
    masked_text,
    split,
)
from lineage_pipeline.discover.templating.protocol import Library
from lineage_pipeline.discover.yamls import load_yaml
from lineage_pipeline.vocabulary.analysis import HOLE

SETTING = re.compile(r"\b(\w+)\s*:\s*(?:\"([^\"]*)\"|'([^']*)'|`([^`]*)`)")
CALL = re.compile(r"(?:\w+\.)?(ref|resolve|self|name)\s*\((.*)\)\s*\Z", re.DOTALL)
STRING = re.compile(r"\"([^\"]*)\"|'([^']*)'|`([^`$]*)`")
WHEN = re.compile(r"(?:\w+\.)?when\s*\(\s*(?:\w+\.)?incremental\(\)\s*,\s*`(.*?)`", re.DOTALL)
SETTINGS = ("workflow_settings.yaml", "dataform.json")
KEYS = (("defaultProject", "defaultDatabase"), ("defaultDataset", "defaultSchema"))
PROJECT = "dataform.projectConfig."
INCLUDES = "includes"
WORDS = {"operate": "operations", "assert": "assertion", "declare": "declaration"}


class Action(NamedTuple):
    """What a file makes: its kind, and the parts of its name."""

    kind: str
    database: str
    schema: str
    name: str

    def written(self) -> str:
        """Give the name as BigQuery writes it."""
        return ".".join(f"`{part}`" for part in (self.database, self.schema, self.name) if part)


class DataformNames:
    """The names of a repository."""

    def __init__(self, library: Library) -> None:
        """Read the settings, what is included, and which actions there are."""
        self.defaults, self.constants = _settings(library)
        self.constants |= dict(_included(library))
        self.actions: dict[str, Action] = {}
        for path in library.paths():
            if path.endswith(".sqlx"):
                self._list(self.action_of_file(path, library.read(path) or ""))
            elif path.endswith(".js") and in_project(path, library):
                text = library.read(path) or ""
                constants = constants_of(text)
                for called in calls_in(text):
                    self._list(self.action_of_call(text, called, constants))

    def _list(self, action: Action) -> None:
        if HOLE not in action.written():
            self.actions[action.name] = action

    def action_of_file(self, path: str, text: str) -> Action:
        """Give the action of a `.sqlx` file."""
        config = next((text[start:end] for word, _, start, end in blocks(text) if word == "config"), "")
        said = {key: one or two or three for key, one, two, three in SETTING.findall(config)}
        return self._action(said, "operations", posixpath.splitext(posixpath.basename(path))[0])

    def action_of_call(self, text: str, called: Called, constants: Mapping[str, object]) -> Action:
        """Give the action that a call makes; what nobody writes out is a hole."""
        said: dict[str, str] = {}
        for start, end in (*called.arguments, *(span for word, span in called.said if word == "config")):
            inner = text[start:end].strip()
            if inner.startswith("{"):
                said |= {key: self.part(value, constants) or HOLE for key, value in entries_of(inner)}
        said |= {word: self.part(text[slice(*span)], constants) or HOLE for word, span in called.said}
        first = called.arguments[0] if called.arguments else Span(0, 0)
        if called.word in WORDS:
            said["type"] = WORDS[called.word]
        return self._action(said, "view", self.part(text[first.start : first.end], constants) or HOLE)

    def _action(self, said: Mapping[str, str], kind: str, name: str) -> Action:
        database, schema = self.defaults
        return Action(
            said.get("type", kind), said.get("database", database), said.get("schema", schema), said.get("name", name)
        )

    def value(self, inner: str, action: Action, variables: Mapping[str, object]) -> str | None:
        """Give what stands in the place of `${…}`, or None where nobody knows."""
        call = CALL.match(inner)
        if call is None:
            return "" if WHEN.match(inner) else self._constant(inner, variables)
        if call.group(1) in ("self", "name"):
            return action.written()
        given = self._given(call.group(2), variables)
        if given is None:
            return None
        known = self.actions.get(given["name"])
        if known is not None and given["schema"] in ("", known.schema) and given["database"] in ("", known.database):
            return known.written()
        database, schema = self.defaults
        return Action("", given["database"] or database, given["schema"] or schema, given["name"]).written()

    def _given(self, arguments: str, variables: Mapping[str, object]) -> dict[str, str] | None:
        """Give the parts of a name that a call is given: one by one, or by an object."""
        parts = {"name": "", "schema": "", "database": ""}
        if arguments.strip().startswith("{"):
            named = {key: self.part(value, variables) for key, value in entries_of(arguments.strip()) if key in parts}
        else:
            masked = masked_text(arguments)
            listed = [self.part(arguments[slice(*span)], variables) for span in split(masked, 0, len(masked))]
            named = dict(zip(parts, reversed(listed), strict=False))
        if None in named.values():
            return None
        return parts | {key: value for key, value in named.items() if value is not None}

    def part(self, written: str, variables: Mapping[str, object]) -> str | None:
        """Give a part of a name: a literal, or a constant."""
        string = STRING.fullmatch(written.strip())
        if string is None:
            return self._constant(written.strip(), variables)
        return next(part for part in string.groups() if part is not None)

    def _constant(self, name: str, variables: Mapping[str, object]) -> str | None:
        """Give what a name stands for: a variable that is given, one of the project, or a constant that is included."""
        short = name.removeprefix(f"{PROJECT}vars.").removeprefix("constants.")
        known = variables.get(short, self.constants.get(name))
        return None if known is None else str(known)


def in_project(path: str, library: Library) -> bool:
    """Say whether a program lies where Dataform reads: among the definitions or the includes of a project."""
    folders = path.split("/")[:-1]
    roots = ["/".join(folders[:place]) for place, name in enumerate(folders) if name in ("definitions", INCLUDES)]
    return any(library.read(posixpath.join(root, name)) is not None for root in roots for name in SETTINGS)


def _included(library: Library) -> Iterator[tuple[str, str]]:
    """Give the constants of the programs that all files may name: `constants.x` of `includes/constants.js`."""
    for path in library.paths():
        folder, name = posixpath.split(path)
        if posixpath.basename(folder) == INCLUDES and name.endswith(".js") and in_project(path, library):
            found = constants_of(library.read(path) or "")
            yield from ((f"{name.removesuffix('.js')}.{key}", value) for key, value in found.items())


def _settings(library: Library) -> tuple[tuple[str, str], dict[str, str]]:
    """Give the project and the dataset that names without them mean, and what settings give names to."""
    for path in library.paths():
        if posixpath.basename(path) not in SETTINGS:
            continue
        try:
            document = load_yaml(library.read(path) or "")  # JSON is YAML, too
        except (yaml.YAMLError, RecursionError):  # names stay as they are written
            continue
        if isinstance(document, Mapping):
            first, second = (next((str(document[key]) for key in keys if document.get(key)), "") for keys in KEYS)
            given = document.get("vars")
            said = {f"vars.{key}": str(value) for key, value in given.items()} if isinstance(given, Mapping) else {}
            said |= {key: value for keys, value in zip(KEYS, (first, second), strict=True) for key in keys if value}
            return (first, second), {f"{PROJECT}{key}": value for key, value in said.items()}
    return ("", ""), {}
