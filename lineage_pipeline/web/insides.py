"""The inside of statements: a file compiled and linked again, with the columns that the snapshot knows around it."""

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

import msgspec

from lineage_pipeline.vocabulary.analysis import Options, SchemaColumn, TableSchema
from lineage_pipeline.vocabulary.sets import ObjectKind, Origin
from lineage_pipeline.vocabulary.tables import Source, SqlFile
from lineage_pipeline.web.marts import Marts, Row

if TYPE_CHECKING:
    from lineage_pipeline.graphs import Graphs

KEPT = 32
"""How many files are kept ready."""


class Inside(msgspec.Struct, frozen=True):
    """A file as it is written, its statements, and the graphs of those."""

    path: str
    text: str
    about: Row
    statements: tuple[Row, ...]
    graphs: "Graphs"


class Insides:
    """The files that were looked into last; another state of the marts forgets them."""

    def __init__(self, marts: Marts) -> None:
        """Start with none."""
        self._marts = marts
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str, str], Inside | None] = OrderedDict()

    def of(self, snapshot: str, path: str) -> Inside | None:
        """Give the inside of a file, or nothing where the snapshot has no such text."""
        key = (self._marts.stamp(), snapshot, path)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        found = look_into(self._marts, snapshot, path)
        with self._lock:
            self._kept[key] = found
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return found


def look_into(marts: Marts, snapshot: str, path: str) -> Inside | None:
    """Compile and link a file again; three queries."""
    # The engine takes a second to import, and most who open the explorer never look inside.
    from lineage_pipeline.discover.gather import as_inputs
    from lineage_pipeline.graphs import Graphs
    from lineage_pipeline.pipeline import work_out

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
    known = _around(marts, snapshot, path)
    file, source = msgspec.convert(about, SqlFile, strict=False), msgspec.convert(about, Source, strict=False)
    rules = _Rules(_options(about, known))
    workings = work_out(list(as_inputs([file], [source], rules)), _schemas(known, path))
    statements = marts.ask(
        "select ordinal, parent, kind, target, targets, preview, status, features, span.line as line,"
        " span.end_line as end_line, span.start as span_start, span.end as span_end"
        " from staging.stg_lineage__statements where snapshot = ? and path = ? order by ordinal",
        snapshot,
        path,
    )
    return Inside(path, str(about["text"]), about, tuple(statements), Graphs(workings))


class _Rules:
    """The options of the one file."""

    def __init__(self, options: Options) -> None:
        self._options = options

    def options_for(self, path: str) -> Options:
        """Give them, whatever the path."""
        del path
        return self._options


def _around(marts: Marts, snapshot: str, path: str) -> list[Row]:
    """List the objects that a file has to do with, each with its columns."""
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


def _options(about: Row, known: list[Row]) -> Options:
    """Read the file as it was read; names are completed with what most of its objects have in common."""
    return Options(
        dialect=about["dialect"] or "",
        system=about["system"] or "",
        default_catalog=about["default_catalog"] or _usual(known, "catalog_name"),
        default_schema=about["default_schema"] or _usual(known, "schema_name"),
    )


def _usual(known: list[Row], part: str) -> str:
    named = [row[part] for row in known if row[part]]
    return max(sorted(set(named)), key=named.count, default="")


def _schemas(known: list[Row], path: str) -> dict[str, TableSchema]:
    """Give the schemas of what the file reads and writes, but does not define itself."""
    return {
        row["object"]: TableSchema(
            row["object"],
            ObjectKind(row["kind"]),
            Origin.IMPORTED,
            tuple(
                SchemaColumn(column["name"], column["name"], column["type"], bool(column["nullable"]))
                for column in row["columns"] or ()
            ),
            bool(row["is_open"]),
            yields=True,
        )
        for row in known
        if row["path"] != path and row["columns"]
    }
