"""The functions of PostgreSQL by families, as texts."""

from lineage_pipeline_tests.oracles.generator.grammar import Function, functions

FUNCTIONS: tuple[Function, ...] = (
    *functions(
        "string",
        "string",
        "upper({texts}); lower({texts}); trim({texts}); ltrim({texts}); rtrim({texts}, 'x'); btrim({string}); "
        "trim(leading 'x' from {string}); initcap({texts}); substring({texts}, 2, 3); substring({string} from 2); "
        "substr({texts}, {int}); left({texts}, {int}); right({texts}, 2); lpad({texts}, 10, '*'); rpad({texts}, "
        "{int}); repeat({texts}, {int}); replace({texts}, 'a', 'b'); translate({texts}, 'ab', 'cd'); "
        "reverse({texts}); concat({plain}, {plain}); concat_ws('-', {texts}, {texts}); split_part({texts}, '-', 1); "
        "overlay({string} placing 'x' from 2); regexp_replace({texts}, 'a+', 'b'); md5({texts}); chr({int}); "
        "format('%s', {plain}); to_char({timestamp}, 'YYYY'); to_char({number}, '999'); quote_literal({string}); "
        "quote_ident({string}); encode({bytea}, 'hex'); to_hex({int}); array_to_string({array}, ','); "
        "{document}->>'a'; {jsonb}#>>'{a,b}'; jsonb_typeof({jsonb}); json_typeof({json}); jsonb_pretty({jsonb}); "
        "regexp_substr({string}, 'a'); current_setting({string})",
    ),
    *functions(
        "length",
        "int",
        "length({texts}); length({bytea}); char_length({texts}); octet_length({texts}); bit_length({string}); "
        "ascii({texts}); strpos({texts}, 'a'); position('a' in {texts}); cardinality({array}); array_length({array}, "
        "1); array_upper({array}, 1); json_array_length({json}); jsonb_array_length({jsonb}); regexp_count({string}, "
        "'a'); array_position({ints}, 1); {date} - {date}; lower({range}); scale({decimal}); width_bucket({decimal}, "
        "0, 10, 5)",
    ),
    *functions(
        "test",
        "boolean",
        "{any} is null; {any} is not null; not {boolean}; starts_with({string}, 'a'); {texts} ~ 'a'; {texts} ~* 'a'; "
        "{texts} !~ 'a'; {texts} not like 'a%'; {texts} ilike {texts}; {texts} similar to 'a'; regexp_like({string}, "
        "'a'); {boolean} is true; {boolean} is not false; {int} not in (1, 2); {int} not between 1 and {int}; 1 = "
        "any({ints}); {int} < all({ints}); {jsonb} ? 'a'; {jsonb} @> '{}'; isempty({range}); isfinite({date}); "
        "{range} @> 1",
    ),
    *functions(
        "numbers",
        "double",
        "cbrt({double}); sin({number}); cos({number}); atan2({double}, 1); degrees({double}); radians({number}); "
        "pi(); random(); date_part('year', {moment}); date_part('epoch', {interval}); sqrt({floating}); exp({whole}); "
        "power({whole}, 2); ln({floating}); sqrt({whole}); tan({double})",
    ),
    *functions(
        "numbers",
        "decimal",
        "sqrt({decimal}); exp({decimal}); ln({decimal}); log({decimal}); log(2, {decimal}); power({decimal}, 2); "
        "div({exact}, 2); trunc({decimal}, 1); round({exact}, 1); extract(year from {moment}); extract(epoch from "
        "{interval}); extract(hour from {time}); factorial(5); to_number({string}, '999'); trim_scale({decimal})",
    ),
    *functions(
        "numbers",
        "",
        "abs({number}); -{number}; round({number}); ceil({number}); floor({number}); trunc({number}); mod({exact}, "
        "{exact}); sign({number}); {number} + 1; {number} - 1; {number} * 2; {number} / 2; {exact} % 3; 1 - {number}; "
        "{number} + 1.5; {number} * 0.01; {number} / 3.0; ({number} + {number}) * {number}; {number} * {number} / "
        "{number}; {number} + null; greatest({number}, {number}, 1.5); least({number}, 1); ~{whole}; gcd({whole}, 4); "
        "lcm({bigint}, 2); log10({number}); {whole} + '1'; {money} * 2; hashtext({string}); power({number}, "
        "{number}); {int} / 2.0; {number} ^ 2",
    ),
    *functions(
        "date",
        "timestamp",
        "date_trunc('hour', {timestamp}); {date} + interval '1 day'; {timestamp} - interval '2 days'; {date} + "
        "{time}; make_timestamp(2024, 1, 1, 0, 0, 0); {timestamptz} at time zone 'UTC'; date_bin('1 day', "
        "{timestamp}, {timestamp})",
    ),
    *functions(
        "date",
        "date",
        "{date} + 1; {date} - {little}; make_date(2024, 1, {int}); to_date({string}, 'YYYY'); {timestamp}::date; "
        "current_date",
    ),
    *functions(
        "date",
        "",
        "now(); current_timestamp; current_time; localtime; clock_timestamp(); {timestamp} at time zone 'UTC'; "
        "timezone('UTC', {timestamptz}); to_timestamp({double}); to_timestamp({string}, 'YYYY'); age({timestamp}); "
        "age({timestamp}, {timestamp}); {timestamp} - {timestamp}; {interval} * 2; {interval} / 2; -{interval}; "
        "make_interval(days => {int}); date_trunc('month', {date}); date_trunc('day', {timestamptz}); "
        "date_trunc('day', {interval}); make_time(1, 2, 3); {timestamptz} - {timestamptz}; {time} + interval '1 "
        "hour'; {date} at time zone 'UTC'; justify_days({interval}); generate_series({int}, 3); "
        "generate_series({timestamp}, {timestamp}, {interval}); daterange({date}, {date}); current_timestamp(0); "
        "{timestamp}::time; {timestamp}::timestamp(0); {date}::timestamptz",
    ),
    *functions(
        "arrays",
        "",
        "({ints})[1]; ({strings})[1]; ({ints})[1:2]; array_append({ints}, 1); array_prepend(1, {ints}); "
        "array_cat({ints}, {ints}); array_remove({strings}, 'x'); array_replace({ints}, 1, 2); array[{plain}]; "
        "array[{number}, {number}]; array_positions({ints}, 1); string_to_array({string}, ','); "
        "regexp_split_to_array({string}, ','); regexp_match({string}, 'a'); unnest({array}); "
        "trim_array({ints}, 1); array_dims({ints}); 1 || {ints}; array['a', 'b']; "
        "array[1, 2.5]; array[null, 1]; '{1,2}'::int[]; array_to_json({array})",
    ),
    *functions(
        "ranges", "", "lower({range}); upper({range}); {range} * {range}; int4range({int}, {int}); lower_inc({range})"
    ),
    *functions(
        "documents",
        "",
        "{document}->'a'; {document}->0; {document}#>'{a,b}'; {jsonb} || {jsonb}; {jsonb} - 'a'; to_json({plain}); "
        "to_jsonb({any}); json_build_object('a', {plain}); jsonb_build_object('a', {plain}, 'b', {number}); "
        "jsonb_build_array(1, {plain}); jsonb_set({jsonb}, '{a,b}', '1'); jsonb_strip_nulls({jsonb}); "
        "jsonb_path_query_first({jsonb}, '$.a'); jsonb_array_elements({jsonb}); jsonb_object_keys({jsonb}); "
        "({jsonb}->>'a')::int; {jsonb} #- '{a,b}'; json_build_array({plain})",
    ),
    *functions(
        "conditional",
        "",
        "coalesce({any}, null); coalesce(null, {any}); case when {boolean} then 1 else 0 end; case {int} when 1 then "
        "'a' else 'b' end; case when {boolean} then {any} end; coalesce({number}, 0); coalesce({texts}, 'x'); "
        "coalesce({number}, 1.5); nullif({number}, 0); nullif({texts}, ''); coalesce({date}, '2024-01-01'); case when "
        "{boolean} then {decimal} else 0 end; case when {any} is null then 1 when {any} is not null then 2.5 else "
        "{int} end; case when {boolean} then {texts} else 'x' end; case when {boolean} then 'x' else {texts} end",
    ),
    *functions(
        "casts",
        "",
        "cast({plain} as text); {number}::numeric(10,2); cast({string} as numeric(5,1)); {string}::int; "
        "{int}::varchar(5); {string}::varchar; {int}::char; {number}::float4; {number}::numeric; {string}::json; "
        "{string}::uuid; {number}::float(10); {number}::float(30); cast({number} as double precision); "
        "{string}::timestamp(3); {string}::timestamp with time zone; {string}::bytea; {ints}::text[]; {string}::name; "
        "{number}::dec(7,1); {string}::character varying(7); {string}::bpchar; {string}::time with time zone; "
        "{int}::oid",
    ),
    *functions(
        "subqueries",
        "",
        "(select max({q.number}) from {table} as q); (select count(*) from {table} as q); (select {q.any} from "
        "{table} as q limit 1); exists (select 1 from {table} as q); {int} in (select {q.int} from {table} as q); "
        "{string} not in (select {q.string} from {table} as q); (select sum({q.decimal}) from {table} as q where q.id "
        "= {int}); array(select {q.plain} from {table} as q); coalesce((select min({q.date}) from {table} as q), "
        "{date}); {int} + (select avg({q.int}) from {table} as q)",
    ),
)

