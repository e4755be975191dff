"""No network: whatever a test runs, a connection to anything but this machine is refused and remembered."""

import ipaddress
import sys
from typing import Any

ATTEMPTS: list[str] = []


def refuse_strangers() -> None:
    """Watch every socket of this process from now on; a hook of the interpreter cannot be got around or taken away."""
    sys.addaudithook(_watch)


def is_stranger(address: Any) -> bool:
    """Say whether an address is that of another machine; a path is that of a socket on this one."""
    if not isinstance(address, tuple) or not address or not isinstance(address[0], str):
        return False
    host = address[0].partition("%")[0]
    if host in ("", "localhost"):
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return True


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.sendto") and is_stranger(arguments[1]):
        ATTEMPTS.append(str(arguments[1]))
        raise PermissionError(f"tests have no network: {arguments[1]}")
