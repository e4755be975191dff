"""`lineage completion`: scripts by which a shell completes commands and flags, without running us at each key."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.words import put

if TYPE_CHECKING:
    from lineage_pipeline.cli.tree import Command


class Shell(StrEnum):
    """The shells that we write for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(shell: Annotated[Shell, typer.Argument(help="bash, zsh or fish.")]) -> None:
    """Print a script that completes commands and flags.

    Example: lineage completion bash > ~/.local/share/bash-completion/completions/lineage

    Example: lineage completion fish > ~/.config/fish/completions/lineage.fish
    """
    from lineage_pipeline.cli.tree import commands

    put("".join(f"{line}\n" for line in WRITERS[shell](list(commands()))))


def bash_lines(known: "list[Command]") -> Iterator[str]:
    """Give a function that looks the first two words up."""
    yield "_lineage() {"
    yield '    local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=""'
    yield '    case "${COMP_WORDS[1]} ${COMP_WORDS[2]}:$before" in'
    for command in known:
        for flag in command.flags:
            if flag.choices:
                names = "|".join(f"{_typed(command)}*{name}" for name in flag.names)
                yield f'        {names}) words="{" ".join(flag.choices)}" ;;'
    for command in known:
        names = " ".join(name for flag in command.flags for name in flag.names)
        yield f'        {_typed(command)}*) words="{names}" ;;'
    for group, inner in _groups(known).items():
        yield f'        "{group} "*) words="{" ".join(inner)}" ;;'
    yield "    esac"
    first = " ".join(dict.fromkeys(command.words[0] for command in known))
    yield f'    [ "$COMP_CWORD" -eq 1 ] && words="{first}"'
    yield '    COMPREPLY=($(compgen -W "$words" -- "$current"))'
    yield "}"
    yield "complete -o default -F _lineage lineage"


def _typed(command: "Command") -> str:
    """Give the words of a command as the script compares them: the first two words, a colon, the word before."""
    return f'"{command.title} "' if len(command.words) == 1 else f'"{command.title}:"'


def zsh_lines(known: "list[Command]") -> Iterator[str]:
    """Give what bash gets: zsh can read it."""
    yield "#compdef lineage"
    yield "autoload -U +X bashcompinit && bashcompinit"
    yield from bash_lines(known)


def fish_lines(known: "list[Command]") -> Iterator[str]:
    """Give a line for each command and each flag."""
    groups = _groups(known)
    told = set()
    for command in known:
        first, *rest = command.words
        if first not in told:
            about = "" if first in groups else f" -d {_said(command.help)}"
            yield f"complete -c lineage -n __fish_use_subcommand -a {first}{about}"
            told.add(first)
        seen = f"__fish_seen_subcommand_from {first}"
        if rest:
            inner = " ".join(groups[first])
            yield f"complete -c lineage -n '{seen}; and not __fish_seen_subcommand_from {inner}' -a {rest[0]}"
            seen += f"; and __fish_seen_subcommand_from {rest[0]}"
        for flag in command.flags:
            names = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in flag.names)
            takes = f" -x -a '{' '.join(flag.choices)}'" if flag.choices else " -r" if flag.takes else ""
            yield f"complete -c lineage -n '{seen}' {names}{takes} -d {_said(flag.help)}"


def _groups(known: "list[Command]") -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for command in known:
        if len(command.words) > 1:
            found.setdefault(command.words[0], []).append(command.words[1])
    return found


def _said(text: str) -> str:
    first = text.partition("\n")[0].replace("\\", "").replace("'", "’")
    return f"'{first}'"


WRITERS: "dict[Shell, Callable[[list[Command]], Iterator[str]]]" = {
    Shell.BASH: bash_lines,
    Shell.ZSH: zsh_lines,
    Shell.FISH: fish_lines,
}
