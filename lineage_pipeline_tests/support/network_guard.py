"""No network: a connection of any test to another machine is refused and recorded."""

import ipaddress
import sys
from typing import Any

REFUSED_CONNECTIONS: list[str] = []


def refuse_remote_connections() -> None:
    """Watch every socket of this process from now on; an audit hook cannot be removed."""
    sys.addaudithook(_refuse_remote)


def is_remote_address(address: Any) -> bool:
    """Say whether an address belongs to another machine; a path is a local socket."""
    if not isinstance(address, tuple) or not address or not isinstance(address[0], str):
        return False
    host = address[0].partition("%")[0]
    if host in ("", "localhost"):
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return True


def _refuse_remote(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.sendto") and is_remote_address(arguments[1]):
        REFUSED_CONNECTIONS.append(str(arguments[1]))
        raise PermissionError(f"tests have no network: {arguments[1]}")