AGGREGATES: tuple[Function, ...] = functions(
    "aggregates",
    "",
    "count(*); count({any}); count(distinct {lasting}); sum({number}); sum({interval}); sum({money}); sum({time}); "
    "avg({number}); avg({interval}); min({basic}); max({basic}); sum(distinct {number}); stddev({number}); "
    "stddev_pop({number}); var_samp({number}); variance({number}); var_pop({number}); corr({double}, {number}); "
    "covar_pop({double}, {double}); array_agg({any}); array_agg({plain} order by {int} desc); string_agg({texts}, "
    "','); string_agg({string}, ',' order by {int}); string_agg({bytea}, {bytea}); bool_and({boolean}); "
    "bool_or({boolean}); every({boolean}); bit_and({whole}); bit_or({whole}); bit_xor({whole}); json_agg({any}); "
    "jsonb_agg({any}); json_object_agg({string}, {plain}); jsonb_object_agg({string}, {number}); mode() within group "
    "(order by {basic}); percentile_cont(0.5) within group (order by {number}); percentile_disc(0.5) within group "
    "(order by {basic}); percentile_cont(array[0.1, 0.9]) within group (order by {double}); regr_slope({double}, "
    "{number}); percentile_disc(array[0.5]) within group (order by {plain}); regr_count({double}, {double}); "
    "sum({number}) filter (where {boolean}); count(*) filter (where {boolean}); sum({number}) + 1; "
    "coalesce(sum({number}), 0); sum({number}) / count(*); max({number}) - min({number}); avg({number}) * 100; "
    "sum({number} * {number}); sum(case when {boolean} then {number} else 0 end); nullif(count({any}), 0); "
    "round(avg({exact}), 2); max({texts}) || 'x'; array_agg(distinct {lasting}); count(*) * 1.0 / nullif(count(*), "
    "0); (array_agg({plain}))[1]; sum({number})::numeric(12,2); max({timestamp})::date",
)

WINDOWS: tuple[Function, ...] = functions(
    "windows",
    "",
    "row_number() over ({window}); rank() over ({window}); dense_rank() over ({window}); percent_rank() over "
    "({window}); cume_dist() over ({window}); ntile(4) over ({window}); lag({any}) over ({window}); lead({any}) over "
    "({window}); lag({number}, 1, 0) over ({window}); lead({string}, 2, 'x') over ({window}); first_value({any}) over "
    "({frame}); last_value({any}) over ({frame}); nth_value({any}, 2) over ({window}); sum({number}) over ({frame}); "
    "avg({number}) over ({frame}); count({any}) over ({frame}); count(*) over ({frame}); min({basic}) over ({frame}); "
    "max({basic}) over ({frame}); array_agg({any}) over ({frame}); stddev({number}) over ({frame}); "
    "string_agg({texts}, ',') over ({frame}); sum({number}) over ({frame}) / count(*) over ({frame}); {number} - "
    "lag({number}) over ({window}); coalesce(lag({number}) over ({window}), 0)",
)
