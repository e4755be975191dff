"""The functions of Spark by families, as texts."""

from lineage_pipeline_tests.oracles.generator.grammar import Function, functions

FUNCTIONS: tuple[Function, ...] = (
    *functions(
        "string",
        "string",
        "upper({string}); lower({string}); trim({string}); ltrim({string}); rtrim({string}); initcap({string}); "
        "substring({string}, 2, 3); substring({string}, {int}); left({string}, {int}); right({string}, 2); "
        "lpad({string}, 10, '*'); rpad({string}, {int}, ' '); repeat({string}, {int}); replace({string}, 'a', 'b'); "
        "replace({string}, {string}); translate({string}, 'ab', 'cd'); reverse({string}); concat({string}, {string}); "
        "concat({basic}, {basic}); concat_ws('-', {string}, {string}); concat_ws({string}, {string}, {string}); "
        "split_part({string}, '-', 1); substring_index({string}, '.', 2); overlay({string} placing 'x' from 2); "
        "regexp_replace({string}, 'a+', 'b'); regexp_extract({string}, '(a)', 1); regexp_substr({string}, 'a'); "
        "md5({bytes}); sha1({bytes}); sha2({bytes}, 256); base64({bytes}); hex({bytes}); hex({bigint}); "
        "bin({bigint}); soundex({string}); chr({int}); char({bigint}); space({int}); format_string('%s', {any}); "
        "format_number({number}, 2); mask({string}); elt({int}, {string}, {string}); conv({string}, 10, 16); "
        "to_json({struct}); typeof({any}); string({basic}); btrim({string}); quote({string}); to_char({number}, '999')",
    ),
    *functions(
        "length",
        "int",
        "length({bytes}); char_length({string}); octet_length({bytes}); bit_length({bytes}); ascii({string}); "
        "instr({string}, 'a'); locate('a', {string}); position('a' in {string}); levenshtein({string}, {string}); "
        "find_in_set({string}, 'a,b'); regexp_count({string}, 'a'); regexp_instr({string}, 'a'); "
        "json_array_length({string}); size({array}); size({map}); cardinality({array}); array_size({array}); "
        "hash({basic}, {basic}); character_length({string})",
    ),
    *functions(
        "test",
        "boolean",
        "{any} is null; {any} is not null; isnull({any}); isnotnull({any}); isnan({floating}); not {boolean}; "
        "startswith({string}, 'a'); endswith({string}, {string}); contains({string}, 'a'); {string} rlike 'a'; "
        "{string} not like 'a%'; {string} ilike {string}; regexp_like({string}, 'a'); array_contains({array}, 1); "
        "arrays_overlap({array}, {array}); exists({array}, x -> x > 1); forall({array}, x -> x > 1); "
        "map_contains_key({map}, 'a'); {boolean} is true; {boolean} is not false; {int} not in (1, 2); "
        "{int} not between 1 and {int}; boolean({string}); equal_null({basic}, null)",
    ),
    *functions(
        "numbers",
        "double",
        "sqrt({number}); cbrt({number}); exp({number}); ln({number}); log10({number}); log2({number}); "
        "log(2, {number}); log({number}); power({number}, 2); pow({number}, {number}); sin({number}); cos({number}); "
        "tan({number}); atan2({number}, {number}); degrees({number}); radians({number}); pi(); e(); "
        "signum({number}); hypot({number}, {number}); rint({number}); expm1({number}); log1p({number}); "
        "double({number}); nanvl({floating}, {floating})",
    ),
    *functions(
        "numbers",
        "",
        "abs({number}); abs({span}); -{number}; +{number}; -{span}; round({number}); round({number}, 1); "
        "round({number}, 5); round({number}, -1); bround({number}, 1); ceil({number}); floor({number}); "
        "ceil({number}, 1); floor({number}, -1); negative({number}); positive({number}); mod({number}, 3); "
        "sign({number}); nvl({number}, 0); zeroifnull({number}); nullifzero({number}); "
        "{number} + 1; {number} - 1; {number} * 2; {number} / 2; {number} % 3; 1 - {number}; {number} + 1.5; "
        "{number} * 0.01; {number} / 3.0; ({number} + {number}) * {number}; {number} * {number} / {number}; "
        "try_mod({number}, {number}); {number} + null; decimal({number}); greatest({number}, {number}, 1.5); "
        "least({number}, {number}, 1); shiftleft({int}, 1); shiftright({bigint}, 2); ~{whole}; bit_count({whole}); "
        "getbit({bigint}, 1); factorial({int}); width_bucket({double}, 0, 10, 5); float({number}); smallint({number}); "
        "tinyint({string}); uniform(1, 10); rand(); randn(7)",
    ),
    *functions("numbers", "bigint", "bigint({number}); crc32({bytes}); xxhash64({basic}); unix_seconds({timestamp})"),
    *functions("numbers", "int", "int({number}); int({string}); bit_count({boolean})"),
    *functions(
        "date",
        "date",
        "date_add({date}, 1); date_sub({date}, {int}); add_months({date}, 2); last_day({date}); "
        "next_day({date}, 'MON'); to_date({string}); to_date({string}, 'yyyy'); trunc({date}, 'month'); "
        "make_date(2024, {int}, 1); current_date(); date({string}); date({timestamp}); {date} + interval 1 month; "
        "{date} - interval 1 day; date_from_unix_date({int}); date_add({timestamp}, 1); date_add({string}, 1); "
        "try_to_date({string})",
    ),
    *functions(
        "date",
        "int",
        "year({moment}); month({moment}); day({moment}); quarter({moment}); hour({timestamp}); minute({timestamp}); "
        "second({timestamp}); dayofweek({moment}); dayofyear({moment}); weekofyear({moment}); weekday({moment}); "
        "datediff({moment}, {date}); date_diff({date}, {date}); year({string}); extract(year from {moment}); "
        "extract(week from {date}); date_part('month', {moment}); unix_date({date}); hour({string}); "
        "extract(dow from {timestamp}); extract(day from {days})",
    ),
    *functions(
        "date",
        "timestamp",
        "to_timestamp({string}); date_trunc('day', {moment}); date_trunc('hour', {string}); current_timestamp(); "
        "now(); {timestamp} + interval 1 hour; {timestamp} - interval '2' day; from_utc_timestamp({timestamp}, 'UTC'); "
        "to_utc_timestamp({timestamp}, 'UTC'); timestamp_seconds({bigint}); timestamp_millis({bigint}); "
        "make_timestamp(2024, 1, 1, {int}, 0, 0); timestamp({string}); timestamp({date}); "
        "timestampadd(hour, {int}, {timestamp}); try_to_timestamp({string})",
    ),
    *functions(
        "date",
        "",
        "date_format({moment}, 'yyyy'); from_unixtime({bigint}); unix_timestamp({string}); unix_timestamp(); "
        "extract(second from {timestamp}); date_part('second', {timestamp}); months_between({moment}, {date}); "
        "timestampdiff(month, {timestamp}, {timestamp}); {date} + interval 1 hour; localtimestamp(); "
        "make_interval(1, 2); make_dt_interval(1, {int}); make_ym_interval({int}, 2); interval 1 day; "
        "interval '3' hour; interval 2 years; {days} * 2; {months} / 3; {timestamp} - {timestamp}; {date} - {date}; "
        "dayname({date}); monthname({date}); date_trunc('month', {timestamp_ntz}); to_timestamp_ntz({string}); "
        "current_timezone(); make_timestamp_ntz(2024, 1, 1, 1, 1, 1); unix_micros({timestamp}); {date} + 1; "
        "1 + {date}; dateadd(day, 1, {date}); dateadd(month, {int}, {timestamp}); "
        "datediff(day, {timestamp}, {timestamp})",
    ),
    *functions(
        "arrays",
        "",
        "{array}[0]; element_at({array}, 1); try_element_at({array}, 1); get({array}, {int}); array({int}, {int}); "
        "array({any}); sort_array({array}); array_sort({array}); array_distinct({array}); "
        "array_union({array}, {array}); array_except({array}, {array}); array_intersect({array}, {array}); "
        "array_max({array}); array_min({array}); array_position({array}, 1); array_remove({array}, 1); "
        "array_append({array}, 1); array_prepend({array}, 1); array_compact({array}); array_join({array}, ','); "
        "slice({array}, 1, 2); concat({array}, {array}); array_repeat({any}, 2); sequence(1, {int}); "
        "sequence({date}, current_date()); transform({array}, x -> x + 1); filter({array}, x -> x > 1); "
        "aggregate({array}, 0, (acc, x) -> acc); zip_with({array}, {array}, (x, y) -> x); "
        "flatten(array({array}, {array})); arrays_zip({array}, {array}); split({string}, ','); "
        "shuffle({array}); reverse({array}); array_insert({array}, 1, 2); transform({array}, (x, i) -> i); "
        "regexp_extract_all({string}, '(a)', 1); array()",
    ),
    *functions(
        "maps",
        "",
        "{map}['a']; element_at({map}, 'a'); map_keys({map}); map_values({map}); map_entries({map}); "
        "map_concat({map}, {map}); map_from_arrays(array('a'), {array}); map_filter({map}, (k, v) -> v > 1); "
        "transform_values({map}, (k, v) -> v + 1); transform_keys({map}, (k, v) -> upper(k)); "
        "map('a', {any}); map({string}, {number}); str_to_map({string}); map_from_entries(map_entries({map})); "
        "try_element_at({map}, 'b'); map_zip_with({map}, {map}, (k, a, b) -> a)",
    ),
    *functions(
        "structs",
        "",
        "{struct}.a; {struct}.b; struct({int}, {string}); named_struct('x', {any}, 'y', {number}); "
        "from_json({string}, 'a int, b string'); struct({int} as x, {decimal} as y).y; {struct}.a + 1; "
        "get_json_object({string}, '$.a'); to_csv({struct}); json_object_keys({string}); "
        "array({struct}).a; from_csv({string}, 'a int')",
    ),
    *functions(
        "conditional",
        "",
        "nvl({any}, null); ifnull({string}, 'x'); nvl2({any}, {number}, {number}); coalesce({any}, null); "
        "coalesce(null, {any}); case when {boolean} then 1 else 0 end; case {int} when 1 then 'a' else 'b' end; "
        "case when {boolean} then {any} end; if({boolean}, {any}, null); decode({int}, 1, 'a', 'b'); "
        "coalesce({number}, 0); coalesce({string}, 'x'); coalesce({string}, ''); "
        "case when {any} is null then 1 when {any} is not null then 2.5 else {int} end; nullif({number}, 0); "
        "nullif({string}, ''); coalesce({number}, {number}, 1.5)",
    ),
    *functions(
        "casts",
        "",
        "cast({basic} as string); cast({number} as decimal(10,2)); cast({number} as decimal(38,18)); "
        "cast({string} as decimal(5,1)); {string}::int; cast({string} as varchar(5)); cast({int} as char(3)); "
        "cast({array} as array<string>); cast({struct} as struct<x:string,y:string>); "
        "try_cast({string} as date); cast({map} as map<string,string>); cast({string} as binary); "
        "cast({timestamp} as date); to_number({string}, '999.99'); try_to_number({string}, '999'); "
        "cast({decimal} as decimal(20,10)); cast({whole} as decimal(5,2)); binary({string}); boolean({number})",
    ),
    *functions(
        "binary",
        "binary",
        "unhex({string}); unbase64({string}); encode({string}, 'utf-8'); to_binary({string}, 'utf-8'); "
        "cast({string} as binary)",
    ),
    *functions(
        "binary",
        "",
        "decode({binary}, 'utf-8'); concat({binary}, {binary}); substring({binary}, 1, 2); reverse({string})",
    ),
    *functions(
        "subqueries",
        "",
        "(select max({q.number}) from {table} as q); (select count(*) from {table} as q); "
        "(select {q.any} from {table} as q limit 1); exists (select 1 from {table} as q); "
        "{int} in (select {q.int} from {table} as q); {string} not in (select {q.string} from {table} as q); "
        "(select sum({q.decimal}) from {table} as q where q.id = {int}); not exists (select 1 from {table} as q); "
        "(select struct({q.int} as a, {q.string} as b) from {table} as q limit 1); "
        "coalesce((select min({q.date}) from {table} as q), {date}); {int} + (select avg({q.int}) from {table} as q)",
    ),
)

