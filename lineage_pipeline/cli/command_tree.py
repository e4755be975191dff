"""All commands as data, for the documentation, shell completion and tests."""

from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple


class CommandFlag(NamedTuple):
    """An option of a command: its spellings, its value, its choices and its help."""

    names: tuple[str, ...]
    takes: str
    choices: tuple[str, ...]
    help: str
    required: bool


class CommandInfo(NamedTuple):
    """A command: the words to type, its help, arguments and options."""

    words: tuple[str, ...]
    help: str
    arguments: tuple[tuple[str, str], ...]
    flags: tuple[CommandFlag, ...]

    @property
    def title(self) -> str:
        """The words as they are typed."""
        return " ".join(self.words)


def iterate_commands() -> Iterator[CommandInfo]:
    """Yield every command, those of groups included, in the order of the table of verbs."""
    import typer

    from lineage_pipeline.cli.app import app

    top = typer.main.get_command(app)
    for name in top.list_commands(None):  # type: ignore[attr-defined]
        found = top.get_command(None, name)  # type: ignore[attr-defined]
        inner = getattr(found, "commands", None)
        if inner is None:
            yield _describe_command((name,), found)
        else:
            yield from (_describe_command((name, word), one) for word, one in inner.items())


def _describe_command(words: tuple[str, ...], found: Any) -> CommandInfo:
    arguments = tuple(
        (_argument_metavar(param), getattr(param, "help", "") or "") for param in found.params if not _is_option(param)
    )
    flags = tuple(_describe_flag(param) for param in found.params if _is_option(param) and not param.hidden)
    return CommandInfo(words, found.help or "", arguments, flags)


def _is_option(param: Any) -> bool:
    return bool(param.opts) and param.opts[0].startswith("-")


def _argument_metavar(param: Any) -> str:
    return str(param.metavar or param.name.upper())


def _describe_flag(param: Any) -> CommandFlag:
    names = (*param.opts, *param.secondary_opts)
    if param.is_flag:
        return CommandFlag(names=names, takes="", choices=(), help=param.help or "", required=param.required)
    choices = _list_choices(param)
    takes = param.metavar or ("|".join(choices) if choices else param.name.upper())
    return CommandFlag(names=names, takes=takes, choices=choices, help=param.help or "", required=param.required)


def _list_choices(param: Any) -> tuple[str, ...]:
    """List the values of an option that is an enumeration."""
    kind = getattr(getattr(param, "type_descriptor", None), "annotation", None)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(str(one.value) for one in kind)
    return tuple(str(getattr(one, "value", one)) for one in getattr(getattr(param, "type", None), "choices", ()))
