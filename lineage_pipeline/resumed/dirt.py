"""Which files have to be linked again: those that changed, whose names mean something else, or that read what changed.

Objects and the files that shape them go together: what a file may have of edges is counted over all its statements, and
a circle of objects depends on where one began.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from lineage_pipeline.engine.link.memory import named
from lineage_pipeline.engine.link.schemas import SchemaRegistry, Shaper
from lineage_pipeline.pipeline import Compiled
from lineage_pipeline.resumed.before import Before, shape_key
from lineage_pipeline.vocabulary.analysis import TableSchema
from lineage_pipeline.vocabulary.plan import Known, Plan

Shape = tuple[TableSchema, bool]
Open = Callable[[str], Compiled]
"""Gives a file compiled, by its path."""


class Dirt:
    """The files and objects of a plan that are to be worked out again; grows while schemas turn out to be others."""

    def __init__(self, plan: Plan, before: Before, fresh: Iterable[str]) -> None:
        """Start with files that are new or read otherwise, and with what the plan says of the rest."""
        self.plan = plan
        self.before = before
        self.known: dict[str, Known] = {**plan.objects, **plan.states}
        self.files: set[str] = set()
        self.objects: set[str] = set()
        self.names = {path: {name for one in bound for name in named(one)} for path, bound in plan.bound.items()}
        self.shaped: defaultdict[str, list[str]] = defaultdict(list)
        for name, known in self.known.items():
            for event in known.shapers:
                self.shaped[event.path].append(name)
        self.readers: defaultdict[str, list[str]] = defaultdict(list)
        for path, names in self.names.items():
            for name in names:
                self.readers[name].append(path)
        self.groups = {name: group for group in plan.order if len(group) > 1 for name in group}
        self.add(fresh, self._reshaped())
        self.add((path for path in self._moved() if path not in self.files), ())

    def _reshaped(self) -> Iterator[str]:
        for name, known in self.known.items():
            old = self.before.known.get(name)
            if old is None or shape_key(old) != shape_key(known):
                yield name

    def _moved(self) -> Iterator[str]:
        """Give the files whose names stand for something else, or are worked out in another order."""
        before = self.before
        yield from (path for path, bound in self.plan.bound.items() if before.bound.get(path) != bound)
        if before.order != self.plan.order:
            old, new = _ranks(before.order), _ranks(self.plan.order)
            for path, names in self.names.items():
                near = [name for name in {*names, *self.shaped[path]} if name in new]
                if sorted(near, key=new.__getitem__) != sorted(near, key=lambda name: old.get(name, -1)):
                    yield path

    def add(self, files: Iterable[str], objects: Iterable[str]) -> set[str]:
        """Take files and objects, and all that go with them; give the objects that are new among them."""
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


class Shapes(msgspec.Struct):
    """The schemas of a snapshot: all of them packed, and those that somebody looked at in a registry."""

    registry: SchemaRegistry
    packed: dict[str, bytes]

    def schema(self, name: str) -> TableSchema:
        """Give the schema of an object."""
        found = self.registry.schemas.get(name)
        return found if found is not None else _unpacked(self.packed[name])[0]


def resolve(dirt: Dirt, open_file: Open, imported: Mapping[str, TableSchema]) -> Shapes:
    """Work out the schemas of what is dirty, in order of need; whoever reads one that changed is dirty as well."""
    shapes = _resolve(dirt, open_file, imported)
    while shapes is None:  # something that was taken for clean is not: begin again, with more that is dirty
        shapes = _resolve(dirt, open_file, imported)
    return shapes


def _resolve(dirt: Dirt, open_file: Open, imported: Mapping[str, TableSchema]) -> Shapes | None:
    def statement_at(path: str, ordinal: int) -> Shaper:
        item = open_file(path)
        return item.script.statements[ordinal].statement, dirt.plan.bound[path][ordinal], item.traits

    registry = SchemaRegistry(dirt.known, statement_at, imported)
    clean = _Clean(dirt, registry)
    packed: dict[str, bytes] = {}
    for group in dirt.plan.order:
        for name in group:
            if name not in dirt.objects:
                packed[name] = dirt.before.shapes[name]
                clean.take(name)
                continue
            registry.resolve(((name,),))
            schema = registry.schemas.get(name) or registry.states[name]
            packed[name] = msgspec.msgpack.encode((schema, dirt.known[name].row.temporary))
            if packed[name] != dirt.before.shapes.get(name) and not clean.spread(name, packed):
                return None
    return Shapes(registry, packed)


class _Clean:
    """Hands schemas that stay to the registry, as far as dirty files name them, when it is their turn."""

    def __init__(self, dirt: Dirt, registry: SchemaRegistry) -> None:
        self.dirt = dirt
        self.registry = registry
        self.needed = {name for path in dirt.files for name in dirt.names[path]}

    def take(self, name: str) -> None:
        """Let the registry know an object whose turn it is, where anybody needs it."""
        if name in self.needed:
            self.registry.take(name, *_unpacked(self.dirt.before.shapes[name]))

    def spread(self, changed: str, passed: Mapping[str, bytes]) -> bool:
        """Make the readers of an object dirty; say no where something is among them whose turn has been."""
        fresh = [path for path in self.dirt.readers[changed] if path not in self.dirt.files]
        before = set(self.dirt.files)
        if not self.dirt.add(fresh, ()).isdisjoint(passed):
            return False
        names = {name for path in self.dirt.files - before for name in self.dirt.names[path]} - self.needed
        self.needed |= names
        for name in names & passed.keys() - self.dirt.objects:
            self.take(name)
        return True


def _unpacked(content: bytes) -> Shape:
    shape: Shape = msgspec.msgpack.decode(content, type=Shape)
    return shape


def _ranks(order: Iterable[Iterable[str]]) -> dict[str, int]:
    return {name: rank for rank, name in enumerate(name for group in order for name in group)}
