"""What DuckDB has: its types, operators, functions and clauses, as rows."""

from lineage_pipeline_tests.oracles.generator.duckdb_functions import AGGREGATES, FUNCTIONS, WINDOWS
from lineage_pipeline_tests.oracles.generator.grammar import Grammar, Join, Kind, Operator

WHOLE = ("whole", "number", "exact", "basic", "plain")
MOMENT = ("moment", "basic", "plain")
KINDS = (
    Kind("tinyint", ("tinyint",), ("1::tinyint",), ("signed", *WHOLE)),
    Kind("smallint", ("smallint",), ("200::smallint",), ("signed", *WHOLE)),
    Kind("int", ("integer", "int4"), ("1", "40000", "(-7)"), ("signed", *WHOLE)),
    Kind("bigint", ("bigint",), ("9000000000",), ("signed", *WHOLE)),
    Kind("hugeint", ("hugeint",), ("1::hugeint",), WHOLE),
    Kind("utinyint", ("utinyint",), ("1::utinyint",), ("unsigned", *WHOLE)),
    Kind("usmallint", ("usmallint",), ("1::usmallint",), ("unsigned", *WHOLE)),
    Kind("uint", ("uinteger",), ("1::uinteger",), ("unsigned", *WHOLE)),
    Kind("ubigint", ("ubigint",), ("1::ubigint",), ("unsigned", *WHOLE)),
    Kind(
        "decimal",
        ("decimal(10,2)", "decimal(5,0)", "decimal(20,10)", "decimal(9,9)", "decimal(18,4)", "decimal(30,0)"),
        ("1.5", "0.001", "(-2.50)", "12.345::decimal(8,3)"),
        ("number", "exact", "basic", "plain"),
    ),
    Kind("float", ("float", "real"), ("1.5::float",), ("number", "floating", "basic", "plain")),
    Kind("double", ("double", "float8"), ("1e3", "1.5::double"), ("number", "floating", "basic", "plain")),
    Kind("string", ("varchar", "text", "varchar(10)"), ("'a'", "''"), ("basic", "plain")),
    Kind("boolean", ("boolean",), ("true", "false"), ("basic", "plain")),
    Kind("blob", ("blob",), ("'\\xAA'::blob",), ("basic",)),
    Kind("date", ("date",), ("(date '2024-01-31')", "current_date"), MOMENT),
    Kind("time", ("time",), ("(time '10:00:00')",), ("basic", "plain")),
    Kind("timestamp", ("timestamp",), ("(timestamp '2024-01-31 10:00:00')",), MOMENT),
    Kind("timestamptz", ("timestamptz",), ("(timestamptz '2024-01-31 10:00:00+00')", "now()"), MOMENT),
    Kind("interval", ("interval",), ("interval '1 day'", "interval 2 months"), ("basic", "plain")),
    Kind("uuid", ("uuid",), ("gen_random_uuid()",), ("basic", "plain")),
    Kind("json", ("json",), ("'{}'::json",), ()),
    Kind("list", ("integer[]",), ("[1, 2]",), ("nested",)),
    Kind("strings", ("varchar[]",), ("['a', 'b']",), ("nested",)),
    Kind("map", ("map(varchar, integer)",), ("map {'a': 1}",), ("nested",)),
    Kind("struct", ("struct(a integer, b varchar)",), ("{'a': 1, 'b': 'x'}",), ("nested",)),
)

COMPARED = (
    "number number; string string; boolean boolean; blob blob; moment moment; time time; interval interval; uuid uuid; "
    "list list; strings strings; struct struct; map map"
)
"""The pairs that have a common type."""

ADDED = (
    "number number; date signed_date; signed_date date; moment interval; interval moment|interval; time interval; "
    "interval time; date time; time date; list list; strings strings"
)
TAKEN = "number number; date int|interval|date; timestamp interval|timestamp|date; timestamptz interval|timestamptz; "
CONVERTED = (
    "number number|string|boolean; string plain; boolean number|string|boolean; blob string|blob; date string|moment; "
    "timestamp string|moment|time; timestamptz string|moment|time; time string|time; interval string|interval; "
    "uuid string|uuid; json string|json; list list|strings|string; strings strings|string; map map|string; "
    "struct struct|string"
)

