"""`lineage ui`: the Dagster UI of this project, in a process group that is stopped as a whole."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from lineage_pipeline.cli.output import print_note
from lineage_pipeline.model.errors import LineageError

STOP_SIGNALS = ((signal.SIGINT, 15.0), (signal.SIGTERM, 5.0), (signal.SIGKILL, 1.0))
"""Signals that are sent to the group one after the other, each with the seconds to wait for its end."""


def ui(
    port: Annotated[int, typer.Option("--port", "-p", help="The port to listen on.")] = 3000,
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
) -> None:
    """Open the Dagster UI of this project; Ctrl-C stops it.

    Example: lineage ui --port 3001
    """
    from lineage_pipeline.config.load import load_settings
    from lineage_pipeline.defs.dbt_project import prepare_manifest
    from lineage_pipeline.defs.home import prepare_dagster_home

    program = Path(sys.executable).with_name("dagster")
    if not program.exists():
        raise LineageError("this needs dagster: pip install 'lineage-pipeline[pipeline]'")
    settings = load_settings(Path.cwd(), {}, os.environ)
    command = [str(program), "dev", "-m", "lineage_pipeline.definitions", "-h", host, "-p", str(port)]
    home = prepare_dagster_home(settings)
    prepare_manifest()
    print_note(f"lineage: http://{host}:{port} (Ctrl-C stops it)")
    code = run_group(command, settings.root, os.environ | {"DAGSTER_HOME": str(home)})
    if code:
        raise LineageError(f"dagster ended with code {code}")


def run_group(command: list[str], folder: Path, environ: Mapping[str, str]) -> int:
    """Run a program with all its children in a process group; a signal to us stops the whole group."""
    previous = signal.signal(signal.SIGTERM, _raise_interrupt)
    process = subprocess.Popen(command, cwd=folder, env=dict(environ), start_new_session=True)
    try:
        return process.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        impatient = signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not leave children behind
        end_group(process)
        signal.signal(signal.SIGINT, impatient)
        signal.signal(signal.SIGTERM, previous)


def end_group(process: "subprocess.Popen[bytes]") -> None:
    """Ask the group to end, wait, and kill what does not."""
    for chosen, patience in STOP_SIGNALS:
        try:
            os.killpg(process.pid, chosen)
            deadline = time.monotonic() + patience
            while time.monotonic() < deadline:
                process.poll()  # or the leader stays in the group as a zombie
                os.killpg(process.pid, 0)
                time.sleep(0.1)
        except ProcessLookupError:
            return


def _raise_interrupt(*_: object) -> None:
    raise KeyboardInterrupt
