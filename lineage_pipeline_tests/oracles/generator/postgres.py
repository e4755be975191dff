"""What PostgreSQL has: its types, operators, functions and clauses, as rows."""

from lineage_pipeline_tests.oracles.generator.grammar import Grammar, Join, Kind, Operator
from lineage_pipeline_tests.oracles.generator.postgres_functions import AGGREGATES, FUNCTIONS, WINDOWS

WHOLE = ("whole", "number", "exact", "basic", "plain", "lasting")
PLAIN = ("basic", "plain", "lasting")
MOMENT = ("moment", *PLAIN)
KINDS = (
    Kind("smallint", ("smallint", "int2"), ("1::smallint",), ("little", *WHOLE)),
    Kind("int", ("integer", "int"), ("1", "40000", "(-7)"), ("little", *WHOLE)),
    Kind("bigint", ("bigint", "int8"), ("9000000000", "1::bigint"), WHOLE),
    Kind(
        "decimal",
        ("numeric(10,2)", "numeric", "decimal(20,10)", "numeric(5)", "numeric(38,18)"),
        ("1.5", "0.001", "(-2.50)", "1e3", "12.345::numeric(8,3)"),
        ("number", "exact", *PLAIN),
    ),
    Kind("float", ("real", "float4"), ("1.5::real",), ("number", "floating", *PLAIN)),
    Kind("double", ("double precision", "float8"), ("1.5::float8",), ("number", "floating", *PLAIN)),
    Kind("money", ("money",), ("1::money",), ("basic", "lasting")),
    Kind("string", ("text", "varchar(10)", "varchar"), ("'a'::text", "'b'::varchar(3)"), ("texts", *PLAIN)),
    Kind("char", ("char(3)", "character(5)"), ("'a'::char(2)",), ("texts", *PLAIN)),
    Kind("boolean", ("boolean", "bool"), ("true", "false"), ("plain", "lasting")),
    Kind("bytea", ("bytea",), ("'\\xaa'::bytea",), ("lasting",)),
    Kind("date", ("date",), ("'2024-01-31'::date", "current_date"), MOMENT),
    Kind("time", ("time", "time(3)"), ("'10:00'::time",), PLAIN),
    Kind("timetz", ("timetz",), ("'10:00+00'::timetz",), PLAIN),
    Kind("timestamp", ("timestamp", "timestamp(3)"), ("'2024-01-31'::timestamp", "localtimestamp"), MOMENT),
    Kind("timestamptz", ("timestamptz", "timestamptz(0)"), ("'2024-01-31'::timestamptz", "now()"), MOMENT),
    Kind("interval", ("interval",), ("interval '1 day'", "'2 months'::interval"), PLAIN),
    Kind("uuid", ("uuid",), ("gen_random_uuid()",), ("plain", "lasting")),
    Kind("json", ("json",), ("'{}'::json",), ("document",)),
    Kind("jsonb", ("jsonb",), ("'{}'::jsonb",), ("document", "lasting")),
    Kind("ints", ("integer[]", "int4[]"), ("(array[1, 2])",), ("array", "lasting")),
    Kind("strings", ("text[]",), ("(array['a', 'b'])",), ("array", "lasting")),
    Kind("range", ("int4range",), ("int4range(1, 2)",), ("lasting",)),
)

COMPARED = (
    "number number; texts texts; boolean boolean; bytea bytea; moment moment; time time|timetz; timetz timetz; "
    "interval interval; uuid uuid; jsonb jsonb; ints ints; strings strings; range range; money money"
)
"""The pairs that can be compared, and have a common type."""

ALIKE = f"{COMPARED}; json json"
"""The pairs that have a common type."""

ADDED = (
    "number number; date little|interval|time|timetz; little date; timestamp|timestamptz|time|timetz interval; "
    "interval moment|time|timetz|interval; money money; range range"
)
TAKEN = (
    "number number; date little|interval|moment; timestamp|timestamptz moment|interval; time time|interval; "
    "timetz interval; interval interval; money money"
)
CASH = "smallint|int|bigint|float|double"
CONVERTED = (
    "number number|texts; texts plain; boolean texts|boolean; bytea texts|bytea; date texts|moment; int boolean; "
    "timestamp texts|moment|time; timestamptz texts|moment|time|timetz; time texts|time|interval|timetz; "
    "timetz texts|time|timetz; interval texts|interval|time; uuid texts|uuid; document texts|document; "
    "ints ints|strings|texts; strings strings|texts; range texts|range; money texts|money|decimal; "
    "int|bigint|decimal money; boolean int"
)

