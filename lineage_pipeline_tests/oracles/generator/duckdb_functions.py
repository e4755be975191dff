"""The functions of DuckDB by families, as texts."""

from lineage_pipeline_tests.oracles.generator.grammar import Function, functions

FUNCTIONS: tuple[Function, ...] = (
    *functions(
        "string",
        "string",
        "upper({string}); lower({string}); trim({string}); ltrim({string}); rtrim({string}, 'x'); substring({string}, "
        "2, 3); substr({string}, {int}); left({string}, {int}); right({string}, 2); lpad({string}, 10, '*'); "
        "rpad({string}, {int}, ' '); repeat({string}, {int}); replace({string}, 'a', 'b'); translate({string}, 'ab', "
        "'cd'); reverse({string}); concat({string}, {string}); concat({plain}, {plain}); concat_ws('-', {string}, "
        "{string}); split_part({string}, '-', 1); regexp_replace({string}, 'a+', 'b'); regexp_extract({string}, "
        "'(a)', 1); md5({string}); sha256({string}); base64({blob}); hex({string}); chr({int}); format('{}', "
        "{string}); printf('%s', {string}); strip_accents({string}); {string}[1]; {string}[1:2]; strftime({date}, "
        "'%Y'); strftime({timestamp}, '%Y'); dayname({moment}); monthname({moment}); array_to_string({strings}, ','); "
        "typeof({any}); to_base({int}, 2); bin({int}); url_encode({string}); json_extract_string({json}, '$.a'); "
        "{json}->>'a'; json_type({json}); string_split({string}, ',')[1]",
    ),
    *functions(
        "length",
        "bigint",
        "length({string}); strlen({string}); char_length({string}); bit_length({string}); octet_length({blob}); "
        "instr({string}, 'a'); strpos({string}, {string}); position('a' in {string}); levenshtein({string}, "
        "{string}); hamming({string}, {string}); len({list}); array_length({strings}); date_diff('day', {date}, "
        "{date}); datediff('hour', {timestamp}, {timestamp}); list_count({list}); year({moment}); month({moment}); "
        "day({moment}); quarter({moment}); hour({timestamp}); minute({timestamp}); second({timestamp}); "
        "dayofweek({moment}); dayofyear({moment}); week({moment}); isodow({date}); extract(year from {moment}); "
        "extract('month' from {moment}); date_part('day', {moment}); epoch_ms({timestamp}); yearweek({date}); "
        "century({date}); extract(hour from {interval}); date_sub('month', {date}, {date})",
    ),
    *functions("length", "int", "ascii({string}); unicode({string}); ord({string}); list_position({list}, 1)"),
    *functions(
        "test",
        "boolean",
        "{any} is null; {any} is not null; isnan({floating}); isinf({double}); isfinite({double}); not {boolean}; "
        "starts_with({string}, 'a'); ends_with({string}, {string}); contains({string}, 'a'); {string} ~ 'a'; {string} "
        "not like 'a%'; {string} ilike {string}; {string} similar to 'a'; regexp_matches({string}, 'a'); "
        "regexp_full_match({string}, 'a'); list_contains({list}, 1); list_has_any({list}, {list}); {boolean} is true; "
        "{int} not in (1, 2); {int} not between 1 and {int}; {string} glob 'a*'; json_valid({string}); "
        "list_has_all({strings}, ['a']); 1 in {list}",
    ),
    *functions(
        "numbers",
        "double",
        "sqrt({number}); cbrt({number}); exp({number}); ln({number}); log10({number}); log2({number}); log({number}); "
        "power({number}, 2); pow({number}, {number}); sin({number}); cos({number}); tan({number}); atan2({number}, "
        "{number}); degrees({number}); radians({number}); pi(); random(); jaccard('ab', {string}); "
        "epoch({timestamp}); extract(epoch from {timestamp}); date_part('epoch', {timestamp}); gamma({double}); "
        "fmod({double}, 2)",
    ),
    *functions(
        "numbers",
        "",
        "abs({number}); -{signed}; -{decimal}; -{floating}; round({number}); round({number}, 1); round({decimal}, 5); "
        "round({number}, -1); ceil({number}); floor({number}); trunc({number}); mod({number}, 3); sign({number}); "
        "{number} + 1; {number} - 1; {number} * 2; {number} / 2; {number} % 3; {number} // 2; {signed} + 1.5; "
        "{number} * 0.01; {number} / 3.0; ({number} + {number}) * {number}; {number} * {number} / {number}; {number} "
        "+ null; null * {number}; greatest({number}, {number}, 1.5); least({number}, 1); ~{whole}; "
        "bit_count({signed}); factorial({int}); gcd({int}, 4); lcm({bigint}, 2); hash({plain}); xor({whole}, "
        "{whole}); {int} + 300; {tinyint} + 300; {tinyint} + 100; {smallint} * 1000; 5 - {utinyint}; even({double}); "
        "divide({whole}, {whole}); add({number}, {number}); multiply({number}, {number}); coalesce({whole}, 1); "
        "coalesce({whole}, 100000); case when {boolean} then {whole} else 0 end; greatest({whole}, 0)",
    ),
    *functions(
        "date",
        "timestamp",
        "date_trunc('month', {date}); date_trunc('hour', {timestamp}); {date} + interval 1 day; {timestamp} - "
        "interval '2' day; make_timestamp(2024, 1, 1, 1, 1, 1.5); strptime({string}, '%Y'); time_bucket(interval 1 "
        "day, {timestamp}); {timestamptz} at time zone 'UTC'; {date} + {interval}; localtimestamp; {date} + {time}; "
        "to_timestamp({int})::timestamp",
    ),
    *functions(
        "date",
        "date",
        "last_day({moment}); make_date(2024, 1, {int}); {date} + 1; 1 + {date}; today(); current_date; "
        "{timestamp}::date; time_bucket(interval 1 month, {date})",
    ),
    *functions(
        "date",
        "",
        "now(); current_timestamp; current_time; {timestamp} at time zone 'UTC'; to_timestamp({int}); "
        "age({timestamp}); age({timestamp}, {timestamp}); {timestamp} - {timestamp}; {date} - {date}; {interval} * 2; "
        "{interval} / 2; -{interval}; to_days({int}); to_months(2); to_seconds({double}); interval 3 months; interval "
        "({int}) day; date_trunc('day', {timestamptz}); date_trunc('day', {interval}); make_time(1, 2, 3.5); "
        "{timestamp}::time; {timestamptz} - {timestamptz}; {time} + interval 1 hour; timezone('UTC', {timestamptz}); "
        "date_add({date}, interval 1 day); epoch_us({timestamp}); {date} - interval 1 month",
    ),
    *functions(
        "lists",
        "list",
        "list_sort({list}); list_reverse({list}); list_distinct({list}); list_concat({list}, {list}); {list} || "
        "{list}; list_append({list}, 1); list_prepend(1, {list}); list_slice({list}, 1, 2); {list}[1:2]; "
        "list_transform({list}, lambda x : x + 1); list_filter({list}, lambda x : x > 1); [x * 2 for x in {list}]; "
        "flatten([{list}, {list}]); list_resize({list}, 3); map_values({map}); [{int}, 1]",
    ),
    *functions(
        "lists",
        "",
        "{list}[1]; {strings}[1]; list_extract({list}, 1); list_element({strings}, 1); [{plain}]; [{number}, "
        "{number}]; list_sum({list}); list_avg({list}); list_min({list}); list_max({strings}); list_aggregate({list}, "
        "'sum'); list_first({list}); list_unique({list}); list_any_value({strings}); range({int}); generate_series(1, "
        "{int}); range({date}, {date}, interval 1 day); list_zip({list}, {strings}); list_transform({strings}, lambda "
        "x : length(x)); list_reduce({list}, lambda x, y : x + y); string_split({string}, ','); "
        "regexp_extract_all({string}, 'a'); regexp_split_to_array({string}, ','); [{struct}]; [[{int}], [2]]; [null]; "
        "array_value({int}, 2)",
    ),
    *functions(
        "maps",
        "",
        "{map}['a']; map_keys({map}); map_entries({map}); map {'a': {plain}}; map(['a'], [{number}]); "
        "element_at({map}, 'a'); cardinality({map}); map_from_entries([('a', {int})]); map_concat({map}, {map})",
    ),
    *functions(
        "structs",
        "",
        "{struct}.a; {struct}.b; {struct}['a']; struct_extract({struct}, 'b'); {'x': {plain}, 'y': {number}}; "
        "struct_pack(x := {int}, y := {string}); row({int}, {string}); {struct}.a + 1; ({int}, {string}); "
        "[{struct}][1].b; {'a': {'b': {int}}}.a.b",
    ),
    *functions(
        "documents",
        "",
        "{json}->'a'; {json}->'$.a.b'; json_extract({json}, '$.a'); json_array_length({json}); json_keys({json}); "
        "to_json({plain}); json_object('a', {plain}); json_array({plain}, 1); json_quote({string})",
    ),
    *functions(
        "conditional",
        "",
        "ifnull({string}, 'x'); coalesce({any}, null); coalesce(null, {any}); case when {boolean} then 1 else 0 end; "
        "case {int} when 1 then 'a' else 'b' end; case when {boolean} then {any} end; if({boolean}, {any}, null); "
        "coalesce({number}, 0); coalesce({string}, 'x'); coalesce({number}, 1.5); nullif({number}, 0); "
        "nullif({string}, ''); coalesce({date}, '2024-01-01'); case when {boolean} then {decimal} else 0 end; case "
        "when {any} is null then 1 when {any} is not null then 2.5 else {int} end; coalesce({int}, {int}, 1.5)",
    ),
    *functions(
        "casts",
        "",
        "cast({plain} as varchar); {number}::decimal(10,2); cast({string} as decimal(5,1)); {string}::int; "
        "{int}::text; cast({list} as varchar[]); try_cast({string} as date); {number}::numeric; {number}::dec(7); "
        "{string}::json; {string}::uuid; {number}::real; {struct}::struct(a varchar, y varchar); {string}::interval; "
        "cast({number} as double precision); {string}::timestamp with time zone; {int}::hugeint; {string}::blob",
    ),
    *functions(
        "subqueries",
        "",
        "(select max({q.number}) from {table} as q); (select count(*) from {table} as q); (select {q.any} from "
        "{table} as q limit 1); exists (select 1 from {table} as q); {int} in (select {q.int} from {table} as q); "
        "{string} not in (select {q.string} from {table} as q); (select sum({q.decimal}) from {table} as q where q.id "
        "= {int}); coalesce((select min({q.date}) from {table} as q), {date}); {int} + (select avg({q.int}) from "
        "{table} as q)",
    ),
)

