"""Placeholders outside of template languages: `$(x)`, `${x}`, `{x}` and `:x`, each enabled by a rule."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from lineage_pipeline.discover.templating.pieces import Pieces
from lineage_pipeline.discover.templating.protocol import Problem, Rendered, Template
from lineage_pipeline.discover.templating.sqlcmd import SETVAR_COMMAND, find_includes, locate_script
from lineage_pipeline.discover.templating.undefined import placeholder_identifier

COMMENTS_AND_STRINGS = r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?(?:\*/|\Z)"


class PlaceholderStyle(msgspec.Struct, frozen=True):
    """A style of placeholders; those that `stays` is set for can be parsed as SQL and stay without a value.

    `given` finds names that the text itself assigns from there on; `built_in` names always exist at deployment.
    With `includes`, included files must exist.
    """

    pattern: re.Pattern[str]
    stays: bool = False
    folds: bool = False
    given: re.Pattern[str] | None = None
    built_in: frozenset[str] = frozenset()
    includes: bool = False


PLACEHOLDER_STYLES: Mapping[str, PlaceholderStyle] = {
    "sqlcmd": PlaceholderStyle(
        pattern=re.compile(r"\$\((?P<name>[\w-]+)\)"),
        stays=True,
        folds=True,
        given=SETVAR_COMMAND,
        built_in=frozenset("databasename defaultfileprefix defaultdatapath defaultlogpath __issqlcmdenabled".split()),
        includes=True,
    ),
    "dollar": PlaceholderStyle(
        re.compile(r"\$\{(?:(?:hiveconf|hivevar|env|system):)?(?P<name>\w[\w.]*)(?::-?(?P<default>[^{}]*))?\}")
    ),
    "brace": PlaceholderStyle(re.compile(r"(?<!\{)\{(?P<name>[A-Za-z_]\w*)\}(?!\})")),
    # `v:k` and `::` are SQL, and so is a colon in a string or a comment.
    "colon": PlaceholderStyle(
        re.compile(COMMENTS_AND_STRINGS + r"|(?<![\w:\])\"'`]):(?P<name>[A-Za-z_]\w*)", re.DOTALL), True
    ),
}
"""Placeholder templaters by name."""


class PlaceholderTemplater:
    """Replaces the placeholders of one style by values."""

    def __init__(self, style: PlaceholderStyle) -> None:
        """Store the style."""
        self.style = style

    def render(self, template: Template) -> Rendered:
        """Render one file; a name without a value is reported."""
        style, text, pieces, at = self.style, template.text, Pieces(), 0
        values = {_fold_name(name, style): value for name, value in template.variables.items()}
        settings = list(style.given.finditer(text)) if style.given else []
        given = {setting.group(1).lower() for setting in settings}
        problems = list(_report_missing_includes(template, values)) if style.includes else []
        for match in style.pattern.finditer(text):
            name = match.group("name")
            if name is None:
                continue
            while settings and settings[0].start() < match.start():
                setting = settings.pop(0)
                if setting.group(2):
                    values[_fold_name(setting.group(1), style)] = setting.group(2).strip('"')
            value = values.get(_fold_name(name, style), match.groupdict().get("default"))
            if value is None and name.lower() not in given and name.lower() not in style.built_in:
                problems.append(Problem("UNDEFINED_VARIABLE", {"name": name}, match.start()))
            if value is None and style.stays:
                continue
            pieces.copy(text[at : match.start()], at)
            made = placeholder_identifier(name) if value is None else _format_value(value)
            pieces.make(made, match.start(), len(match.group()))
            at = match.end()
        pieces.copy(text[at:], at)
        return Rendered(*pieces.done(), tuple(problems))


def _report_missing_includes(template: Template, values: Mapping[str, Any]) -> Iterator[Problem]:
    """Report included files that do not exist."""
    for one in find_includes(template.text, {name: str(value) for name, value in values.items()}):
        if "$(" not in one.name and locate_script(one.name, template.path, template.library) is None:
            reason = f"{one.name} is not a file of the repository"
            yield Problem("TEMPLATE_ERROR", {"reason": reason}, one.at)


def _fold_name(name: str, style: PlaceholderStyle) -> str:
    return name.lower() if style.folds else name


def _format_value(value: Any) -> str:
    """Return a value as SQL text; lists become comma-separated."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