AGGREGATES: tuple[Function, ...] = functions(
    "aggregates",
    "",
    "count(*); count({any}); count(distinct {basic}); count(1); sum({number}); sum({span}); avg({number}); "
    "avg({span}); min({basic}); max({basic}); min({span}); max({struct}); sum(distinct {number}); sum({string}); "
    "avg({string}); mean({number}); stddev({number}); stddev_pop({number}); var_samp({number}); variance({number}); "
    "corr({number}, {number}); covar_pop({number}, {number}); collect_list({any}); collect_set({basic}); "
    "array_agg({basic}); first({any}); last({any}); any_value({any}); first({any}, true); max_by({any}, {number}); "
    "min_by({basic}, {date}); count_if({boolean}); bool_and({boolean}); bool_or({boolean}); every({boolean}); "
    "some({boolean}); bit_and({whole}); bit_or({whole}); bit_xor({whole}); median({number}); mode({basic}); "
    "percentile({number}, 0.5); percentile({number}, array(0.1, 0.9)); percentile_approx({number}, 0.5); "
    "approx_count_distinct({basic}); kurtosis({number}); skewness({number}); try_sum({number}); try_avg({number}); "
    "string_agg({string}, ','); listagg({string}) within group (order by {string}); "
    "percentile_cont(0.5) within group (order by {number}); sum({number}) filter (where {boolean}); "
    "count(*) filter (where {boolean}); regr_slope({number}, {number}); regr_count({number}, {number}); "
    "sum({number}) + 1; coalesce(sum({number}), 0); sum({number}) / count(*); max({number}) - min({number}); "
    "avg({number}) * 100; sum({number} * {number}); sum(case when {boolean} then {number} else 0 end); "
    "count(distinct {int}, {string}); nullif(count({any}), 0); round(avg({number}), 2); "
    "sum(sum({number})) over (order by count(*)); max({string}) || 'x'",
)

WINDOWS: tuple[Function, ...] = functions(
    "windows",
    "",
    "row_number() over ({window}); rank() over ({window}); dense_rank() over ({window}); "
    "percent_rank() over ({window}); cume_dist() over ({window}); ntile(4) over ({window}); "
    "lag({any}) over ({window}); lead({any}) over ({window}); lag({number}, 1, 0) over ({window}); "
    "lead({string}, 2, 'x') over ({window}); first_value({any}) over ({frame}); last_value({any}) over ({frame}); "
    "nth_value({any}, 2) over ({window}); sum({number}) over ({frame}); avg({number}) over ({frame}); "
    "count({any}) over ({frame}); count(*) over ({frame}); min({basic}) over ({frame}); max({basic}) over ({frame}); "
    "collect_list({basic}) over ({frame}); stddev({number}) over ({frame}); "
    "lag({basic}) ignore nulls over ({window}); first_value({basic}) ignore nulls over ({frame}); "
    "sum({number}) over ({frame}) / count(*) over ({frame}); {number} - lag({number}) over ({window}); "
    "coalesce(lag({number}) over ({window}), 0)",
)
