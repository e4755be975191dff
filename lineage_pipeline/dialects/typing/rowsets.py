"""The types of the columns of functions that stand where tables stand."""

Columns = dict[str, tuple[str, ...]]
"""By function, the types of its first columns in order."""

SELF = "="
"""The type that the function gives where it stands in an expression."""

ELEMENT = "[]"
"""The type of which it gives a list there."""

_POSTGRES: Columns = {
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
    **dict.fromkeys(("REGEXP_MATCHES", "JSONB_PATH_QUERY"), (SELF,)),
    "EXPLODINGGENERATESERIES": (SELF,),
    "GENERATESERIES": (SELF,),
}

_SPARK: Columns = {
    **dict.fromkeys(("POSEXPLODE", "POSEXPLODEOUTER", "POSEXPLODE_OUTER"), ("INT",)),
    "JSON_TUPLE": ("STRING",) * 100,
    "RANGE": ("BIGINT",),
    **dict.fromkeys(("WINDOW", "SESSION_WINDOW"), ("TIMESTAMP", "TIMESTAMP")),
    **dict.fromkeys(("VARIANT_EXPLODE", "VARIANT_EXPLODE_OUTER"), ("INT", "STRING", "VARIANT")),
}

ROWSETS: dict[str, Columns] = {
    "spark": _SPARK,
    "hive": _SPARK,
    "postgres": _POSTGRES,
    "snowflake": {
        "FLATTEN": ("NUMBER(38,0)", "VARCHAR", "VARCHAR", "NUMBER(38,0)", "VARIANT", "VARIANT"),
        "EXPLODE": ("NUMBER(38,0)", "VARCHAR", "VARCHAR", "NUMBER(38,0)", "VARIANT", "VARIANT"),
        "SPLIT_TO_TABLE": ("NUMBER(38,0)", "NUMBER(38,0)", "VARCHAR"),
        "STRTOK_SPLIT_TO_TABLE": ("NUMBER(38,0)", "NUMBER(38,0)", "VARCHAR"),
    },
    "tsql": {"STRING_SPLIT": (SELF,), "OPENJSON": ("NVARCHAR(4000)", "NVARCHAR(MAX)", "INT")},
    "clickhouse": dict.fromkeys(("NUMBERS", "NUMBERS_MT"), ("UINT64",)),
    "duckdb": {"GENERATESERIES": (ELEMENT,), "RANGE": (ELEMENT,)},
}
"""By family, what is known."""

COUNTING: dict[str, frozenset[str]] = dict.fromkeys(("spark", "hive"), frozenset({"RANGE"}))
"""By family, the functions whose one column counts and is never null."""
