"""Enums: closed sets of values that appear in the tables."""

from enum import StrEnum


class Level(StrEnum):
    """How serious a finding of the analysis is."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Severity(StrEnum):
    """How much a change hurts those who read the changed thing."""

    BREAKING = "BREAKING"
    POTENTIALLY_BREAKING = "POTENTIALLY_BREAKING"
    NON_BREAKING = "NON_BREAKING"
    INFO = "INFO"


class Confidence(StrEnum):
    """How sure a change is."""

    CERTAIN = "certain"
    INFERRED = "inferred"
    APPROXIMATE = "approximate"
    UNKNOWN = "unknown"


class Scope(StrEnum):
    """What side of an object a change touches."""

    INTERFACE = "interface"
    COLUMN_SEMANTICS = "column-semantics"
    ROW_SET = "row-set"
    POSITIONAL = "positional"
    ANALYSIS = "analysis"


class EdgeType(StrEnum):
    """Whether the value itself flows (DIRECT) or only decides about it (INDIRECT)."""

    DIRECT = "DIRECT"
    INDIRECT = "INDIRECT"


class Subtype(StrEnum):
    """How a column feeds another, in OpenLineage's words."""

    IDENTITY = "IDENTITY"
    TRANSFORMATION = "TRANSFORMATION"
    AGGREGATION = "AGGREGATION"
    JOIN = "JOIN"
    FILTER = "FILTER"
    GROUP_BY = "GROUP_BY"
    SORT = "SORT"
    WINDOW = "WINDOW"
    CONDITIONAL = "CONDITIONAL"


class ObjectKind(StrEnum):
    """What an object is."""

    TABLE = "table"
    VIEW = "view"
    MATERIALIZED_VIEW = "materialized view"
    TEMP_TABLE = "temp table"
    PROCEDURE = "procedure"
    FUNCTION = "function"
    TRIGGER = "trigger"
    QUERY = "query"
    EXTERNAL = "external"
    TABLE_TYPE = "table type"
    UNKNOWN = "unknown"


class Origin(StrEnum):
    """Where the knowledge of a schema comes from."""

    IMPORTED = "imported"
    IMPLIED = "implied"
    INFERRED = "inferred"
    RUNTIME = "runtime"
    UNKNOWN = "unknown"


class Role(StrEnum):
    """A statement's part in an object."""

    DEFINE = "define"
    ALTER = "alter"
    WRITE = "write"
    READ = "read"
    CALL = "call"
    DROP = "drop"


class EdgeKind(StrEnum):
    """How one object depends on another."""

    READ = "read"
    WRITE = "write"
    CALL = "call"


class Status(StrEnum):
    """How far the analysis of a statement came."""

    ANALYSED = "analysed"
    PARTIAL = "partial"
    FAILED = "failed"


class Stage(StrEnum):
    """The stages of the pipeline, in order."""

    DISCOVERY = "discovery"
    PARSING = "parsing"
    OBJECT_GRAPH = "object_graph"
    SCHEMA_REGISTRY = "schema_registry"
    COLUMN_GRAPH = "column_graph"
    DIFF = "diff"
    EXPORT = "export"


class NodeType(StrEnum):
    """What a node of a graph is; a placeholder stands for what a name that leads nowhere may have meant."""

    TABLE = "table"
    VIEW = "view"
    MATERIALIZED_VIEW = "materialized view"
    TEMP_TABLE = "temp table"
    EXTERNAL = "external"
    TABLE_TYPE = "table type"
    PROCEDURE = "procedure"
    FUNCTION = "function"
    TRIGGER = "trigger"
    SCRIPT = "script"
    CTE = "cte"
    SUBQUERY = "subquery"
    VARIABLE = "variable"
    OUTPUT = "output"
    COLUMN = "column"
    PLACEHOLDER = "placeholder"


class GraphEdgeType(StrEnum):
    """What an edge of a graph says; data flows as it is, and is derived where it is computed or decided."""

    OWNERSHIP = "ownership"
    DATA_FLOW = "data_flow"
    DERIVATION = "derivation"
    JOIN_DEPENDENCY = "join_dependency"
    CROSS_STATEMENT = "cross_statement"
    CALL = "call"


class Operation(StrEnum):
    """How an edge of a graph comes about: what happens to a value or decides about it, or how rows are taken."""

    IDENTITY = "IDENTITY"
    TRANSFORMATION = "TRANSFORMATION"
    AGGREGATION = "AGGREGATION"
    JOIN = "JOIN"
    FILTER = "FILTER"
    GROUP_BY = "GROUP_BY"
    SORT = "SORT"
    WINDOW = "WINDOW"
    CONDITIONAL = "CONDITIONAL"
    SELECT = "SELECT"
    SUBQUERY = "SUBQUERY"
    INNER_JOIN = "INNER_JOIN"
    LEFT_JOIN = "LEFT_JOIN"
    RIGHT_JOIN = "RIGHT_JOIN"
    FULL_JOIN = "FULL_JOIN"
    CROSS_JOIN = "CROSS_JOIN"
    SEMI_JOIN = "SEMI_JOIN"
    ANTI_JOIN = "ANTI_JOIN"
    UNION = "UNION"
    INTERSECT = "INTERSECT"
    EXCEPT = "EXCEPT"
    RECURSION = "RECURSION"
    PIVOT = "PIVOT"
    UNPIVOT = "UNPIVOT"
    CREATE = "CREATE"
    INSERT = "INSERT"
    OVERWRITE = "OVERWRITE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    MERGE = "MERGE"
    ASSIGN = "ASSIGN"
    WRITE = "WRITE"
    CALL = "CALL"


class Profile(StrEnum):
    """What kind of OpenLineage event tells of a job: what it is made of, or a run of it."""

    JOB = "job"
    RUN = "run"


class Indirect(StrEnum):
    """Where an event tells what decides about a whole dataset: once, on each of its columns, or not at all."""

    DATASET = "dataset"
    FIELDS = "fields"
    NONE = "none"


class Grain(StrEnum):
    """What a picture has as its boxes: files, objects, or objects with their columns."""

    SCRIPT = "script"
    TABLE = "table"
    COLUMN = "column"