OPERATORS = (
    Operator("+", "{0} + {1}", ADDED.replace("signed_date", "int")),
    Operator("-", "{0} - {1}", TAKEN + "interval interval; time interval"),
    Operator("*", "{0} * {1}", "number number; interval int|bigint|double; int|bigint|double interval"),
    Operator("/", "{0} / {1}", "number number; interval int|double"),
    Operator("//", "{0} // {1}", "number number"),
    Operator("%", "{0} % {1}", "number number"),
    Operator("**", "{0} ** {1}", "number number"),
    *(Operator(op, f"{{0}} {op} {{1}}", COMPARED) for op in ("=", "<>", "<", ">=", "is distinct from")),
    Operator("in", "{0} in ({1}, {0})", COMPARED),
    Operator("between", "{0} between {1} and {0}", COMPARED),
    *(Operator(op, f"{{0}} {op} {{1}}", "whole whole") for op in ("&", "|", "<<", ">>")),
    *(Operator(op, f"{{0}} {op} {{1}}", "boolean boolean") for op in ("and", "or")),
    Operator("||", "{0} || {1}", "string plain; plain string; list list; strings strings; blob blob"),
    Operator("like", "{0} like {1}", "string string"),
    Operator("coalesce", "coalesce({0}, {1})", COMPARED),
    Operator("case", "case when {boolean} then {0} else {1} end", COMPARED),
    Operator("case without else", "case when {boolean} then {0} when {boolean} then {1} end", COMPARED),
    Operator("if", "if({boolean}, {0}, {1})", COMPARED),
    Operator("nullif", "nullif({0}, {1})", COMPARED),
    Operator("greatest", "greatest({0}, {1})", COMPARED),
    Operator("list", "[{0}, {1}]", COMPARED),
    Operator("struct", "{'x': {0}, 'y': {1}}", "plain int|string; int|string plain"),
    Operator("cast", "cast({0} as {type})", CONVERTED),
    Operator("::", "{0}::{type}", CONVERTED),
    Operator("try_cast", "try_cast({0} as {type})", CONVERTED),
)

SETS = tuple(
    Operator(name, f"{{0}} {name} {{1}}", f"{COMPARED}; string plain; plain string")
    for name in ("union all", "union", "intersect", "except")
)

JOINS = (
    *(
        Join(name, f"{{left}} {name} {{right}} on {{condition}}")
        for name in ("join", "inner join", "left join", "right join", "full join")
    ),
    Join("cross join", "{left} cross join {right}"),
    Join("comma", "{left}, {right}"),
    Join("positional join", "{left} positional join {right}"),
    *(Join(name, f"{{left}} {name} {{right}} on {{condition}}", True) for name in ("semi join", "anti join")),
    *(Join(f"{side} using", f"{{left}} {side} {{right}} using (id)") for side in ("join", "left join", "full join")),
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
    "(from {name}) as {alias}",
    "(select s.* from {name} as s{filter}) as {alias}",
    "(with w as (select * from {name}) select * from w) as {alias}",
    "(select * from {name} union all select * from {name}) as {alias}",
    "(select * exclude (key) from {name}) as {alias}",
    "(select * replace (id + 1 as id) from {name}) as {alias}",
    "(select s.* from {name} as s left join t2 on s.id = t2.id) as {alias}",
    "(select s.*, 1 as one from {name} as s where s.id > 0) as {alias}",
)

DUCKDB = Grammar(
    "duckdb", KINDS, OPERATORS, FUNCTIONS, AGGREGATES, WINDOWS, JOINS, SETS, GROUPINGS, FILTERS, SOURCES, unnamed=6
)
