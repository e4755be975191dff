"""What each engine understands, as rows: constructs, and forms of expressions by the kind that they give."""

from collections.abc import Iterable, Mapping

import msgspec

from benchmarks.witness.rows import DATE, DECIMAL, INT, TEXT


class Form(msgspec.Struct, frozen=True):
    """The text of an expression; `{int}` is a value of a kind, `{column list}` a column, `{condition}` a condition."""

    construct: str
    text: str
    filters: bool = True


class Syntax(msgspec.Struct, frozen=True):
    """What an engine understands.

    Where `aliases_in_windows`, a bare name in OVER is an alias of the select list before it is a column (MariaDB does
    so, MySQL does not): programs qualify it.
    """

    dialect: str
    types: Mapping[str, str]
    constructs: frozenset[str]
    forms: Mapping[str, tuple[Form, ...]]
    aggregates: Mapping[str, tuple[Form, ...]]
    date: str = "date '{}'"
    made: tuple[str, ...] = ("temp table", "table", "view")
    nested: bool = False
    aliases_in_windows: bool = False
    recursive_word: bool = True


def list_forms(construct: str, texts: Iterable[str], *, filters: bool = True) -> tuple[Form, ...]:
    """Forms that belong to one construct."""
    return tuple(Form(construct, text, filters) for text in texts)


COMMON_FORMS: Mapping[str, tuple[Form, ...]] = {
    INT: (
        *list_forms("arithmetic", ("{int} + {int}", "{int} - {int}", "({int} * 2)", "abs({int})", "-{int}")),
        *list_forms("coalesce", ("coalesce({int}, {int})", "coalesce({int}, 0)", "nullif({int}, 2)")),
        *list_forms(
            "case",
            (
                "case when {condition} then {int} else {int} end",
                "case when {condition} then {int} end",
                "case {int} when 1 then {int} else 0 end",
                "case when {condition} then 1 else 0 end",
            ),
        ),
        *list_forms("text functions", ("length({text})",)),
        *list_forms("cast", ("cast({int} as {type})",)),
    ),
    TEXT: (
        *list_forms(
            "text functions",
            (
                "upper({text})",
                "lower({text})",
                "trim({text})",
                "replace({text}, 'a', 'b')",
                "substr({text}, 1, 1)",
            ),
        ),
        *list_forms("coalesce", ("coalesce({text}, {text})", "nullif({text}, 'a')")),
        *list_forms(
            "case",
            (
                "case when {condition} then {text} else {text} end",
                "case when {condition} then 'x' end",
                "case {text} when 'a' then {text} else 'z' end",
            ),
        ),
    ),
    DATE: (
        *list_forms("coalesce", ("coalesce({date}, {date})",)),
        *list_forms("case", ("case when {condition} then {date} end",)),
    ),
    DECIMAL: (
        *list_forms("arithmetic", ("({decimal} * {int})", "{decimal} + {decimal}")),
        *list_forms("coalesce", ("coalesce({decimal}, 0)",)),
        *list_forms("case", ("case when {condition} then {decimal} else 0.5 end",)),
    ),
}

CONCATENATION = list_forms("text functions", ("{text} || {text}", "{text} || '-' || {text}"))

COMMON_AGGREGATES: Mapping[str, tuple[Form, ...]] = {
    INT: list_forms(
        "aggregates",
        (
            "sum({int})",
            "min({int})",
            "max({int})",
            "count({int})",
            "count(*)",
            "count(distinct {text})",
            "count({date})",
            "sum(case when {condition} then 1 else 0 end)",
            "max(length({text}))",
        ),
    ),
    TEXT: list_forms("aggregates", ("min({text})", "max({text})", "max(case when {condition} then {text} end)")),
    DATE: list_forms("aggregates", ("min({date})", "max({date})")),
    DECIMAL: list_forms("aggregates", ("sum({decimal})", "max({decimal})", "sum({decimal} * {int})")),
}

COMMON_CONSTRUCTS = frozenset({
    "union all", "union", "except", "intersect", "join", "inner join", "left join", "cross join", "comma", "using",
    "recursive cte", "ctas", "insert", "insert with columns", "update", "delete",
})  # fmt: skip


