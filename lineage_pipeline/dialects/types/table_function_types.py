"""Types of the columns of table functions."""

FunctionColumnTypes = dict[str, tuple[str, ...]]
"""By function, the types of its first columns in order."""

SAME_AS_EXPRESSION = "="
"""The type that the function returns in an expression."""

ELEMENT_OF_EXPRESSION = "[]"
"""The element type of the list that it returns in an expression."""

_POSTGRES_FUNCTIONS: FunctionColumnTypes = {
    "JSON_EACH": ("TEXT", "JSON"),
    "JSONB_EACH": ("TEXT", "JSONB"),
    "JSON_EACH_TEXT": ("TEXT", "TEXT"),
    "JSONB_EACH_TEXT": ("TEXT", "TEXT"),
    "JSON_ARRAY_ELEMENTS": ("JSON",),
    "JSONB_ARRAY_ELEMENTS": ("JSONB",),
    "JSON_ARRAY_ELEMENTS_TEXT": ("TEXT",),
    "JSONB_ARRAY_ELEMENTS_TEXT": ("TEXT",),
    "JSON_OBJECT_KEYS": ("TEXT",),
    "JSONB_OBJECT_KEYS": ("TEXT",),
    "REGEXP_SPLIT_TO_TABLE": ("TEXT",),
    "STRING_TO_TABLE": ("TEXT",),
    "GENERATE_SUBSCRIPTS": ("INT",),
    **dict.fromkeys(("REGEXP_MATCHES", "JSONB_PATH_QUERY"), (SAME_AS_EXPRESSION,)),
    "EXPLODINGGENERATESERIES": (SAME_AS_EXPRESSION,),
    "GENERATESERIES": (SAME_AS_EXPRESSION,),
}

_SPARK_FUNCTIONS: FunctionColumnTypes = {
    **dict.fromkeys(("POSEXPLODE", "POSEXPLODEOUTER", "POSEXPLODE_OUTER"), ("INT",)),
    "JSON_TUPLE": ("STRING",) * 100,
    "RANGE": ("BIGINT",),
    **dict.fromkeys(("WINDOW", "SESSION_WINDOW"), ("TIMESTAMP", "TIMESTAMP")),
    **dict.fromkeys(("VARIANT_EXPLODE", "VARIANT_EXPLODE_OUTER"), ("INT", "STRING", "VARIANT")),
}

TABLE_FUNCTION_TYPES: dict[str, FunctionColumnTypes] = {
    "spark": _SPARK_FUNCTIONS,
    "hive": _SPARK_FUNCTIONS,
    "postgres": _POSTGRES_FUNCTIONS,
    "snowflake": {
        "FLATTEN": ("NUMBER(38,0)", "VARCHAR", "VARCHAR", "NUMBER(38,0)", "VARIANT", "VARIANT"),
        "EXPLODE": ("NUMBER(38,0)", "VARCHAR", "VARCHAR", "NUMBER(38,0)", "VARIANT", "VARIANT"),
        "SPLIT_TO_TABLE": ("NUMBER(38,0)", "NUMBER(38,0)", "VARCHAR"),
        "STRTOK_SPLIT_TO_TABLE": ("NUMBER(38,0)", "NUMBER(38,0)", "VARCHAR"),
    },
    "tsql": {"STRING_SPLIT": (SAME_AS_EXPRESSION,), "OPENJSON": ("NVARCHAR(4000)", "NVARCHAR(MAX)", "INT")},
    "clickhouse": dict.fromkeys(("NUMBERS", "NUMBERS_MT"), ("UINT64",)),
    "duckdb": {"GENERATESERIES": (ELEMENT_OF_EXPRESSION,), "RANGE": (ELEMENT_OF_EXPRESSION,)},
}
"""The known functions by family."""

COUNTING_FUNCTIONS: dict[str, frozenset[str]] = dict.fromkeys(("spark", "hive"), frozenset({"RANGE"}))
"""By family, the functions whose only column counts and is never null."""
