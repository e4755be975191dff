"""Manifests: a CSV that lists the files to be read, each with its dialect and, if need be, where its names live."""

import csv
import io
from collections.abc import Mapping

import msgspec

from lineage_pipeline.discover.bounded import as_csv
from lineage_pipeline.vocabulary.analysis import Options
from lineage_pipeline.vocabulary.errors import LineageError

HEADINGS: Mapping[str, tuple[str, ...]] = {
    "path": ("file", "path", "filename"),
    "dialect": ("dialect",),
    "system": ("system",),
    "default_catalog": ("catalog", "default_catalog", "database"),
    "default_schema": ("schema", "default_schema"),
}
"""What the columns of a manifest may be called."""


class Listed(msgspec.Struct, frozen=True):
    """What a manifest says of one file; what it leaves blank, the settings say."""

    path: str
    dialect: str = ""
    system: str = ""
    default_catalog: str = ""
    default_schema: str = ""

    def applied(self, options: Options) -> Options:
        """Give options with what is said here."""
        said = {name: value for name in self.__struct_fields__[1:] if (value := getattr(self, name))}
        return msgspec.structs.replace(options, **said) if said else options


def parse_manifest(text: str, source: str) -> dict[str, Listed]:
    """Read a manifest; files are relative to it, with slashes of either kind."""
    head = text.lstrip("\ufeff").split("\n", 1)[0]
    with as_csv(source):
        rows = list(csv.DictReader(io.StringIO(text.lstrip("\ufeff")), delimiter=max(",;\t|", key=head.count)))
    found: dict[str, Listed] = {}
    for number, row in enumerate(rows, 2):
        lowered = {(key or "").strip().lower(): (value or "").strip() for key, value in row.items() if key is not None}
        said = {
            name: next((lowered[heading] for heading in headings if lowered.get(heading)), "")
            for name, headings in HEADINGS.items()
        }
        if not said["path"]:
            raise LineageError(f"{source}: line {number} names no file; its columns are file, dialect, system, schema")
        path = said["path"].replace("\\", "/").removeprefix("./")
        found[path] = Listed(**{**said, "path": path})
    if not found:
        raise LineageError(f"{source}: it lists no file")
    return found