OPERATORS = (
    Operator("+", "{0} + {1}", ADDED),
    Operator("-", "{0} - {1}", TAKEN),
    Operator("*", "{0} * {1}", f"number number; interval number; number interval; money {CASH}; {CASH} money"),
    Operator("/", "{0} / {1}", f"number number; interval number; money money|{CASH}"),
    Operator("%", "{0} % {1}", "exact exact"),
    Operator("^", "{0} ^ {1}", "number number"),
    *(Operator(op, f"{{0}} {op} {{1}}", COMPARED) for op in ("=", "<>", "<", ">=", "is distinct from")),
    Operator("in", "{0} in ({1}, {0})", COMPARED),
    Operator("between", "{0} between {1} and {0}", COMPARED),
    *(Operator(op, f"{{0}} {op} {{1}}", "whole whole") for op in ("&", "|", "#")),
    *(Operator(op, f"{{0}} {op} {{1}}", "whole little") for op in ("<<", ">>")),
    *(Operator(op, f"{{0}} {op} {{1}}", "boolean boolean") for op in ("and", "or")),
    Operator("||", "{0} || {1}", "texts plain; plain texts; ints ints|int; strings strings; jsonb jsonb; bytea bytea"),
    Operator("like", "{0} like {1}", "texts texts"),
    Operator("coalesce", "coalesce({0}, {1})", ALIKE),
    Operator("case", "case when {boolean} then {0} else {1} end", ALIKE),
    Operator("case without else", "case when {boolean} then {0} when {boolean} then {1} end", ALIKE),
    Operator("nullif", "nullif({0}, {1})", COMPARED),
    Operator("greatest", "greatest({0}, {1})", COMPARED),
    Operator("array", "array[{0}, {1}]", ALIKE.replace("ints ints; strings strings; ", "")),
    Operator("contains", "{0} @> {1}", "ints ints; strings strings; jsonb jsonb; range range|int"),
    Operator("overlaps", "{0} && {1}", "ints ints; strings strings; range range"),
    Operator("cast", "cast({0} as {type})", CONVERTED),
    Operator("::", "({0})::{type}", CONVERTED),
)

SETS = (
    Operator("union all", "{0} union all {1}", ALIKE),
    *(Operator(name, f"{{0}} {name} {{1}}", COMPARED) for name in ("union", "intersect", "except")),
)

JOINS = (
    *(
        Join(name, f"{{left}} {name} {{right}} on {{condition}}")
        for name in ("join", "inner join", "left join", "right join", "full join")
    ),
    Join("cross join", "{left} cross join {right}"),
    Join("comma", "{left}, {right}"),
    *(Join(f"{side} using", f"{{left}} {side} {{right}} using (id)") for side in ("join", "left join", "full join")),
    Join("lateral", "{left}, lateral (select * from {right} where {condition}) as b"),
)

GROUPINGS = (
    "group by {0}, {1}",
    "group by 1, 2",
    "group by {0}, {1} having count(*) > 1",
    "group by rollup({0}, {1})",
    "group by cube({0}, {1})",
    "group by grouping sets (({0}), ({1}), ())",
)

FILTERS = (
    "{any} is not null",
    "{number} > 1",
    "{string} = 'a' and {date} is not null",
    "not ({int} is null)",
    "{string} in ('a', 'b')",
    "{date} between date '2024-01-01' and current_date",
    "{int} in (select q.int_n from t2 as q)",
    "exists (select 1 from t2 as q where q.int_n = {int})",
)

SOURCES = (
    "{name} as {alias}",
    "(select * from {name}) as {alias}",
    "(table {name}) as {alias}",
    "(select s.* from {name} as s{filter}) as {alias}",
    "(with w as (select * from {name}) select * from w) as {alias}",
    "(select * from {name} union all select * from {name}) as {alias}",
    "(select s.* from {name} as s left join t2 on s.id = t2.id) as {alias}",
    "(select s.*, 1 as one from {name} as s where s.id > 0) as {alias}",
)

POSTGRES = Grammar(
    "postgres", KINDS, OPERATORS, FUNCTIONS, AGGREGATES, WINDOWS, JOINS, SETS, GROUPINGS, FILTERS, SOURCES, unnamed=6
)
