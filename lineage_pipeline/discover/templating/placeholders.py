"""Placeholders without a language: `$(x)`, `${x}`, `{x}` and `:x`, each where a rule turns it on."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from lineage_pipeline.discover.templating.pieces import Pieces
from lineage_pipeline.discover.templating.protocol import Problem, Rendered, Template
from lineage_pipeline.discover.templating.sqlcmd import SETTING, included_in, place_of
from lineage_pipeline.discover.templating.undefined import placeholder

COMMENTS_AND_STRINGS = r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?(?:\*/|\Z)"


class Style(msgspec.Struct, frozen=True):
    """How placeholders look; `stays` are those that SQL can be read around, and so stay as they are without a value.

    `given` finds the names that the text itself gives values to, and those values, from there on; `built_in` are those
    that deployment always has. One that `includes` runs other files, which have to be there.
    """

    pattern: re.Pattern[str]
    stays: bool = False
    folds: bool = False
    given: re.Pattern[str] | None = None
    built_in: frozenset[str] = frozenset()
    includes: bool = False


STYLES: Mapping[str, Style] = {
    "sqlcmd": Style(
        re.compile(r"\$\((?P<name>[\w-]+)\)"),
        True,
        True,
        SETTING,
        frozenset("databasename defaultfileprefix defaultdatapath defaultlogpath __issqlcmdenabled".split()),
        includes=True,
    ),
    "dollar": Style(
        re.compile(r"\$\{(?:(?:hiveconf|hivevar|env|system):)?(?P<name>\w[\w.]*)(?::-?(?P<default>[^{}]*))?\}")
    ),
    "brace": Style(re.compile(r"(?<!\{)\{(?P<name>[A-Za-z_]\w*)\}(?!\})")),
    # `v:k` and `::` are SQL, and so is a colon in a string or a comment.
    "colon": Style(re.compile(COMMENTS_AND_STRINGS + r"|(?<![\w:\])\"'`]):(?P<name>[A-Za-z_]\w*)", re.DOTALL), True),
}
"""Templaters of placeholders by name."""


class PlaceholderTemplater:
    """Puts values in the place of placeholders of one style."""

    def __init__(self, style: Style) -> None:
        """Take a row of the table."""
        self.style = style

    def render(self, template: Template) -> Rendered:
        """Render one file; a name without a value is reported."""
        style, text, pieces, at = self.style, template.text, Pieces(), 0
        values = {_folded(name, style): value for name, value in template.variables.items()}
        settings = list(style.given.finditer(text)) if style.given else []
        given = {setting.group(1).lower() for setting in settings}
        problems = list(_missing(template, values)) if style.includes else []
        for match in style.pattern.finditer(text):
            name = match.group("name")
            if name is None:
                continue
            while settings and settings[0].start() < match.start():
                setting = settings.pop(0)
                if setting.group(2):
                    values[_folded(setting.group(1), style)] = setting.group(2).strip('"')
            value = values.get(_folded(name, style), match.groupdict().get("default"))
            if value is None and name.lower() not in given and name.lower() not in style.built_in:
                problems.append(Problem("UNDEFINED_VARIABLE", {"name": name}, match.start()))
            if value is None and style.stays:
                continue
            pieces.copy(text[at : match.start()], at)
            made = placeholder(name) if value is None else _written(value)
            pieces.make(made, match.start(), len(match.group()))
            at = match.end()
        pieces.copy(text[at:], at)
        return Rendered(*pieces.done(), tuple(problems))


def _missing(template: Template, values: Mapping[str, Any]) -> Iterator[Problem]:
    """Tell of files that a script runs and that are not there."""
    for one in included_in(template.text, {name: str(value) for name, value in values.items()}):
        if "$(" not in one.name and place_of(one.name, template.path, template.library) is None:
            reason = f"{one.name} is not a file of the repository"
            yield Problem("TEMPLATE_ERROR", {"reason": reason}, one.at)


def _folded(name: str, style: Style) -> str:
    return name.lower() if style.folds else name


def _written(value: Any) -> str:
    """Give a value as SQL would be written by hand: lists become lists."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
