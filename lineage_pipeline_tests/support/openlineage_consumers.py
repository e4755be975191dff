"""Real consumers of OpenLineage events: a server on this machine, and the classes of the official client."""

import json
import typing
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pkgutil import iter_modules
from threading import Thread
from types import UnionType
from typing import Any

import attr


class EventServer:
    """The requests that a server received, and its answers: the given codes, then 201; 0 drops the connection."""

    def __init__(self, *answers: int) -> None:
        self.answers = list(answers)
        self.requests: list[tuple[str, Mapping[str, str], str, int]] = []
        self.address = ""

    @property
    def accepted_events(self) -> list[Any]:
        """The events that were answered with success."""
        return [json.loads(body) for _, _, body, answer in self.requests if answer == 201]


@contextmanager
def serve_events(*answers: int) -> Iterator[EventServer]:
    """A real HTTP server on a free port of the loopback."""
    consumer = EventServer(*answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            answer = consumer.answers.pop(0) if consumer.answers else 201
            consumer.requests.append((self.path, dict(self.headers), body, answer))
            if not answer:
                self.connection.close()
                return
            self.send_response(answer)
            if answer == 302:
                self.send_header("Location", f"{consumer.address}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        consumer.address = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield consumer
        finally:
            server.shutdown()
            thread.join()


@cache
def load_official_classes() -> dict[str, type]:
    """Every class of the official client by the address of its schema."""
    package = import_module("openlineage.client.generated")
    found: dict[str, type] = {}
    for info in iter_modules(package.__path__):
        for thing in vars(import_module(f"openlineage.client.generated.{info.name}")).values():
            if isinstance(thing, type) and attr.has(thing) and hasattr(thing, "_get_schema"):
                found[thing._get_schema()] = thing
    return found


def parse_official_event(event: Mapping[str, Any]) -> Any:
    """An event as the official client's class; a key that the classes do not know is an error."""
    return _convert_value(load_official_classes()[event["schemaURL"]], event)


def _convert_value(kind: Any, value: Any) -> Any:
    if isinstance(value, Mapping) and "_schemaURL" in value and not isinstance(kind, UnionType):
        kind = load_official_classes()[value["_schemaURL"]]
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (UnionType, typing.Union):
        return _convert_value(next(item for item in arguments if item is not type(None)), value)
    if origin is list:
        return [_convert_value(arguments[0], item) for item in value]
    if origin is dict:
        return {key: _convert_value(arguments[1], item) for key, item in value.items()}
    if isinstance(kind, type) and attr.has(kind):
        return _build_instance(kind, value)
    return kind(value) if isinstance(kind, type) and not isinstance(value, kind) else value


def _build_instance(kind: type, value: Mapping[str, Any]) -> Any:
    hints = typing.get_type_hints(kind)
    given = {
        key.lstrip("_"): _convert_value(hints[key], item) for key, item in value.items() if not _is_schema_key(key)
    }
    made = kind(**given)
    for key, item in value.items():
        assert not _is_schema_key(key) or getattr(made, key) == item, f"{kind.__name__} follows {getattr(made, key)}"
    return made


def _is_schema_key(key: str) -> bool:
    return key in ("schemaURL", "_schemaURL")