def extend(forms: Mapping[str, tuple[Form, ...]], more: Mapping[str, tuple[Form, ...]]) -> dict[str, tuple[Form, ...]]:
    """The forms with more of them."""
    return {kind: (*own, *more.get(kind, ())) for kind, own in forms.items()}


def with_type(forms: Mapping[str, tuple[Form, ...]], integer: str) -> dict[str, tuple[Form, ...]]:
    """The forms with the engine's name of its integers."""
    return {
        kind: tuple(msgspec.structs.replace(form, text=form.text.replace("{type}", integer)) for form in own)
        for kind, own in forms.items()
    }


DUCKDB = Syntax(
    "duckdb",
    {
        "int": "bigint",
        "text": "varchar",
        "date": "date",
        "decimal": "decimal(18,2)",
        "list": "varchar[]",
        "struct": "struct(a bigint, b varchar)",
    },
    COMMON_CONSTRUCTS
    | {
        "right join",
        "full join",
        "semi join",
        "anti join",
        "qualify",
        "star exclude",
        "star replace",
        "lateral",
        "unnest",
        "values",
        "rollup",
        "grouping sets",
        "group by position",
        "filter",
        "any",
        "pivot",
        "unpivot",
        "update from",
        "delete using",
        "merge",
        "upsert",
    },
    with_type(
        extend(
            COMMON_FORMS,
            {
                INT: (
                    *list_forms(
                        "dates", ("year({date})", "date_diff('day', {date}, {date})", "extract(month from {date})")
                    ),
                    *list_forms(
                        "nested values",
                        ("{column struct}.a", "len({column list})", "list_position({column list}, 'a')"),
                    ),
                    *list_forms("greatest", ("greatest({int}, {int})", "least({int}, 3)")),
                    *list_forms("if", ("if({condition}, {int}, {int})",)),
                ),
                TEXT: (
                    *CONCATENATION,
                    *list_forms(
                        "text functions",
                        (
                            "concat({text}, {int})",
                            "concat_ws('-', {text}, {text})",
                            "left({text}, 2)",
                            "cast({int} as varchar)",
                            "strftime({date}, '%Y-%m')",
                        ),
                    ),
                    *list_forms(
                        "nested values",
                        (
                            "{column struct}.b",
                            "{column list}[1]",
                            "array_to_string({column list}, ',')",
                            "struct_pack(p := {text}, q := {int}).p",
                        ),
                    ),
                    *list_forms("greatest", ("greatest({text}, {text})",)),
                ),
                DATE: (
                    *list_forms(
                        "dates",
                        (
                            "cast({date} + interval 1 day as date)",
                            "last_day({date})",
                            "cast(date_trunc('month', {date}) as date)",
                        ),
                    ),
                ),
                DECIMAL: list_forms("arithmetic", ("round({decimal}, 1)",)),
            },
        ),
        "bigint",
    ),
    extend(
        COMMON_AGGREGATES,
        {
            TEXT: list_forms(
                "ordered aggregates",
                ("string_agg({column text}, ',' order by {column text})", "any_value(1)::varchar"),
                filters=False,
            ),
            INT: list_forms("aggregates", ("bit_or({int})", "count_if({condition})"), filters=False),
        },
    ),
    nested=True,
)

SQLITE = Syntax(
    "sqlite",
    {"int": "integer", "text": "text", "date": "text", "decimal": "numeric"},
    COMMON_CONSTRUCTS | {"right join", "full join", "filter", "group by position", "update from", "upsert"},
    with_type(
        extend(
            COMMON_FORMS,
            {
                INT: (
                    *list_forms("dates", ("cast(strftime('%Y', {date}) as integer)",)),
                    *list_forms("if", ("iif({condition}, {int}, {int})",)),
                    *list_forms("greatest", ("max({int}, {int})",)),
                    *list_forms("text functions", ("instr({text}, 'a')",)),
                ),
                TEXT: (
                    *CONCATENATION,
                    *list_forms("text functions", ("printf('%s-%d', {text}, {int})", "ifnull({text}, 'q')")),
                ),
                DATE: list_forms("dates", ("date({date}, '+1 day')",)),
            },
        ),
        "integer",
    ),
    COMMON_AGGREGATES,
    date="'{}'",
)

