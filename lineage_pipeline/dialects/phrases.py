"""Words of queries that the parser does not know, as the repairs of statements need them."""

GROUP_ENDS = frozenset({"HAVING", "ORDER BY", "LIMIT", "WINDOW", "QUALIFY", "UNION", "INTO", "FOR", ")"})
"""Words that end GROUP BY."""

JSON_CLAUSES: tuple[tuple[str, ...], ...] = (
    ("RETURNING",),
    ("WITH",),
    ("WITHOUT",),
    ("KEEP",),
    ("OMIT",),
    ("PASSING",),
    ("ERROR", "ON"),
    ("EMPTY",),
    ("ABSENT", "ON"),
    ("NULL", "ON"),
    ("FORMAT",),
)
"""What begins the options of a function over documents, behind its arguments."""

PIPE_STARS = {"DROP": "EXCEPT", "RENAME": "RENAME", "SET": "REPLACE"}
"""Steps of a pipe, and what a star does that means the same."""

LITERAL_FORMATS = frozenset("FORMAT CASESPECIFIC CS UPPERCASE UC TITLE".split())
"""What may stand in brackets behind a value and only says how it is shown or compared."""

VALUE_TYPES = frozenset(
    "DATE INTEGER INT SMALLINT BIGINT BYTEINT DECIMAL NUMERIC FLOAT CHAR VARCHAR TIMESTAMP TIME DEC NAMED".split()
)
"""Types that may stand there too."""

SCORING = ("PREDICTION", "CLUSTER_", "FEATURE_", "ORA_DM_")
"""How the functions begin that apply a model to columns: `PREDICTION(model USING a, b)`."""
