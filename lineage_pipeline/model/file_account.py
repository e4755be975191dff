"""The account of a comparison's files: how many changed, how many of them were compared, and why others were not."""

import msgspec


class UncomparedFile(msgspec.Struct, frozen=True, order=True):
    """A changed file that could not be compared, or not in full, and the finding that says why."""

    path: str
    code: str
    message: str
    line: int | None


class FileAccount(msgspec.Struct, frozen=True):
    """How many files changed, how many of those were compared in full, the others, and the paths of all."""

    changed: int = 0
    compared: int = 0
    uncompared: tuple[UncomparedFile, ...] = ()
    paths: tuple[str, ...] = ()
