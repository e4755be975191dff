"""Invalidation: the files to link again, because they changed, their names are rebound, or they read what changed.

Objects and the files that shape them are invalidated together: edge limits count over all statements of a file, and
the result of a dependency cycle depends on where it is entered.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from lineage_pipeline.engine.link.link_cache import list_bound_objects
from lineage_pipeline.engine.link.schema_registry import SchemaRegistry, ShapingStatement
from lineage_pipeline.incremental.state import AnalysisState, schema_key
from lineage_pipeline.model.analysis import TableSchema
from lineage_pipeline.model.plan import ObjectEntry, Plan
from lineage_pipeline.pipeline import CompiledFile

SchemaRecord = tuple[TableSchema, bool]
FileOpener = Callable[[str], CompiledFile]
"""Compiles the file at a path."""


class DirtySet:
    """The files and objects of a plan to compute again; grows while schemas turn out to differ."""

    def __init__(
        self, plan: Plan, before: AnalysisState, fresh: Iterable[str], imported: Mapping[str, str] | None = None
    ) -> None:
        """Start with new and changed files, and with what the plan and the imports change for the others.

        `imported` are the hashes of the imported schemas.
        """
        self.plan = plan
        self.imported = imported or {}
        self.before = before
        self.known: dict[str, ObjectEntry] = {**plan.objects, **plan.states}
        self.files: set[str] = set()
        self.objects: set[str] = set()
        self.names = {
            path: {name for one in bound for name in list_bound_objects(one)} for path, bound in plan.bound.items()
        }
        self.shaped: defaultdict[str, list[str]] = defaultdict(list)
        for name, known in self.known.items():
            for event in known.shapers:
                self.shaped[event.path].append(name)
        self.readers: defaultdict[str, list[str]] = defaultdict(list)
        for path, names in self.names.items():
            for name in names:
                self.readers[name].append(path)
        self.groups = {name: group for group in plan.order if len(group) > 1 for name in group}
        self.add(fresh, self._changed_entries())
        self.add((path for path in self._rebound_files() if path not in self.files), ())

    def _changed_entries(self) -> Iterator[str]:
        for name, known in self.known.items():
            old = self.before.known.get(name)
            imports = (self.before.imported.get(known.imported), self.imported.get(known.imported))
            if old is None or schema_key(old) != schema_key(known) or imports[0] != imports[1]:
                yield name

    def _rebound_files(self) -> Iterator[str]:
        """The files whose names are bound differently, or resolved in another order."""
        before = self.before
        yield from (path for path, bound in self.plan.bound.items() if before.bound.get(path) != bound)
        if before.order != self.plan.order:
            old, new = _rank_objects(before.order), _rank_objects(self.plan.order)
            for path, names in self.names.items():
                near = [name for name in {*names, *self.shaped[path]} if name in new]
                if sorted(near, key=new.__getitem__) != sorted(near, key=lambda name: old.get(name, -1)):
                    yield path

    def add(self, files: Iterable[str], objects: Iterable[str]) -> set[str]:
        """Add files and objects with everything that depends on being computed together; return the new objects."""
        waiting, taken = list(objects), set[str]()
        for path in files:
            self.files.add(path)
            waiting.extend(self.shaped[path])
        while waiting:
            name = waiting.pop()
            if name in self.objects:
                continue
            self.objects.add(name)
            taken.add(name)
            waiting.extend(self.groups.get(name, ()))
            for event in self.known[name].shapers:
                if event.path not in self.files:
                    self.files.add(event.path)
                    waiting.extend(self.shaped[event.path])
        return taken


class SnapshotSchemas(msgspec.Struct):
    """The schemas of a snapshot: all of them packed, and the requested ones in a registry."""

    registry: SchemaRegistry
    packed: dict[str, bytes]

    def schema(self, name: str) -> TableSchema:
        """The schema of an object."""
        found = self.registry.schemas.get(name)
        return found if found is not None else _unpack_record(self.packed[name])[0]


def resolve_dirty_schemas(
    dirt: DirtySet, open_file: FileOpener, imported: Mapping[str, TableSchema]
) -> SnapshotSchemas:
    """Resolve the dirty schemas in dependency order; readers of a changed one become dirty as well."""
    shapes = _resolve_once(dirt, open_file, imported)
    while shapes is None:  # something that was taken for clean is not: begin again, with more that is dirty
        shapes = _resolve_once(dirt, open_file, imported)
    return shapes


def _resolve_once(dirt: DirtySet, open_file: FileOpener, imported: Mapping[str, TableSchema]) -> SnapshotSchemas | None:
    def statement_at(path: str, ordinal: int) -> ShapingStatement:
        item = open_file(path)
        return item.script.statements[ordinal].statement, dirt.plan.bound[path][ordinal], item.traits

    registry = SchemaRegistry(dirt.known, statement_at, imported)
    clean = _CleanSchemas(dirt, registry)
    packed: dict[str, bytes] = {}
    for group in dirt.plan.order:
        for name in group:
            if name not in dirt.objects:
                packed[name] = dirt.before.shapes[name]
                clean.add_if_needed(name)
                continue
            registry.resolve(((name,),))
            schema = registry.schemas.get(name) or registry.states[name]
            packed[name] = msgspec.msgpack.encode((schema, dirt.known[name].row.temporary))
            if packed[name] != dirt.before.shapes.get(name) and not clean.invalidate_readers(name, packed):
                return None
    return SnapshotSchemas(registry, packed)


class _CleanSchemas:
    """Adds unchanged schemas to the registry in their turn, as far as dirty files name them."""

    def __init__(self, dirt: DirtySet, registry: SchemaRegistry) -> None:
        self.dirt = dirt
        self.registry = registry
        self.needed = {name for path in dirt.files for name in dirt.names[path]}

    def add_if_needed(self, name: str) -> None:
        """Add an object to the registry where a dirty file needs it."""
        if name in self.needed:
            self.registry.add_resolved(name, *_unpack_record(self.dirt.before.shapes[name]))

    def invalidate_readers(self, changed: str, passed: Mapping[str, bytes]) -> bool:
        """Invalidate the readers of an object; False where one of them was already resolved."""
        fresh = [path for path in self.dirt.readers[changed] if path not in self.dirt.files]
        before = set(self.dirt.files)
        if not self.dirt.add(fresh, ()).isdisjoint(passed):
            return False
        names = {name for path in self.dirt.files - before for name in self.dirt.names[path]} - self.needed
        self.needed |= names
        for name in names & passed.keys() - self.dirt.objects:
            self.add_if_needed(name)
        return True


def _unpack_record(content: bytes) -> SchemaRecord:
    shape: SchemaRecord = msgspec.msgpack.decode(content, type=SchemaRecord)
    return shape


def _rank_objects(order: Iterable[Iterable[str]]) -> dict[str, int]:
    return {name: rank for rank, name in enumerate(name for group in order for name in group)}
