"""Where we differ from an engine: the reason, and the columns that show it, by the titles of their queries."""

_BINDS = {
    "the parser binds :: tighter than the type before a constant": (
        "moments: a constant of a type that is converted | a",
    )
}

DUCKDB: dict[str, tuple[str, ...]] = {
    **_BINDS,
    "the parser writes a zero before a point": ("decimals: constants | e",),
    "a reference shows its own letters, not those of the column": (
        "names: upper case | id",
        "names: upper case | amount",
    ),
}

POSTGRES: dict[str, tuple[str, ...]] = {
    **_BINDS,
    "the parser drops the sign +": ("arithmetic: signs | d",),
}

POSTGRES_READS: dict[str, tuple[str, ...]] = {
    "what a subquery gives and nobody takes is no lineage": ("joins: nested queries keep digits",),
    "a whole row is one reference to its table there": (
        "nested: the whole row in a function",
        "strings: functions of documents",
    ),
}
"""Where we read other columns than PostgreSQL's catalogue says of a view: the reason, and the queries."""
