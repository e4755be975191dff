"""Sources of schemas: a file by its suffix, a folder of DDL files, or a live catalog by its address."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any

import msgspec

from lineage_pipeline.discover.schemas import dbt_artifacts
from lineage_pipeline.discover.schemas.catalog_registry import open_catalog
from lineage_pipeline.discover.schemas.ddl_files import parse_ddl_schema
from lineage_pipeline.discover.schemas.imported_tables import SchemaMetadata
from lineage_pipeline.discover.schemas.information_schema import parse_csv_dump, tables_from_dump
from lineage_pipeline.discover.schemas.normalize import normalize_tables
from lineage_pipeline.discover.schemas.schema_documents import parse_schema_document
from lineage_pipeline.discover.schemas.snapshot_tables import is_lineage_document, tables_from_snapshot
from lineage_pipeline.files.bounded_files import DOCUMENT, TOO_DEEP, read_bounded_file
from lineage_pipeline.files.encoding import decode_content
from lineage_pipeline.model.analysis import Options, SchemaImports
from lineage_pipeline.model.errors import LineageError

SchemaReader = Callable[[str, str, Options], SchemaMetadata]


SpecialReader = Callable[[str], SchemaMetadata | None]
"""Reads places that are not files or catalogs, or returns None."""


def import_schemas(
    places: Iterable[str],
    options: Options,
    root: Path,
    environ: Mapping[str, str],
    special: SpecialReader | None = None,
) -> SchemaImports:
    """Read schemas from files and catalogs, and normalize their names."""
    found = read_schemas(places, options, root, environ, special)
    folded = normalize_tables(found.tables, options)
    return msgspec.structs.replace(folded, findings=(*found.findings, *folded.findings))


def read_schemas(
    places: Iterable[str],
    options: Options,
    root: Path,
    environ: Mapping[str, str],
    special: SpecialReader | None = None,
) -> SchemaMetadata:
    """Read schemas in order: the first that has a table wins, and so does the first hint."""
    joint = SchemaMetadata()
    for place in places:
        found = (special(place) if special is not None else None) or read_schema_source(place, options, root, environ)
        joint = SchemaMetadata(
            tables=(*joint.tables, *found.tables),
            default_catalog=joint.default_catalog or found.default_catalog,
            default_schema=joint.default_schema or found.default_schema,
            search_path=joint.search_path or found.search_path,
            case_sensitivity=joint.case_sensitivity if joint.case_sensitivity != "dialect" else found.case_sensitivity,
            allow_implied=joint.allow_implied and found.allow_implied,
            findings=(*joint.findings, *found.findings),
        )
    return joint


def read_schema_source(
    place: str, options: Options, root: Path = Path(), environ: Mapping[str, str] | None = None
) -> SchemaMetadata:
    """Read one file, folder or catalog; files are relative to `root`."""
    if "://" in place:
        return SchemaMetadata(tuple(open_catalog(place, environ or {}, root).tables()))
    path = root / place
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix.lower() in READERS)
        named = [(file, f"{place.rstrip('/')}/{file.relative_to(path).as_posix()}") for file in files]
        read = [_read_schema_file(file, name, options) for file, name in named]
        if not read:
            raise LineageError(
                f"{path}: no file in this folder describes tables; known are {', '.join(sorted(READERS))}"
            )
        tables = tuple(table for one in read for table in one.tables)
        return SchemaMetadata(tables, findings=tuple(row for one in read for row in one.findings))
    found = _read_schema_file(path, place, options)
    if found == SchemaMetadata():
        raise LineageError(f"{path}: it describes no table")
    return found


def _read_schema_file(path: Path, place: str, options: Options) -> SchemaMetadata:
    try:
        content = read_bounded_file(path, DOCUMENT) if path.suffix.lower() in READERS else b""
    except OSError as error:
        raise LineageError(f"{path}: {error.strerror}") from None
    return parse_schema_file(content, path, place, options)


def parse_schema_file(content: bytes, path: PurePath, place: str, options: Options) -> SchemaMetadata:
    """Parse the content of a file by the ending of its path; `place` names it in findings."""
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        known = ", ".join(sorted(READERS))
        raise LineageError(f"{path}: schemas are read from files that end in {known}, or from catalogs by address")
    decoded = decode_content(content)
    if decoded.problem:
        raise LineageError(f"{path}: {decoded.problem}")
    return reader(decoded.text, place, options)


def _parse_json_schema(text: str, source: str, options: Options) -> SchemaMetadata:
    try:
        return parse_any_document(msgspec.json.decode(text.encode()), source)
    except RecursionError:
        raise LineageError(f"{source}: {TOO_DEEP}") from None
    except msgspec.DecodeError as error:
        raise LineageError(f"{source}: {error}") from None


def _parse_yaml_schema(text: str, source: str, options: Options) -> SchemaMetadata:
    import yaml

    from lineage_pipeline.files.bounded_yaml import load_yaml

    try:
        return parse_any_document(load_yaml(text), source)
    except RecursionError:
        raise LineageError(f"{source}: {TOO_DEEP}") from None
    except yaml.YAMLError as error:
        raise LineageError(f"{source}: {' '.join(str(error).split())}") from None


def parse_any_document(document: Any, source: str) -> SchemaMetadata:
    """Parse a document by its content: rows of a dump, a dbt artifact, or tables by name."""
    if isinstance(document, list):
        return SchemaMetadata(tables_from_dump(document, source))
    if isinstance(document, Mapping) and dbt_artifacts.is_dbt_manifest(document):
        return SchemaMetadata(tuple(dbt_artifacts.tables_from_manifest(document, source)))
    if isinstance(document, Mapping) and dbt_artifacts.is_dbt_catalog(document):
        return SchemaMetadata(tuple(dbt_artifacts.tables_from_catalog(document, source)))
    if isinstance(document, Mapping) and is_lineage_document(document):
        return SchemaMetadata(tuple(tables_from_snapshot(document["objects"], document["columns"], source)))
    return parse_schema_document(document, source)


def _parse_csv_schema(text: str, source: str, options: Options) -> SchemaMetadata:
    return SchemaMetadata(parse_csv_dump(text, source))


def _parse_ddl_file(text: str, source: str, options: Options) -> SchemaMetadata:
    return parse_ddl_schema(text, source, options)


READERS: Mapping[str, SchemaReader] = {
    ".json": _parse_json_schema,
    ".yaml": _parse_yaml_schema,
    ".yml": _parse_yaml_schema,
    ".csv": _parse_csv_schema,
    ".tsv": _parse_csv_schema,
    ".sql": _parse_ddl_file,
    ".ddl": _parse_ddl_file,
}
"""Schema readers by file suffix."""
