"""What a consumer has not taken: kept on the disk, and sent first the next time."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from lineage_pipeline.export.sending import Refused, Target, send
from lineage_pipeline.vocabulary.errors import LineageError


class Unsent(msgspec.Struct, frozen=True):
    """A sending that broke off: the hashes of what was taken, and what still waits."""

    taken: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


def send_all(lines: Iterable[str], target: Target, folder: Path) -> int:
    """Send what waits since an earlier sending, and then the lines that it had not sent; give how many were taken."""
    file = folder / f"{_hash(target.url)}.json"
    before = _kept(file)
    known = set(before.taken)
    todo = list(dict.fromkeys((*before.waiting, *(line for line in lines if _hash(line) not in known))))
    begun: list[str] = []
    try:
        sent = send(_noted(todo, begun), target)
    except LineageError as error:
        # Whoever refuses an event has seen it; whoever is away gets it later.
        waiting = todo[len(begun) - (not isinstance(error, Refused)) :]
        _keep(file, Unsent((*before.taken, *map(_hash, begun[:-1])), tuple(waiting)))
        rest = f"; {len(waiting)} are kept in {file} and are sent first the next time" if waiting else ""
        raise LineageError(f"{error}{rest}") from None
    file.unlink(missing_ok=True)
    return sent


def _noted(lines: Iterable[str], begun: list[str]) -> Iterator[str]:
    for line in lines:
        begun.append(line)
        yield line


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _kept(file: Path) -> Unsent:
    """Read what is kept; a file that a dying machine left holds nothing."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Unsent)
    except (FileNotFoundError, msgspec.DecodeError):
        return Unsent()


def _keep(file: Path, unsent: Unsent) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_suffix(".new")
    temporary.write_bytes(msgspec.json.encode(unsent))
    temporary.replace(file)
