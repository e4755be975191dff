"""The names of datasets in events, as the ids of the objects that they are."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from lineage_pipeline.dialects.folding import Folding
from lineage_pipeline.engine.graph.names import quote
from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.runtime import Named, RuntimeDataset
from lineage_pipeline.vocabulary.sets import ObjectKind, Origin
from lineage_pipeline.vocabulary.tables import ObjectRow

KINDS = {"TABLE": ObjectKind.TABLE, "VIEW": ObjectKind.VIEW}
Parts = tuple[str, ...]


class Datasets:
    """Finds the object of each dataset: by its name, by an alias, or by the end of its name where only one fits.

    A dataset that is none of the objects becomes one, among the `strangers`; outside of the namespaces of our systems,
    the namespace is part of its id.
    """

    def __init__(self, lineage: Lineage, seen: Mapping[Named, RuntimeDataset], namespaces: Mapping[str, str]) -> None:
        self._systems = {namespace: system for system, namespace in namespaces.items()}
        self._exact: dict[tuple[str, Parts], str] = {}
        self._ends: dict[tuple[str, str], list[tuple[Parts, str]]] = defaultdict(list)
        for row in lineage.objects:
            parts = tuple(part.casefold() for part in (row.catalog, row.schema, row.name) if part)
            self._exact.setdefault((row.system, parts), row.object)
            if parts:
                self._ends[row.system, parts[-1]].append((parts, row.object))
        self._columns: dict[str, dict[str, str]] = defaultdict(dict)
        for column in lineage.columns:
            self._columns[column.object].setdefault(column.name.casefold(), column.name)
        self.strangers: dict[str, ObjectRow] = {}
        self._ids = {name: self._find(dataset) for name, dataset in seen.items()}

    def id(self, dataset: RuntimeDataset) -> str:
        """Give the object of a dataset."""
        return self._ids[dataset.name]

    def column(self, dataset: Named, field: str) -> tuple[str, str]:
        """Give the column of a field; a field of a struct is its column."""
        name = self._ids[dataset]
        known = self._columns[name]
        whole = known.get(field.casefold())
        return name, whole or known.get(field.partition(".")[0].casefold()) or field

    def _find(self, dataset: RuntimeDataset) -> str:
        for namespace, name in (dataset.name, *dataset.aliases):
            found = self._known(namespace, name)
            if found:
                return found
        return self._stranger(dataset)

    def _known(self, namespace: str, name: str) -> str | None:
        system = self._systems.get(namespace)
        if system is None and len(set(self._systems.values())) > 1:
            return None
        parts = tuple(part.casefold() for part in _parts(name))
        systems = {system or "", ""} if system is not None else {key for key, _ in self._exact}
        for one in sorted(systems):
            exact = self._exact.get((one, parts))
            if exact:
                return exact
        near = [
            identity
            for one in systems
            for known, identity in self._ends.get((one, parts[-1]), ())
            if _ends_alike(known, parts)
        ]
        return near[0] if len(near) == 1 else None

    def _stranger(self, dataset: RuntimeDataset) -> str:
        namespace, name = dataset.name
        system = self._systems.get(namespace)
        parts = _parts(name)
        outside = (namespace,) if system is None else (system,) if system else ()
        identity = ".".join(quote(part, Folding.EXACT) for part in (*outside, *parts))
        *before, last = parts
        catalog, schema = (["", ""] + before)[-2:]
        self.strangers[identity] = ObjectRow(
            identity, system if system is not None else namespace, catalog, schema, last, last,
            KINDS.get(dataset.kind, ObjectKind.EXTERNAL), Origin.RUNTIME, 0, False, False, None, None, (), (),
        )  # fmt: skip
        return identity


def _parts(name: str) -> Parts:
    return tuple(part.strip('"`[]') for part in name.split(".")) if "/" not in name else (name,)


def _ends_alike(one: Iterable[str], other: Iterable[str]) -> bool:
    """Say whether two names are the same as far as the shorter one goes."""
    pairs = zip(reversed(tuple(one)), reversed(tuple(other)), strict=False)
    return all(left == right for left, right in pairs)
