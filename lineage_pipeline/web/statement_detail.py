"""Statement detail: a file compiled and linked again, with the columns that the snapshot has of other objects."""

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

import msgspec

from lineage_pipeline.model.analysis import Options, SchemaColumn, TableSchema
from lineage_pipeline.model.enums import ObjectKind, Origin
from lineage_pipeline.model.tables import Source, SqlFile
from lineage_pipeline.web.marts import Marts, Row

if TYPE_CHECKING:
    from lineage_pipeline.detail import AnalysisGraphs

CACHED_FILES = 32
"""The number of files in the cache."""


class FileDetail(msgspec.Struct, frozen=True):
    """A file with its text, its statements, and their graphs."""

    path: str
    text: str
    about: Row
    statements: tuple[Row, ...]
    graphs: "AnalysisGraphs"


class FileDetailCache:
    """The file details used last; they are built again when the marts are replaced."""

    def __init__(self, marts: Marts) -> None:
        """Start empty."""
        self._marts = marts
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str, str], FileDetail | None] = OrderedDict()

    def of(self, snapshot: str, path: str) -> FileDetail | None:
        """Return the detail of a file, or None where the snapshot has no such text."""
        key = (self._marts.stamp(), snapshot, path)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        found = load_file_detail(self._marts, snapshot, path)
        with self._lock:
            self._kept[key] = found
            while len(self._kept) > CACHED_FILES:
                self._kept.popitem(last=False)
        return found


def load_file_detail(marts: Marts, snapshot: str, path: str) -> FileDetail | None:
    """Compile and link a file again; three queries."""
    # The engine takes a second to import, and most who open the explorer never look inside.
    from lineage_pipeline.detail import AnalysisGraphs
    from lineage_pipeline.discover.discovery import build_inputs_from_rows
    from lineage_pipeline.pipeline import analyze_files

    rows = marts.ask(
        "select files.*, sources.* exclude (source_hash) from staging.stg_lineage__sql_files as files"
        " inner join staging.stg_lineage__sources as sources using (source_hash)"
        " where files.snapshot = ? and files.path = ?",
        snapshot,
        path,
    )
    if not rows:
        return None
    about = rows[0]
    known = _related_objects(marts, snapshot, path)
    file, source = msgspec.convert(about, SqlFile, strict=False), msgspec.convert(about, Source, strict=False)
    rules = _FixedOptions(_file_options(about, known))
    workings = analyze_files(list(build_inputs_from_rows([file], [source], rules)), _imported_schemas(known, path))
    statements = marts.ask(
        "select ordinal, parent, kind, target, targets, preview, status, features, span.line as line,"
        " span.end_line as end_line, span.start as span_start, span.end as span_end"
        " from staging.stg_lineage__statements where snapshot = ? and path = ? order by ordinal",
        snapshot,
        path,
    )
    return FileDetail(
        path=path, text=str(about["text"]), about=about, statements=tuple(statements), graphs=AnalysisGraphs(workings)
    )


class _FixedOptions:
    """The options of the one file."""

    def __init__(self, options: Options) -> None:
        self._options = options

    def options_for(self, path: str) -> Options:
        """Return the options for any path."""
        del path
        return self._options


def _related_objects(marts: Marts, snapshot: str, path: str) -> list[Row]:
    """Return the objects that the file's statements use, each with its columns."""
    return marts.ask(
        "select objects.object, objects.kind, objects.path, objects.is_open, objects.system_name,"
        " objects.catalog_name, objects.schema_name, (select list(struct_pack(name := column_name, type := data_type,"
        " nullable := is_nullable) order by ordinal) from marts.columns as columns"
        " where columns.snapshot = objects.snapshot and columns.object = objects.object) as columns"
        " from marts.objects as objects where objects.snapshot = ? and objects.object in (select object"
        " from staging.stg_lineage__object_statements where snapshot = ? and path = ?) order by objects.object",
        snapshot,
        snapshot,
        path,
    )


def _file_options(about: Row, known: list[Row]) -> Options:
    """Return the options the file was read with; defaults for names come from most of its objects."""
    return Options(
        dialect=about["dialect"] or "",
        system=about["system"] or "",
        default_catalog=about["default_catalog"] or _most_common(known, "catalog_name"),
        default_schema=about["default_schema"] or _most_common(known, "schema_name"),
    )


def _most_common(known: list[Row], part: str) -> str:
    named = [row[part] for row in known if row[part]]
    return max(sorted(set(named)), key=named.count, default="")


def _imported_schemas(known: list[Row], path: str) -> dict[str, TableSchema]:
    """Return the schemas of the objects that the file uses, but does not define itself."""
    return {
        row["object"]: TableSchema(
            object=row["object"],
            kind=ObjectKind(row["kind"]),
            origin=Origin.IMPORTED,
            columns=tuple(
                SchemaColumn(column["name"], column["name"], column["type"], bool(column["nullable"]))
                for column in row["columns"] or ()
            ),
            open=bool(row["is_open"]),
            yields=True,
        )
        for row in known
        if row["path"] != path and row["columns"]
    }