AGGREGATES: tuple[Function, ...] = functions(
    "aggregates",
    "",
    "count(*); count({any}); count(distinct {basic}); count(); sum({number}); avg({number}); min({basic}); "
    "max({basic}); sum(distinct {number}); mean({number}); stddev({number}); stddev_pop({number}); "
    "var_samp({number}); variance({number}); corr({number}, {number}); covar_pop({number}, {number}); list({any}); "
    "array_agg({basic}); array_agg({date} order by {int} desc); first({any}); last({any}); any_value({any}); "
    "arg_max({any}, {number}); min_by({basic}, {date}); count_if({boolean}); bool_and({boolean}); bool_or({boolean}); "
    "bit_and({whole}); bit_or({whole}); bit_xor({whole}); median({number}); median({moment}); mode({basic}); "
    "quantile({number}, 0.5); quantile_cont({number}, 0.5); quantile_cont({number}, [0.1, 0.9]); "
    "quantile_disc({number}, 0.5); approx_count_distinct({basic}); kurtosis({number}); skewness({number}); "
    "string_agg({string}, ','); group_concat({string}); string_agg({string}, ',' order by {int}); sum({boolean}); "
    "avg({moment}); percentile_cont(0.5) within group (order by {number} + 0); percentile_disc(0.5) within group "
    "(order by -{signed}); sum({number}) filter (where {boolean}); count(*) filter (where {boolean}); "
    "regr_slope({number}, {number}); regr_count({number}, {number}); product({number}); histogram({plain}); "
    "min({number}, 2); entropy({int}); sum({number}) + 1; coalesce(sum({number}), 0); sum({number}) / count(*); "
    "max({number}) - min({number}); avg({number}) * 100; sum({number} * {number}); sum(case when {boolean} then "
    "{number} else 0 end); nullif(count({any}), 0); round(avg({number}), 2); max({string}) || 'x'; list({'k': "
    "{int}}); json_group_array({int}); list({int}) filter (where {boolean}); approx_quantile({number}, 0.5)",
)

WINDOWS: tuple[Function, ...] = functions(
    "windows",
    "",
    "row_number() over ({window}); rank() over ({window}); dense_rank() over ({window}); percent_rank() over "
    "({window}); cume_dist() over ({window}); ntile(4) over ({window}); lag({any}) over ({window}); lead({any}) over "
    "({window}); lag({number}, 1, 0) over ({window}); lead({string}, 2, 'x') over ({window}); first_value({any}) over "
    "({frame}); last_value({any}) over ({frame}); nth_value({any}, 2) over ({window}); sum({number}) over ({frame}); "
    "avg({number}) over ({frame}); count({any}) over ({frame}); count(*) over ({frame}); min({basic}) over ({frame}); "
    "max({basic}) over ({frame}); list({basic}) over ({frame}); stddev({number}) over ({frame}); median({number}) "
    "over ({frame}); lag({basic} ignore nulls) over ({window}); string_agg({string}, ',') over ({frame}); "
    "sum({number}) over ({frame}) / count(*) over ({frame}); {number} - lag({number}) over ({window}); "
    "coalesce(lag({number}) over ({window}), 0)",
)
