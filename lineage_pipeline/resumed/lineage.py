"""A whole lineage of what was discovered, from one that is kept: only what changed is read, linked and made rows of."""

from collections.abc import Mapping, Sequence

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from lineage_pipeline.discover.detect import options_of
from lineage_pipeline.discover.gather import Discovery, Rules, as_inputs, is_analysed
from lineage_pipeline.discover.schemas.model import Imports
from lineage_pipeline.pipeline import CompileAll, analyse, relaxed_collector
from lineage_pipeline.resumed.before import Before
from lineage_pipeline.resumed.going_on import Entry, go_on
from lineage_pipeline.resumed.weaving import findings, weave, woven
from lineage_pipeline.store.arrays import from_arrow, own_arrow
from lineage_pipeline.store.building import array_of
from lineage_pipeline.store.hashes import hash_of
from lineage_pipeline.store.shelf import Shelf
from lineage_pipeline.vocabulary.analysis import InputFile
from lineage_pipeline.vocabulary.tables import Diagnostic, Source

NOTHING = Shelf("", {}, Before().packed())
"""What a first analysis goes on from."""


class Texts:
    """The texts of what was discovered: those that were read now, and those that are kept of files that stayed."""

    def __init__(self, discovery: Discovery, rules: Rules, kept: Mapping[str, pa.Table]) -> None:
        """Take what was discovered, and the tables that are kept."""
        self.files = {file.path: file for file in discovery.files}
        self.rules = rules
        self.kept = kept
        self.read = {source.source_hash: source for source in discovery.sources}
        self._scripts: dict[str, int] | None = None

    def input_file(self, entry: Entry) -> InputFile:
        """Give a file as the engine takes it."""
        return next(iter(as_inputs([self.files[entry.path]], [self.source(entry.source)], self.rules)))

    def source(self, name: str) -> Source:
        """Give a text by its hash."""
        if name not in self.read:
            table = self.kept["sources"]
            row = table.filter(pc.is_in(table["source_hash"], value_set=array_of([name], pa.string())))
            (self.read[name],) = from_arrow("sources", row, Source)
        return self.read[name]

    def script(self, path: str) -> bytes:
        """Give the script that a file had before, as it was packed."""
        table = self.kept["scripts"]
        if self._scripts is None:
            self._scripts = {name: row for row, name in enumerate(table["path"].to_pylist())}
        content: bytes = table["script"][self._scripts[path]].as_py()
        return content


def resume(discovery: Discovery, rules: Rules, given: Imports, compile_all: CompileAll, kept: Shelf = NOTHING) -> Shelf:
    """Analyse what was discovered, and go on from what is kept; texts of files that stayed may be there alone."""
    imported = hash_of(sorted(given.schemas.items()))
    before = Before.of(kept.before)
    texts = Texts(discovery, rules, kept.tables)
    if before.imported != imported:
        kept, before = NOTHING, Before()
    entries = [
        Entry(
            file.path, file.source_hash, options_of(file, rules.options_for(file.path)), file.owners, file.position or 0
        )
        for file in discovery.files
        if is_analysed(file)
    ]
    with relaxed_collector():
        done = go_on(entries, before, texts, given.schemas, compile_all)
        if done is None:
            tables, told, after = _whole(entries, texts, given, compile_all)
        else:
            tables, told, after = woven(done, kept.tables, given.schemas), findings(done), done.before
        tables |= {
            "snapshots": own_arrow("snapshots", (discovery.snapshot,)),
            "sql_files": own_arrow("sql_files", discovery.files),
            "sources": _sources(discovery, texts),
            "diagnostics": own_arrow("diagnostics", (*discovery.diagnostics, *given.findings, *told)),
        }
    return Shelf(discovery.key, tables, msgspec.structs.replace(after, imported=imported if done else "").packed())


def _whole(
    entries: Sequence[Entry], texts: Texts, given: Imports, compile_all: CompileAll
) -> tuple[dict[str, pa.Table], Sequence[Diagnostic], Before]:
    """Analyse all files at once; the next analysis does so as well."""
    made = analyse(map(texts.input_file, entries), given.schemas, reach=False, compile_all=compile_all)
    tables = {name: own_arrow(name, getattr(made, name)) for name in made.__struct_fields__ if name != "diagnostics"}
    return tables, made.diagnostics, Before()


def _sources(discovery: Discovery, texts: Texts) -> pa.Table:
    """Each distinct content once, those of files that stayed as they are kept."""
    kept, wanted = texts.kept.get("sources"), {file.source_hash for file in discovery.files}
    known = set(kept["source_hash"].to_pylist()) if kept is not None else set()
    fresh = [texts.source(name) for name in wanted - known]
    return weave("sources", kept, "source_hash", known - wanted, fresh)
