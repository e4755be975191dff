"""`lineage serve`: the explorer in a browser."""

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lineage_pipeline.cli.output import print_note
from lineage_pipeline.model.errors import LineageError

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette

MAX_HEAD_BYTES = 32_768
"""Maximum size of the head of a request."""


def serve(
    warehouse: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="The DuckDB file of the marts; the project's own otherwise.")
    ] = None,
    port: Annotated[int, typer.Option("--port", "-p", min=0, max=65535, help="The port; 0 takes a free one.")] = 8080,
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    token: Annotated[
        str | None, typer.Option("--token", envvar="LINEAGE_TOKEN", help="Let in only who knows this word.")
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="Answer to this host name as well; may be repeated."),
    ] = None,
) -> None:
    """Show lineage, changes and health in a browser; Ctrl-C stops it.

    Example: lineage serve .lineage/warehouse.duckdb --port 9000
    """
    import uvicorn

    from lineage_pipeline.config.load import load_settings
    from lineage_pipeline.web.app import LOOPBACK_HOSTS, WILDCARD_ADDRESSES, create_app, parse_host_name

    hosts = [parse_host_name(f"[{name}]" if ":" in name and name[0] != "[" else name) for name in allow_host or ()]
    if "" in hosts:
        raise LineageError(f"--allow-host {(allow_host or [''])[hosts.index('')]!r} is not a host name")
    marts = warehouse or load_settings(Path.cwd(), {}, os.environ).home / "warehouse.duckdb"
    if not marts.is_file():
        raise LineageError(f"there is no {marts}; `lineage run` or `lineage example` makes it")
    listener = _open_listener(host, port)
    if host not in LOOPBACK_HOSTS and token is None:
        print_note(f"lineage: {host} is open to the network; --token lets in only who knows it")
    bound = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    print_note(f"lineage: http://{shown}:{bound}/{f'?token={token}' if token else ''} (Ctrl-C stops it)")
    every_address = host in ("", *WILDCARD_ADDRESSES)
    application = create_app(marts.absolute(), token, [host, *hosts], every_address=every_address)
    uvicorn.Server(_server_config(application)).run(sockets=[listener])


def _server_config(application: "Starlette") -> "uvicorn.Config":
    """Configure uvicorn: h11 is the parser that refuses a request head without end."""
    import uvicorn

    limits: dict[str, Any] = {"http": "h11", "h11_max_incomplete_event_size": MAX_HEAD_BYTES}
    return uvicorn.Config(application, log_level="warning", server_header=False, **limits)


def _open_listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise LineageError(f"cannot listen on {host}:{port}: {error.strerror}; take another --port") from None
    listener.listen(128)  # who follows the printed address before the server runs waits, and is not refused
    return listener
