"""File manifests: a CSV that lists the files to read, each with its dialect, system and default schema."""

import csv
import io
from collections.abc import Mapping

import msgspec

from lineage_pipeline.files.bounded_files import explain_csv_errors
from lineage_pipeline.model.analysis import Options
from lineage_pipeline.model.errors import LineageError

MANIFEST_HEADINGS: Mapping[str, tuple[str, ...]] = {
    "path": ("file", "path", "filename"),
    "dialect": ("dialect",),
    "system": ("system",),
    "default_catalog": ("catalog", "default_catalog", "database"),
    "default_schema": ("schema", "default_schema"),
}
"""Accepted headings for the columns of a manifest."""


class ManifestEntry(msgspec.Struct, frozen=True):
    """One file of a manifest; blank fields fall back to the settings."""

    path: str
    dialect: str = ""
    system: str = ""
    default_catalog: str = ""
    default_schema: str = ""

    def apply_to(self, options: Options) -> Options:
        """Return the options overridden by this entry."""
        said = {name: value for name in self.__struct_fields__[1:] if (value := getattr(self, name))}
        return msgspec.structs.replace(options, **said) if said else options


def parse_file_manifest(text: str, source: str) -> dict[str, ManifestEntry]:
    """Parse a manifest; file paths are relative to it, with slashes of either kind."""
    head = text.lstrip("\ufeff").split("\n", 1)[0]
    with explain_csv_errors(source):
        rows = list(csv.DictReader(io.StringIO(text.lstrip("\ufeff")), delimiter=max(",;\t|", key=head.count)))
    found: dict[str, ManifestEntry] = {}
    for number, row in enumerate(rows, 2):
        lowered = {(key or "").strip().lower(): (value or "").strip() for key, value in row.items() if key is not None}
        said = {
            name: next((lowered[heading] for heading in headings if lowered.get(heading)), "")
            for name, headings in MANIFEST_HEADINGS.items()
        }
        if not said["path"]:
            raise LineageError(f"{source}: line {number} names no file; its columns are file, dialect, system, schema")
        path = said["path"].replace("\\", "/").removeprefix("./")
        found[path] = ManifestEntry(**{**said, "path": path})
    if not found:
        raise LineageError(f"{source}: it lists no file")
    return found
