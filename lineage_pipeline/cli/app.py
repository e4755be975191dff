"""The `lineage` application: the table of verbs, each imported when it is called, and how errors are reported."""

import io
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup

from lineage_pipeline import __version__
from lineage_pipeline.cli.groups import PLAIN_TYPER
from lineage_pipeline.cli.output import (
    ColorOption,
    QuietOption,
    VerboseOption,
    add_output_flags,
    print_message,
    reset_output_settings,
)
from lineage_pipeline.model.errors import FileSyntaxError, LineageError, NotThere


class Verb(NamedTuple):
    """A command: its module in `cli.verbs`, and the function or the group of commands in it."""

    module: str
    function: str


VERBS: dict[str, Verb] = {
    "analyze": Verb("analyze", "analyze"),
    "scan": Verb("scan", "scan"),
    "impact": Verb("impact", "impact"),
    "path": Verb("path", "path"),
    "formula": Verb("formula", "formula"),
    "show": Verb("show", "show"),
    "search": Verb("search", "search"),
    "dissect": Verb("dissect", "dissect"),
    "graph": Verb("graph", "graph"),
    "tables": Verb("tables", "tables"),
    "diff": Verb("diff", "diff"),
    "check": Verb("check", "check"),
    "rebuild": Verb("rebuild", "rebuild"),
    "waivers": Verb("waivers", "waivers"),
    "rules": Verb("rules", "rules"),
    "export": Verb("export", "export"),
    "import": Verb("import_", "import_"),
    "render": Verb("render", "render"),
    "verify": Verb("verify", "verify"),
    "catalog": Verb("catalog", "catalog"),
    "explain": Verb("explain", "explain"),
    "schema": Verb("schema", "schema"),
    "init": Verb("init", "init"),
    "config": Verb("config", "config"),
    "completion": Verb("completion", "completion"),
    "doctor": Verb("doctor", "doctor"),
    "run": Verb("run", "run"),
    "backfill": Verb("backfill", "backfill"),
    "prune": Verb("prune", "prune"),
    "example": Verb("example", "example"),
    "serve": Verb("serve", "serve"),
    "ui": Verb("ui", "ui"),
}

EXTRAS = {
    "dagster": "pipeline",
    "dagster_dbt": "pipeline",
    "dagster_pyspark": "pipeline",
    "databricks": "databricks",
    "dbt": "pipeline",
    "duckdb": "export",
    "great_expectations": "pipeline",
    "numpy": "pipeline",
    "openlineage": "export",
    "openpyxl": "export",
    "pandas": "pipeline",
    "psycopg": "catalog",
    "pyarrow": "export",
    "pyspark": "pipeline",
    "sqlalchemy": "catalog",
    "starlette": "web",
    "uvicorn": "web",
}
"""The extra of our package that installs a module."""


class VerbGroup(TyperGroup):
    """The top-level group: knows its commands by name and imports one when it is needed."""

    def make_context(self, *words: Any, **options: Any) -> Any:
        """Reset the output flags at the start of every call."""
        reset_output_settings()
        return super().make_context(*words, **options)

    def list_commands(self, ctx: Any) -> list[str]:
        """List the verbs in the order of the table."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import and build one command."""
        if cmd_name not in VERBS:
            from lineage_pipeline.config.toml_files import suggest_word

            raise LineageError(f"there is no command {cmd_name}; {suggest_word(cmd_name, VERBS)}")
        verb = VERBS[cmd_name]
        found = getattr(import_module(f"lineage_pipeline.cli.verbs.{verb.module}"), verb.function)
        if isinstance(found, typer.Typer):
            return _set_command_name(add_output_flags(typer.main.get_command(found)), cmd_name)
        command = typer.Typer(**PLAIN_TYPER)
        command.command(cmd_name)(found)
        return add_output_flags(typer.main.get_command(command))


def _set_command_name(command: Any, name: str) -> Any:
    """Name a group after its verb."""
    command.name = name
    return command


app = typer.Typer(cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"]}, **PLAIN_TYPER)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"lineage {__version__}")
        raise typer.Exit


@app.callback()
def lineage(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    color: ColorOption = None,
) -> None:
    """Column lineage of SQL: what feeds what, and what a change breaks."""


def run_command(arguments: Sequence[str] | None = None) -> int:
    """Run one command; an error is one line on stderr, with a traceback only for `--debug`."""
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    debug = "--debug" in words
    _use_utf8()
    if not debug and not sys.warnoptions:
        warnings.simplefilter("ignore")  # what libraries tell programmers is nothing that users could mend
    try:
        code = app([word for word in words if word != "--debug"], prog_name="lineage", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains at its end
        return 0
    except (KeyboardInterrupt, typer.Abort):
        print_message("lineage: interrupted", error=True)
        return 130
    except Exception as error:  # noqa: BLE001 - the outermost edge: nothing is above that could say it better
        if debug:
            traceback.print_exc()
        print_message(f"lineage: {format_error(error)}", error=True)
        if isinstance(error, FileSyntaxError) and error.shown:
            print_message(error.shown, error=True)
        return 1 if isinstance(error, NotThere) else 2
    return code if isinstance(code, int) else 0


def format_error(error: Exception) -> str:
    """Format an error as one line: what went wrong and what to do about it."""
    if isinstance(error, LineageError):
        return str(error)
    if hasattr(error, "format_message"):  # the parser of the command line
        command = getattr(getattr(error, "ctx", None), "command_path", "lineage")
        message = str(error.format_message()).replace(": Value error, ", ": ").rstrip(".?")
        return f"{message}; see `{command} --help`"
    if isinstance(error, ModuleNotFoundError):
        package = (error.name or "").partition(".")[0]
        if package in EXTRAS:
            return f"this needs {package}: pip install 'lineage-pipeline[{EXTRAS[package]}]'"
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; analysis.limits.edges says how large a statement may become"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    said = " ".join(str(error).split())
    return f"internal error: {type(error).__name__}: {said} (--debug shows where)"


def _use_utf8() -> None:
    """Write UTF-8 whatever the locale is: our output must not depend on the machine."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