POSTGRES = Syntax(
    "postgres",
    {"int": "bigint", "text": "text", "date": "date", "decimal": "numeric(18,2)"},
    COMMON_CONSTRUCTS
    | {
        "right join",
        "full join",
        "lateral",
        "values",
        "rollup",
        "grouping sets",
        "group by position",
        "filter",
        "any",
        "update from",
        "delete using",
        "merge",
        "upsert",
    },
    with_type(
        extend(
            COMMON_FORMS,
            {
                INT: (
                    *list_forms("dates", ("cast(extract(year from {date}) as bigint)", "({date} - {date})")),
                    *list_forms("greatest", ("greatest({int}, {int})",)),
                ),
                TEXT: (
                    *CONCATENATION,
                    *list_forms(
                        "text functions",
                        (
                            "concat({text}, {int})",
                            "left({text}, 2)",
                            "cast({int} as text)",
                            "to_char({date}, 'YYYY-MM')",
                            "split_part({text}, 'b', 1)",
                        ),
                    ),
                ),
                DATE: list_forms("dates", ("({date} + 1)", "cast(date_trunc('month', {date}) as date)")),
            },
        ),
        "bigint",
    ),
    extend(
        COMMON_AGGREGATES,
        {
            TEXT: list_forms(
                "ordered aggregates", ("string_agg({column text}, ',' order by {column text})",), filters=False
            ),
        },
    ),
)

MARIADB = Syntax(
    "mysql",
    {"int": "bigint", "text": "varchar(200)", "date": "date", "decimal": "decimal(18,2)"},
    COMMON_CONSTRUCTS | {"right join", "group by position", "update join", "on duplicate key"},
    with_type(
        extend(
            COMMON_FORMS,
            {
                INT: (
                    *list_forms("dates", ("year({date})", "datediff({date}, {date})")),
                    *list_forms("if", ("if({condition}, {int}, {int})", "ifnull({int}, 3)")),
                    *list_forms("greatest", ("greatest({int}, {int})",)),
                ),
                TEXT: list_forms(
                    "text functions", ("concat({text}, {text})", "concat_ws('-', {text}, {text})", "left({text}, 2)")
                ),
                DATE: list_forms("dates", ("date_add({date}, interval 1 day)", "last_day({date})")),
            },
        ),
        "signed",
    ),
    extend(
        COMMON_AGGREGATES,
        {
            TEXT: list_forms(
                "ordered aggregates",
                ("group_concat({column text} order by {column text} separator ',')",),
                filters=False,
            ),
        },
    ),
    aliases_in_windows=True,
    made=("temporary table",),  # whatever else is made ends the transaction
)

SPARK = Syntax(
    "spark",
    {
        "int": "bigint",
        "text": "string",
        "date": "date",
        "decimal": "decimal(18,2)",
        "list": "array<string>",
        "struct": "struct<a: bigint, b: string>",
    },
    (COMMON_CONSTRUCTS - {"ctas", "recursive cte"})
    | {
        "right join",
        "full join",
        "semi join",
        "anti join",
        "lateral",
        "values",
        "rollup",
        "grouping sets",
        "group by position",
        "filter",
    },
    with_type(
        extend(
            COMMON_FORMS,
            {
                INT: (
                    *list_forms("dates", ("year({date})", "datediff({date}, {date})")),
                    *list_forms("nested values", ("{column struct}.a", "size({column list})")),
                    *list_forms("if", ("if({condition}, {int}, {int})", "nvl({int}, 3)")),
                    *list_forms("greatest", ("greatest({int}, {int})",)),
                ),
                TEXT: (
                    *CONCATENATION,
                    *list_forms(
                        "text functions",
                        ("concat({text}, {text})", "concat_ws('-', {text}, {text})", "date_format({date}, 'yyyy')"),
                    ),
                    *list_forms("nested values", ("{column struct}.b", "concat_ws(',', {column list})")),
                ),
                DATE: list_forms("dates", ("date_add({date}, 1)", "last_day({date})")),
            },
        ),
        "bigint",
    ),
    extend(COMMON_AGGREGATES, {INT: list_forms("aggregates", ("count_if({condition})",))}),
    nested=True,
)

SYNTAXES: Mapping[str, Syntax] = {
    "duckdb": DUCKDB,
    "sqlite": SQLITE,
    "postgres": POSTGRES,
    "mariadb": MARIADB,
    "spark": SPARK,
}
