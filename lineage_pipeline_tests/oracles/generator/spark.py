"""What Spark has (ANSI mode): its types, operators, functions and clauses, as rows."""

from lineage_pipeline_tests.oracles.generator.grammar import Grammar, Join, Kind, Operator
from lineage_pipeline_tests.oracles.generator.spark_functions import AGGREGATES, FUNCTIONS, WINDOWS

KINDS = (
    Kind("tinyint", ("tinyint",), ("1Y",), ("whole", "number", "exact", "basic")),
    Kind("smallint", ("smallint",), ("200S",), ("whole", "number", "exact", "basic")),
    Kind("int", ("int",), ("1", "40000", "-7"), ("whole", "number", "exact", "basic")),
    Kind("bigint", ("bigint",), ("1L", "9000000000"), ("whole", "number", "exact", "basic")),
    Kind(
        "decimal",
        ("decimal(10,2)", "decimal(5,0)", "decimal(38,18)", "decimal(20,10)", "decimal(38,0)", "decimal(7,7)"),
        ("1.5", "0.001", "123.45BD", "-2.50"),
        ("number", "exact", "basic"),
    ),
    Kind("float", ("float",), ("float(1.5)",), ("number", "floating", "basic")),
    Kind("double", ("double",), ("1.5D", "1e3"), ("number", "floating", "basic")),
    Kind("string", ("string",), ("'a'", "'12'", "''"), ("basic", "bytes")),
    Kind("boolean", ("boolean",), ("true", "false"), ("basic",)),
    Kind("binary", ("binary",), ("X'1F'",), ("basic", "bytes")),
    Kind("date", ("date",), ("date '2024-01-31'", "current_date()"), ("basic", "moment")),
    Kind("timestamp", ("timestamp",), ("timestamp '2024-01-31 10:00:00'", "current_timestamp()"), ("basic", "moment")),
    Kind("timestamp_ntz", ("timestamp_ntz",), ("timestamp_ntz '2024-01-31 10:00:00'",), ("basic", "moment")),
    Kind("days", ("interval day to second",), ("interval '1 02:03:04' day to second",), ("span",)),
    Kind("months", ("interval year to month",), ("interval '1-2' year to month",), ("span",)),
    Kind("array", ("array<int>",), ("array(1, 2)",), ("nested",)),
    Kind("map", ("map<string,int>",), ("map('a', 1)",), ("nested",)),
    Kind("struct", ("struct<a:int,b:string>",), ("named_struct('a', 1, 'b', 'x')",), ("nested",)),
)

COMPARED = (
    "number number|string; string number|string|boolean|binary|moment; boolean string|boolean; binary string|binary; "
    "moment string|moment; days days; months months; array array; struct struct"
)
"""The pairs that have a common type and can be compared."""

ALIKE = f"{COMPARED}; map map"
"""The pairs that have a common type."""

ORDERED = (
    "number number; string string; boolean boolean; binary binary; moment moment; days days; months months; "
    "array array; struct struct"
)
PLAIN = "basic|span basic|span"
LITTLE = "tinyint|smallint|int"
ADDED = (
    f"{LITTLE} date; number number|string; string number|days; date {LITTLE}|span; timestamp|timestamp_ntz span; "
    "days string|moment|days; months moment|months"
)
TAKEN = (
    f"number number|string; string number|moment|days; date {LITTLE}|string|moment|span; "
    "timestamp|timestamp_ntz string|moment|span; days days; months months"
)
TIMES = "number number|string|span; string number|span; span number|string"
PARTED = "number|span number|string; string number"
LEFT_OVER = "number number|string; string number"
CONVERTED = (
    "whole|decimal number|string|boolean|timestamp|span; floating number|string|boolean|timestamp; string basic|span; "
    "boolean number|string|boolean; binary bytes; date|timestamp_ntz string|moment; timestamp number|string|moment; "
    "days exact|string|days; months exact|string|months; array string|array; map string|map; struct string|struct"
)

