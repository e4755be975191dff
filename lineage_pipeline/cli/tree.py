"""All commands as data: what pages, completion and tests go through."""

from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple


class Flag(NamedTuple):
    """An option of a command: its spellings, what it takes, what it does."""

    names: tuple[str, ...]
    takes: str
    choices: tuple[str, ...]
    help: str
    required: bool


class Command(NamedTuple):
    """A command by the words that one types."""

    words: tuple[str, ...]
    help: str
    arguments: tuple[tuple[str, str], ...]
    flags: tuple[Flag, ...]

    @property
    def title(self) -> str:
        """Give the words as they are typed."""
        return " ".join(self.words)


def commands() -> Iterator[Command]:
    """Give every command, groups opened, in the order of the table of verbs."""
    import typer

    from lineage_pipeline.cli.app import app

    top = typer.main.get_command(app)
    for name in top.list_commands(None):  # type: ignore[attr-defined]
        found = top.get_command(None, name)  # type: ignore[attr-defined]
        inner = getattr(found, "commands", None)
        if inner is None:
            yield _command((name,), found)
        else:
            yield from (_command((name, word), one) for word, one in inner.items())


def _command(words: tuple[str, ...], found: Any) -> Command:
    arguments = tuple(
        (_metavar(param), getattr(param, "help", "") or "") for param in found.params if not _is_option(param)
    )
    flags = tuple(_flag(param) for param in found.params if _is_option(param) and not param.hidden)
    return Command(words, found.help or "", arguments, flags)


def _is_option(param: Any) -> bool:
    return bool(param.opts) and param.opts[0].startswith("-")


def _metavar(param: Any) -> str:
    return str(param.metavar or param.name.upper())


def _flag(param: Any) -> Flag:
    names = (*param.opts, *param.secondary_opts)
    if param.is_flag:
        return Flag(names, "", (), param.help or "", param.required)
    choices = _choices(param)
    takes = param.metavar or ("|".join(choices) if choices else param.name.upper())
    return Flag(names, takes, choices, param.help or "", param.required)


def _choices(param: Any) -> tuple[str, ...]:
    """Give the words that an option may take, where it is one of a few."""
    kind = getattr(getattr(param, "type_descriptor", None), "annotation", None)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(str(one.value) for one in kind)
    return tuple(str(getattr(one, "value", one)) for one in getattr(getattr(param, "type", None), "choices", ()))
