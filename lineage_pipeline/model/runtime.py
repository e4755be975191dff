"""Runtime lineage from events: jobs, their datasets, and flows between fields."""

import msgspec

from lineage_pipeline.model.enums import EdgeType, Subtype

DatasetName = tuple[str, str]
"""A dataset by its namespace and name."""


class RuntimeDataset(msgspec.Struct, frozen=True):
    """A dataset with its observed fields and types, and its other names."""

    name: DatasetName
    fields: tuple[tuple[str, str | None], ...] = ()
    kind: str = ""
    aliases: tuple[DatasetName, ...] = ()


class RuntimeFlow(msgspec.Struct, frozen=True):
    """One field that feeds another; an output field `*` is the dataset as a whole."""

    source: DatasetName
    field: str
    target: DatasetName
    output: str
    type: EdgeType
    subtype: Subtype
    masking: bool = False
    description: str = ""


class RuntimeJob(msgspec.Struct, frozen=True):
    """What all runs of a job read and wrote."""

    namespace: str
    name: str
    inputs: tuple[RuntimeDataset, ...]
    outputs: tuple[RuntimeDataset, ...]
    flows: tuple[RuntimeFlow, ...]


class RuntimeDifference(msgspec.Struct, frozen=True):
    """An edge that only one side has; without columns it is one between objects."""

    seen: str
    from_object: str
    from_column: str | None
    to_object: str
    to_column: str | None
    type: EdgeType | None
    job: str | None
    path: str | None
    statement: int | None


class RuntimeComparison(msgspec.Struct, frozen=True):
    """Edges of objects and of columns that both sides have, and those that only one has.

    Compared is what flows into objects that a run wrote; `silent` counts those that only statements write.
    """

    jobs: int
    tables: int
    columns: int
    silent: int
    differences: tuple[RuntimeDifference, ...]
