"""Where a rewritten query has another lineage, and why: what the tool changed on purpose, or lost."""

from lineage_pipeline_tests.oracles.rewrites.rewriter import DIRECT, FINDINGS, INDIRECT, NAMES, TYPES, Difference

MERGED_TYPES = "a merged column of two types is written as the column of the wider one"
CONSTANT_TYPES = "the parser binds :: tighter than the type before a constant"

_EVERYTHING = (NAMES, TYPES, DIRECT, INDIRECT, FINDINGS)
_POSTGRES = ("pg_get_viewdef", "pg_dump")
_MARIADB = ("SHOW CREATE VIEW", "mariadb-dump")

DIFFERENCES: tuple[Difference, ...] = (
    *(
        Difference(tool, (DIRECT,), MERGED_TYPES, query=r"using \(id\)", text=r"\b(b|orders)\.id\b")
        for tool in _POSTGRES
    ),
    *(
        Difference(tool, (TYPES,), CONSTANT_TYPES, query="a constant of a type that is converted")
        for tool in (*_POSTGRES, "duckdb_views")
    ),
    *(
        Difference(tool, (TYPES,), reason, query=query, text=text)
        for tool in _MARIADB
        for reason, query, text in (
            ("TRUE is printed as the number it is", r"\btrue\b", ""),
            ("integers are printed with the width of their display", r"json_table", r"int\(11\)"),
            ("DATEDIFF is printed as a difference of numbers of days", "datediff", "to_days"),
        )
    ),
    Difference(
        "SHOW CREATE VIEW",
        _EVERYTHING,
        "a star in an expression that nobody reads is not expanded but quoted, which MariaDB itself refuses to read",
        text=r"`\*` AS `\*`",
    ),
    Difference(
        "duckdb_views",
        _EVERYTHING,
        "the filter of COLUMNS is printed as list_filter(*, …), which DuckDB itself refuses to read",
        query=r"columns\(lambda",
    ),
    Difference(
        "duckdb_views",
        (INDIRECT,),
        "an array of a subquery is printed as a CASE that asks whether it is empty",
        query=r"array\(select",
    ),
    *(
        Difference(
            tool,
            _EVERYTHING,
            "BigQuery has no list of columns behind the name of an expression; sqlglot drops it before a star",
            query=r"\(h0\b.*?\) as \(select (distinct )?[\w.]*\*",
        )
        for tool in ("sqlglot pretty", "sqlglot transpile")
    ),
    Difference(
        "sqlglot qualify",
        (INDIRECT,),
        "BigQuery takes a key of GROUP BY for the alias and refuses an aggregate; sqlglot takes the column",
        query=r"\w+\(\w+\) as (\w+) from .* group by \1\b",
    ),
    Difference(
        "sqlglot qualify",
        (TYPES, FINDINGS),
        "an alias that its own SELECT reads is written out: a constant has no type again, a mismatch is found again",
        text=r"('a \(b; c'|AS TEXT\)) \+ 1",
    ),
    Difference(
        "sqlglot transpile",
        (NAMES, DIRECT),
        "in MySQL the star of a RIGHT JOIN that merges columns begins with its right table; sqlglot keeps the text",
        query=r"select (distinct )?\* from .* right join .* using",
    ),
)
"""A row that nothing needs any more fails the whole run (`make oracle`)."""