OPERATORS = (
    Operator("+", "{0} + {1}", ADDED),
    Operator("-", "{0} - {1}", TAKEN),
    Operator("*", "{0} * {1}", TIMES),
    Operator("/", "{0} / {1}", PARTED),
    Operator("%", "{0} % {1}", LEFT_OVER),
    Operator("div", "{0} div {1}", "whole exact|string; decimal exact; string whole; days days; months months"),
    Operator("pmod", "pmod({0}, {1})", LEFT_OVER),
    Operator("try_add", "try_add({0}, {1})", ADDED),
    Operator("try_subtract", "try_subtract({0}, {1})", TAKEN),
    Operator("try_multiply", "try_multiply({0}, {1})", TIMES),
    Operator("try_divide", "try_divide({0}, {1})", PARTED),
    *(Operator(op, f"{{0}} {op} {{1}}", COMPARED) for op in ("=", "<>", "<", ">=", "<=>", "is distinct from")),
    Operator("in", "{0} in ({1}, {0})", COMPARED),
    Operator("between", "{0} between {1} and {0}", COMPARED),
    *(Operator(op, f"{{0}} {op} {{1}}", "whole whole|string; string whole") for op in ("&", "|", "^")),
    *(Operator(op, f"{{0}} {op} {{1}}", "boolean boolean|string; string boolean") for op in ("and", "or")),
    Operator("||", "{0} || {1}", f"{PLAIN}; array array"),
    Operator("like", "{0} like {1}", PLAIN),
    Operator("coalesce", "coalesce({0}, {1})", ALIKE),
    Operator("case", "case when {boolean} then {0} else {1} end", ALIKE),
    Operator("case without else", "case when {boolean} then {0} when {boolean} then {1} end", ALIKE),
    Operator("if", "if({boolean}, {0}, {1})", ALIKE),
    Operator("nullif", "nullif({0}, {1})", COMPARED),
    Operator("greatest", "greatest({0}, {1})", ORDERED),
    Operator("array", "array({0}, {1})", ALIKE),
    Operator("cast", "cast({0} as {type})", CONVERTED),
    Operator("try_cast", "try_cast({0} as {type})", CONVERTED),
)

SETS = (
    Operator("union all", "{0} union all {1}", ALIKE),
    Operator("union", "{0} union {1}", COMPARED),
    Operator("intersect", "{0} intersect {1}", COMPARED),
    Operator("except", "{0} except {1}", COMPARED),
)

INNER_AND_OUTER = ("join", "inner join", "left join", "left outer join", "right join", "full join", "full outer join")
TESTS = ("left semi join", "left anti join", "semi join", "anti join")

JOINS = (
    *(Join(name, f"{{left}} {name} {{right}} on {{condition}}") for name in INNER_AND_OUTER),
    *(Join(name, f"{{left}} {name} {{right}} on {{condition}}", True) for name in TESTS),
    *(Join(f"{name} using", f"{{left}} {name} {{right}} using (id)") for name in ("join", "left join", "right join")),
    Join("full join using", "{left} full join {right} using (id)"),
    Join("cross join", "{left} cross join {right}"),
    Join("comma", "{left}, {right}"),
    Join("lateral", "{left}, lateral (select * from {right} where {condition}) as b"),
)

GROUPINGS = (
    "group by {0}, {1}",
    "group by 1, 2",
    "group by all",
    "group by {0}, {1} having count(*) > 1",
    "group by rollup({0}, {1})",
    "group by cube({0}, {1})",
    "group by grouping sets (({0}), ({1}), ())",
    "group by {0}, grouping sets (({1}), ())",
)

FILTERS = (
    "{any} is not null",
    "{any} is null",
    "{number} > 1",
    "{string} = 'a' and {date} is not null",
    "not ({int} is null)",
    "{int} is not null or {string} is not null",
    "{string} in ('a', 'b')",
    "{date} between date '2024-01-01' and current_date()",
    "{int} in (select q.int_n from t2 as q)",
    "exists (select 1 from t2 as q where q.int_n = {int})",
    "coalesce({int}, 0) > 0",
)

SOURCES = (
    "{name} as {alias}",
    "(select * from {name}) as {alias}",
    "(select s.* from {name} as s{filter}) as {alias}",
    "(with w as (select * from {name}) select * from w) as {alias}",
    "(select * from {name} union all select * from {name}) as {alias}",
    "(select s.* from {name} as s left join t2 on s.id = t2.id) as {alias}",
    "(select s.* from t2 left join {name} as s on s.id = t2.id) as {alias}",
    "(select s.* from t2 full join {name} as s on s.id = t2.id) as {alias}",
    "(select s.*, 1 as one from {name} as s where s.id > 0) as {alias}",
)

SPARK = Grammar(
    "spark", KINDS, OPERATORS, FUNCTIONS, AGGREGATES, WINDOWS, JOINS, SETS, GROUPINGS, FILTERS, SOURCES, unnamed=6
)
