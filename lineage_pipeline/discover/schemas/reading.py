"""Where schemas are read from: a file by its kind, a folder of DDL by its files, a live catalog by its address."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from lineage_pipeline.discover.bounded import DEEP, DOCUMENT, read_bounded
from lineage_pipeline.discover.decode import decode
from lineage_pipeline.discover.schemas import dbt
from lineage_pipeline.discover.schemas.ddl import metadata_of_ddl
from lineage_pipeline.discover.schemas.documents import metadata_of
from lineage_pipeline.discover.schemas.folding import fold_tables
from lineage_pipeline.discover.schemas.model import Imports, SchemaMetadata
from lineage_pipeline.discover.schemas.opening import open_catalog
from lineage_pipeline.discover.schemas.rows import tables_of_csv, tables_of_rows
from lineage_pipeline.discover.schemas.snapshots import is_lineage, snapshot_tables
from lineage_pipeline.vocabulary.analysis import Options
from lineage_pipeline.vocabulary.errors import LineageError

Reader = Callable[[str, str, Options], SchemaMetadata]


Special = Callable[[str], SchemaMetadata | None]
"""Who reads places that are none of ours, or gives None."""


def import_schemas(
    places: Iterable[str], options: Options, root: Path, environ: Mapping[str, str], special: Special | None = None
) -> Imports:
    """Read schemas from files and catalogs, and give them the names that the analysis uses."""
    found = read_schemas(places, options, root, environ, special)
    folded = fold_tables(found.tables, options)
    return msgspec.structs.replace(folded, findings=(*found.findings, *folded.findings))


def read_schemas(
    places: Iterable[str], options: Options, root: Path, environ: Mapping[str, str], special: Special | None = None
) -> SchemaMetadata:
    """Read schemas in this order: the first that knows a table wins, and so does the first hint."""
    joint = SchemaMetadata()
    for place in places:
        found = (special(place) if special is not None else None) or read_schema(place, options, root, environ)
        joint = SchemaMetadata(
            (*joint.tables, *found.tables),
            joint.default_catalog or found.default_catalog,
            joint.default_schema or found.default_schema,
            joint.search_path or found.search_path,
            joint.case_sensitivity if joint.case_sensitivity != "dialect" else found.case_sensitivity,
            joint.allow_implied and found.allow_implied,
            (*joint.findings, *found.findings),
        )
    return joint


def read_schema(
    place: str, options: Options, root: Path = Path(), environ: Mapping[str, str] | None = None
) -> SchemaMetadata:
    """Read one file, folder or catalog; files are relative to `root`."""
    if "://" in place:
        return SchemaMetadata(tuple(open_catalog(place, environ or {}, root).tables()))
    path = root / place
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix.lower() in READERS)
        named = [(file, f"{place.rstrip('/')}/{file.relative_to(path).as_posix()}") for file in files]
        read = [_read(file, name, options) for file, name in named]
        if not read:
            raise LineageError(
                f"{path}: no file in this folder describes tables; known are {', '.join(sorted(READERS))}"
            )
        tables = tuple(table for one in read for table in one.tables)
        return SchemaMetadata(tables, findings=tuple(row for one in read for row in one.findings))
    found = _read(path, place, options)
    if found == SchemaMetadata():
        raise LineageError(f"{path}: it describes no table")
    return found


def _read(path: Path, place: str, options: Options) -> SchemaMetadata:
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        known = ", ".join(sorted(READERS))
        raise LineageError(f"{path}: schemas are read from files that end in {known}, or from catalogs by address")
    try:
        decoded = decode(read_bounded(path, DOCUMENT))
    except OSError as error:
        raise LineageError(f"{path}: {error.strerror}") from None
    if decoded.problem:
        raise LineageError(f"{path}: {decoded.problem}")
    return reader(decoded.text, place, options)


def _json(text: str, source: str, options: Options) -> SchemaMetadata:
    try:
        return document_schema(msgspec.json.decode(text.encode()), source)
    except RecursionError:
        raise LineageError(f"{source}: {DEEP}") from None
    except msgspec.DecodeError as error:
        raise LineageError(f"{source}: {error}") from None


def _yaml(text: str, source: str, options: Options) -> SchemaMetadata:
    import yaml

    from lineage_pipeline.discover.yamls import load_yaml

    try:
        return document_schema(load_yaml(text), source)
    except RecursionError:
        raise LineageError(f"{source}: {DEEP}") from None
    except yaml.YAMLError as error:
        raise LineageError(f"{source}: {' '.join(str(error).split())}") from None


def document_schema(document: Any, source: str) -> SchemaMetadata:
    """Tell what a document is by what stands in it: rows of a dump, an artefact of dbt, or tables by name."""
    if isinstance(document, list):
        return SchemaMetadata(tables_of_rows(document, source))
    if isinstance(document, Mapping) and dbt.is_manifest(document):
        return SchemaMetadata(tuple(dbt.manifest_tables(document, source)))
    if isinstance(document, Mapping) and dbt.is_catalog(document):
        return SchemaMetadata(tuple(dbt.catalog_tables(document, source)))
    if isinstance(document, Mapping) and is_lineage(document):
        return SchemaMetadata(tuple(snapshot_tables(document["objects"], document["columns"], source)))
    return metadata_of(document, source)


def _csv(text: str, source: str, options: Options) -> SchemaMetadata:
    return SchemaMetadata(tables_of_csv(text, source))


def _ddl(text: str, source: str, options: Options) -> SchemaMetadata:
    return metadata_of_ddl(text, source, options)


READERS: Mapping[str, Reader] = {
    ".json": _json,
    ".yaml": _yaml,
    ".yml": _yaml,
    ".csv": _csv,
    ".tsv": _csv,
    ".sql": _ddl,
    ".ddl": _ddl,
}
"""Who reads a file, by the end of its name."""
