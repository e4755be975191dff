"""`lineage completion`: static completion scripts for shells."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from lineage_pipeline.cli.output import write_output

if TYPE_CHECKING:
    from lineage_pipeline.cli.command_tree import CommandInfo


class Shell(StrEnum):
    """The supported shells."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(shell: Annotated[Shell, typer.Argument(help="bash, zsh or fish.")]) -> None:
    """Print a script that completes commands and flags.

    Example: lineage completion bash > ~/.local/share/bash-completion/completions/lineage

    Example: lineage completion fish > ~/.config/fish/completions/lineage.fish
    """
    from lineage_pipeline.cli.command_tree import iterate_commands

    write_output("".join(f"{line}\n" for line in COMPLETION_WRITERS[shell](list(iterate_commands()))))


def build_bash_lines(known: "list[CommandInfo]") -> Iterator[str]:
    """Yield a bash function that completes by the first two words."""
    yield "_lineage() {"
    yield '    local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=""'
    yield '    case "${COMP_WORDS[1]} ${COMP_WORDS[2]}:$before" in'
    for command in known:
        for flag in command.flags:
            if flag.choices:
                names = "|".join(f"{_case_pattern(command)}*{name}" for name in flag.names)
                yield f'        {names}) words="{" ".join(flag.choices)}" ;;'
    for command in known:
        names = " ".join(name for flag in command.flags for name in flag.names)
        yield f'        {_case_pattern(command)}*) words="{names}" ;;'
    for group, inner in _group_commands(known).items():
        yield f'        "{group} "*) words="{" ".join(inner)}" ;;'
    yield "    esac"
    first = " ".join(dict.fromkeys(command.words[0] for command in known))
    yield f'    [ "$COMP_CWORD" -eq 1 ] && words="{first}"'
    yield '    COMPREPLY=($(compgen -W "$words" -- "$current"))'
    yield "}"
    yield "complete -o default -F _lineage lineage"


def _case_pattern(command: "CommandInfo") -> str:
    """Return the pattern of a command in the script's `case`: first two words, a colon, the previous word."""
    return f'"{command.title} "' if len(command.words) == 1 else f'"{command.title}:"'


def build_zsh_lines(known: "list[CommandInfo]") -> Iterator[str]:
    """Yield the bash script for zsh, through bashcompinit."""
    yield "#compdef lineage"
    yield "autoload -U +X bashcompinit && bashcompinit"
    yield from build_bash_lines(known)


def build_fish_lines(known: "list[CommandInfo]") -> Iterator[str]:
    """Yield a line for each command and each flag."""
    groups = _group_commands(known)
    listed = set()
    for command in known:
        first, *rest = command.words
        if first not in listed:
            about = "" if first in groups else f" -d {_quote_help(command.help)}"
            yield f"complete -c lineage -n __fish_use_subcommand -a {first}{about}"
            listed.add(first)
        seen = f"__fish_seen_subcommand_from {first}"
        if rest:
            inner = " ".join(groups[first])
            yield f"complete -c lineage -n '{seen}; and not __fish_seen_subcommand_from {inner}' -a {rest[0]}"
            seen += f"; and __fish_seen_subcommand_from {rest[0]}"
        for flag in command.flags:
            names = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in flag.names)
            takes = f" -x -a '{' '.join(flag.choices)}'" if flag.choices else " -r" if flag.takes else ""
            yield f"complete -c lineage -n '{seen}' {names}{takes} -d {_quote_help(flag.help)}"


def _group_commands(known: "list[CommandInfo]") -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for command in known:
        if len(command.words) > 1:
            found.setdefault(command.words[0], []).append(command.words[1])
    return found


def _quote_help(text: str) -> str:
    first = text.partition("\n")[0].replace("\\", "").replace("'", "’")
    return f"'{first}'"


COMPLETION_WRITERS: "dict[Shell, Callable[[list[CommandInfo]], Iterator[str]]]" = {
    Shell.BASH: build_bash_lines,
    Shell.ZSH: build_zsh_lines,
    Shell.FISH: build_fish_lines,
}
