"""Dataform: `.sqlx` files and JavaScript calls become CREATE statements; `${ref("x")}` and the like become names."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import yaml

from lineage_pipeline.discover.embedded_sql.curly_languages import BRACED_FIELD, LITERAL_TOKENS
from lineage_pipeline.discover.templating.pieces import Pieces
from lineage_pipeline.discover.templating.protocol import Library, Problem, Rendered, Template
from lineage_pipeline.discover.templating.undefined import placeholder_identifier
from lineage_pipeline.files.bounded_yaml import load_yaml
from lineage_pipeline.model.analysis import RUNTIME_PLACEHOLDER

SQLX_BLOCK = re.compile(r"^[ \t]*(config|js|pre_operations|post_operations|input\s+\"[^\"]*\")\s*\{", re.MULTILINE)
ACTION_CALL = re.compile(r"(?<![\w.$])(publish|operate|assert|declare)\s*\(")
METHOD_CALL = re.compile(r"\s*\.\s*(\w+)\s*\(")
CONSTANT_DECLARATION = re.compile(r"\b(?:const|let|var)\s+([\w$]+)\s*=\s*(?=['\"`])")
RETURN_START = re.compile(r"(?:=>|\breturn)[\s(]*\Z")
"""What precedes the text that a function returns."""

OPENING, CLOSING = "([{", ")]}"
QUERY_METHODS = {"query": "query", "queries": "query", "preOps": "pre_operations", "postOps": "post_operations"}
CONFIG_METHODS = ("config", "type", "schema", "database")
"""Methods that configure an action, besides its second argument."""


class TextSpan(NamedTuple):
    """A slice of a file."""

    start: int
    end: int


class ActionCall(NamedTuple):
    """A call that defines an action: its function, arguments, configuring methods, and query texts."""

    word: str
    at: int
    arguments: tuple[TextSpan, ...]
    said: tuple[tuple[str, TextSpan], ...]
    queries: tuple[tuple[str, tuple[TextSpan, ...]], ...]


def defines_actions(text: str) -> bool:
    """Return whether a program defines Dataform actions."""
    return ACTION_CALL.search(text) is not None and any(True for _ in find_action_calls(text))


def find_action_calls(text: str) -> Iterator[ActionCall]:
    """Yield the calls that define actions, in order."""
    masked, at = mask_literals(text), 0
    while (match := ACTION_CALL.search(masked, at)) is not None:  # none is inside of another
        end = find_closing_bracket(masked, match.end())
        said: list[tuple[str, TextSpan]] = []
        queries: list[tuple[str, tuple[TextSpan, ...]]] = []
        at = end
        while (method := METHOD_CALL.match(masked, at)) is not None:
            at = find_closing_bracket(masked, method.end())
            inside = TextSpan(method.end(), at - 1)
            if method[1] in QUERY_METHODS:
                queries.append((QUERY_METHODS[method[1]], tuple(_query_texts(text, masked, inside))))
            elif method[1] in CONFIG_METHODS:
                said.append((method[1], inside))
        yield ActionCall(
            word=match[1],
            at=match.start(),
            arguments=tuple(split_arguments(masked, match.end(), end - 1)),
            said=tuple(said),
            queries=tuple(queries),
        )


def mask_literals(text: str) -> str:
    """Return a program with comments and the contents of literals blanked."""

    def blank(match: re.Match[str]) -> str:
        if match.lastgroup is None:
            return re.sub(r"[^\n]", " ", match[0])
        return match[0][0] + re.sub(r"[^\n]", " ", match[0][1:-1]) + match[0][-1]

    return LITERAL_TOKENS["javascript"].sub(blank, text)


def find_closing_bracket(masked: str, at: int) -> int:
    """Return the offset behind the bracket that closes an open one."""
    depth = 1
    while at < len(masked) and depth:
        depth += (masked[at] in OPENING) - (masked[at] in CLOSING)
        at += 1
    return at


def split_arguments(masked: str, start: int, end: int) -> Iterator[TextSpan]:
    """Yield the arguments between two brackets."""
    depth, first = 0, start
    for at in range(start, end):
        depth += (masked[at] in OPENING) - (masked[at] in CLOSING)
        if masked[at] == "," and not depth:
            yield TextSpan(first, at)
            first = at + 1
    if masked[first:end].strip():
        yield TextSpan(first, end)


def _query_texts(text: str, masked: str, inside: TextSpan) -> Iterator[TextSpan]:
    """Yield the texts passed to a method: alone, in a list, or returned by an inline function."""
    for token in LITERAL_TOKENS["javascript"].finditer(text, *inside):
        if token.lastgroup is None:
            continue
        before = masked[inside.start : token.start()]
        opened = [sign for sign in before if sign in OPENING + CLOSING]
        listed = opened == ["["] or _bracket_depth(before) == 0
        if RETURN_START.search(before) or (listed and "=>" not in before.rpartition(",")[2]):
            yield TextSpan(*token.span(token.lastgroup))


def _bracket_depth(before: str) -> int:
    return sum((sign in OPENING) - (sign in CLOSING) for sign in before)


def object_entries(written: str) -> Iterator[tuple[str, str]]:
    """Yield the entries of an object literal; a name alone is its own value."""
    masked = mask_literals(written)
    for start, end in split_arguments(masked, 1, max(len(masked) - 1, 1)):
        key, colon, _ = masked[start:end].partition(":")
        yield key.strip(), written[start + len(key) + 1 : end].strip() if colon else key.strip()


def find_constants(text: str) -> Mapping[str, str]:
    """Return the constants of a program that are plain literals."""
    found: dict[str, str] = {}
    for match in CONSTANT_DECLARATION.finditer(text):
        token = LITERAL_TOKENS["javascript"].match(text, match.end())
        if token is None or token.lastgroup is None or "${" in token[0]:
            continue
        if text[token.end() : token.end() + 40].lstrip()[:1] not in ("+", "."):
            found[match[1]] = token[token.lastgroup]
    return found


def find_blocks(text: str) -> Iterator[tuple[str, int, int, int]]:
    """Yield the blocks of a file: keyword, start, start of its body, and end."""
    at = 0
    while (match := SQLX_BLOCK.search(text, at)) is not None:
        end = find_closing_brace(text, match.end(), len(text))
        yield match.group(1).split()[0], match.start(), match.end(), end
        at = end


def skip_placeholder(text: str, at: int, end: int) -> int:
    """Return the offset behind a `${…}` that begins here."""
    match = BRACED_FIELD.match(text, at, end)
    return match.end() if match else find_closing_brace(text, at + 2, end)


def find_closing_brace(text: str, at: int, end: int) -> int:
    """Return the offset behind the brace that closes an open one; strings may hold braces."""
    depth, quote = 1, ""
    while at < end and depth:
        sign = text[at]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        else:
            depth += (sign == "{") - (sign == "}")
        at += 1
    return at


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


CREATED_KINDS = {"table": "table", "incremental": "table", "view": "view"}
OBJECTLESS_ACTIONS = ("assertion", "declaration")
"""Kinds of actions that create nothing."""

JS_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
JS_SIMPLE_ESCAPES = {"n": "\n", "t": "\t"}
STATEMENT_END = "\n;\n"


class DataformTemplater:
    """Renders the `.sqlx` files of a repository, and the programs that define actions."""

    def __init__(self) -> None:
        """Start without a repository."""
        self._library: Library | None = None
        self._names: DataformNames | None = None

    def render(self, template: Template) -> Rendered:
        """Render one file."""
        if self._names is None or self._library is not template.library:
            self._library, self._names = template.library, DataformNames(template.library)
        if template.path.endswith(".js"):
            return ActionProgramRenderer(template, self._names).render()
        return SqlxRenderer(template, self._names, Pieces(), []).render()


class SqlxRenderer(NamedTuple):
    """Renders one `.sqlx` file."""

    template: Template
    names: DataformNames
    pieces: Pieces
    problems: list[Problem]

    def render(self) -> Rendered:
        """Return the pre-operations, the CREATE statement of the query, and the post-operations."""
        action = self.names.action_of_file(self.template.path, self.template.text)
        found = list(find_blocks(self.template.text))
        self._add_operations("pre_operations", found, action)
        if action.kind not in OBJECTLESS_ACTIONS:
            self._add_query(found, action)
        self._add_operations("post_operations", found, action)
        return Rendered(*self.pieces.done(), tuple(self.problems), dialect="bigquery")

    def _add_operations(self, word: str, found: list[tuple[str, int, int, int]], action: DataformAction) -> None:
        for kind, _, start, end in found:
            if kind == word:
                self._add_text(start, end - 1, action)
                self.pieces.add(STATEMENT_END)

    def _add_query(self, found: list[tuple[str, int, int, int]], action: DataformAction) -> None:
        if action.kind in CREATED_KINDS:
            self.pieces.add(f"create {CREATED_KINDS[action.kind]} {action.qualified_name()} as\n")
        at = 0
        for _, outer, _, end in found:
            self._add_text(at, outer, action)
            at = end
        self._add_text(at, len(self.template.text), action)
        self.pieces.add(STATEMENT_END)

    def _add_text(self, start: int, end: int, action: DataformAction) -> None:
        """Add a part of the file with names in place of its `${…}`."""
        text, at = self.template.text, start
        while (hole := text.find("${", at, end)) >= 0:
            close = skip_placeholder(text, hole, end)
            self.pieces.copy(text[at:hole], at)
            inner = text[hole + 2 : close - 1].strip()
            made = self.names.evaluate(inner, action, self.template.variables)
            if made is None:
                self.problems.append(Problem("UNDEFINED_VARIABLE", {"name": inner[:60]}, hole))
                made = placeholder_identifier(inner[:60])
            self.pieces.make(made, hole, close - hole)
            at = close
        self.pieces.copy(text[at:end], at)


class ActionProgramRenderer:
    """Renders a JavaScript program that defines actions, without running it; non-literal parts are placeholders."""

    def __init__(self, template: Template, names: DataformNames) -> None:
        """Store the program and the names of the project."""
        self.text, self.names = template.text, names
        self.constants: Mapping[str, object] = {**find_constants(template.text), **template.variables}
        self.pieces, self.problems = Pieces(), list[Problem]()

    def render(self) -> Rendered:
        """Return the statements of all actions."""
        for called in find_action_calls(self.text):
            action = self.names.action_of_call(self.text, called, self.constants)
            if action.kind not in OBJECTLESS_ACTIONS:
                self._add_action(called, action)
        return Rendered(*self.pieces.done(), tuple(self.problems), dialect="bigquery")

    def _add_action(self, called: ActionCall, action: DataformAction) -> None:
        for word in ("pre_operations", "query", "post_operations"):
            for spans in (spans for kind, spans in called.queries if kind == word):
                if not spans:  # a function elsewhere makes it
                    self.problems.append(Problem("DYNAMIC_SQL", {"share": "0"}, called.at))
                for span in spans:
                    if word == "query" and action.kind in CREATED_KINDS:
                        self.pieces.add(f"create {CREATED_KINDS[action.kind]} {action.qualified_name()} as\n")
                    self._add_text(span, action)
                    self.pieces.add(STATEMENT_END)

    def _add_text(self, span: TextSpan, action: DataformAction) -> None:
        """Add a literal with names in place of its `${…}`."""
        at = span.start
        while (hole := self.text.find("${", at, span.end)) >= 0:
            close = skip_placeholder(self.text, hole, span.end)
            self._copy_literal(at, hole)
            made = self.names.evaluate(self.text[hole + 2 : close - 1].strip(), action, self.constants)
            self.pieces.make(RUNTIME_PLACEHOLDER if made is None else made, hole, close - hole)
            at = close
        self._copy_literal(at, span.end)

    def _copy_literal(self, start: int, end: int) -> None:
        """Copy a part of a literal; its escapes are generated text."""
        at = start
        for match in JS_ESCAPE.finditer(self.text, start, end):
            self.pieces.copy(self.text[at : match.start()], at)
            self.pieces.make(JS_SIMPLE_ESCAPES.get(match[1], match[1]), match.start(), 2)
            at = match.end()
        self.pieces.copy(self.text[at:end], at)
