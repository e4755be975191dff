{% macro generate_surrogate_key(field_list) %}
{%- set parts = [] -%}
{%- for field in field_list -%}
    {%- do parts.append("coalesce(cast(" ~ field ~ " as " ~ dbt.type_string() ~ "), '_dbt_utils_surrogate_key_null_')") -%}
    {%- if not loop.last %}{% do parts.append("'-'") %}{% endif -%}
{%- endfor -%}
{{ dbt.hash(dbt.concat(parts)) }}
{%- endmacro %}
{% macro surrogate_key(field_list) %}
{%- set fields = [field_list] if field_list is string else field_list | list -%}
{%- for one in varargs %}{% do fields.append(one) %}{% endfor -%}
{{ return(dbt_utils.generate_surrogate_key(fields)) }}
{% endmacro %}
{% macro group_by(n) %}group by {% for i in range(1, n + 1) %}{{ i }}{% if not loop.last %}, {% endif %}{% endfor %}{% endmacro %}

{% macro safe_add(field_list) %}
{%- set fields = [field_list] if field_list is string else field_list | list -%}
{%- for one in varargs %}{% do fields.append(one) %}{% endfor -%}
{% for field in fields %}coalesce({{ field }}, 0){% if not loop.last %} + {% endif %}{% endfor %}
{%- endmacro %}
{% macro safe_subtract(field_list) %}{% for field in field_list %}coalesce({{ field }}, 0){% if not loop.last %} - {% endif %}{% endfor %}{% endmacro %}
{% macro safe_divide(numerator, denominator) %}({{ numerator }}) / nullif(({{ denominator }}), 0){% endmacro %}
{% macro nullcheck(cols) %}{% for col in cols %}nullif({{ col.name }}, '') as {{ col.name }}{% if not loop.last %}, {% endif %}{% endfor %}{% endmacro %}
{% macro width_bucket(expr, min_value, max_value, num_buckets) %}width_bucket({{ expr }}, {{ min_value }}, {{ max_value }}, {{ num_buckets }}){% endmacro %}
{% macro haversine_distance(lat1, lon1, lat2, lon2, unit='mi') %}2 * 3961 * asin(sqrt(power(sin(radians(({{ lat2 }} - {{ lat1 }}) / 2)), 2) + cos(radians({{ lat1 }})) * cos(radians({{ lat2 }})) * power(sin(radians(({{ lon2 }} - {{ lon1 }}) / 2)), 2))){% endmacro %}
{% macro degrees_to_radians(degrees) %}acos(-1) * {{ degrees }} / 180{% endmacro %}
{% macro get_url_parameter(field, url_parameter) %}nullif({{ dbt.split_part(dbt.split_part(field, "'" ~ url_parameter ~ "='", 2), "'&'", 1) }}, ''){% endmacro %}
{% macro get_url_host(field) %}cast({{ dbt.split_part(dbt.split_part(field, "'//'", 2), "'/'", 1) }} as {{ dbt.type_string() }}){% endmacro %}
{% macro get_url_path(field) %}cast({{ dbt.split_part(field, "'/'", 2) }} as {{ dbt.type_string() }}){% endmacro %}
{% macro slugify(string) %}{{ return(modules.re.sub('[^a-z0-9_]+', '', modules.re.sub('[ -]+', '_', string | lower))) }}{% endmacro %}
{% macro pretty_time(format='%H:%M:%S') %}{% endmacro %}
{% macro pretty_log_format(message) %}{% endmacro %}
{% macro log_info(message) %}{% endmacro %}
{% macro string_literal(value) %}'{{ value }}'{% endmacro %}
{% macro literal(value) %}'{{ value }}'{% endmacro %}
{% macro identifier(value) %}{{ value }}{% endmacro %}

{% macro date_spine(datepart, start_date, end_date) %}{{ return(dbt.date_spine(datepart, start_date, end_date)) }}{% endmacro %}
{% macro generate_series(upper_bound) %}{{ return(dbt.generate_series(upper_bound)) }}{% endmacro %}
{% macro dateadd(datepart, interval, from_date_or_timestamp) %}{{ return(dbt.dateadd(datepart, interval, from_date_or_timestamp)) }}{% endmacro %}
{% macro datediff(first_date, second_date, datepart) %}{{ return(dbt.datediff(first_date, second_date, datepart)) }}{% endmacro %}
{% macro date_trunc(datepart, date) %}{{ return(dbt.date_trunc(datepart, date)) }}{% endmacro %}
{% macro last_day(date, datepart) %}{{ return(dbt.last_day(date, datepart)) }}{% endmacro %}
{% macro current_timestamp() %}{{ return(dbt.current_timestamp()) }}{% endmacro %}
{% macro current_timestamp_in_utc() %}{{ return(dbt.current_timestamp()) }}{% endmacro %}
{% macro concat(fields) %}{{ return(dbt.concat(fields)) }}{% endmacro %}
{% macro hash(field) %}{{ return(dbt.hash(field)) }}{% endmacro %}
{% macro split_part(string_text, delimiter_text, part_number) %}{{ return(dbt.split_part(string_text, delimiter_text, part_number)) }}{% endmacro %}
{% macro listagg(measure, delimiter_text="','", order_by_clause=none, limit_num=none) %}{{ return(dbt.listagg(measure, delimiter_text, order_by_clause, limit_num)) }}{% endmacro %}
{% macro safe_cast(field, type) %}{{ return(dbt.safe_cast(field, type)) }}{% endmacro %}
{% macro cast_bool_to_text(field) %}{{ return(dbt.cast_bool_to_text(field)) }}{% endmacro %}
{% macro replace(field, old_chars, new_chars) %}{{ return(dbt.replace(field, old_chars, new_chars)) }}{% endmacro %}
{% macro length(expression) %}{{ return(dbt.length(expression)) }}{% endmacro %}
{% macro position(substring_text, string_text) %}{{ return(dbt.position(substring_text, string_text)) }}{% endmacro %}
{% macro right(string_text, length_expression) %}{{ return(dbt.right(string_text, length_expression)) }}{% endmacro %}
{% macro bool_or(expression) %}{{ return(dbt.bool_or(expression)) }}{% endmacro %}
{% macro any_value(expression) %}{{ return(dbt.any_value(expression)) }}{% endmacro %}
{% macro except() %}{{ return(dbt.except()) }}{% endmacro %}
{% macro intersect() %}{{ return(dbt.intersect()) }}{% endmacro %}
{% macro escape_single_quotes(expression) %}{{ return(dbt.escape_single_quotes(expression)) }}{% endmacro %}
{% macro type_string() %}{{ return(dbt.type_string()) }}{% endmacro %}
{% macro type_timestamp() %}{{ return(dbt.type_timestamp()) }}{% endmacro %}
{% macro type_float() %}{{ return(dbt.type_float()) }}{% endmacro %}
{% macro type_numeric() %}{{ return(dbt.type_numeric()) }}{% endmacro %}
{% macro type_int() %}{{ return(dbt.type_int()) }}{% endmacro %}
{% macro type_bigint() %}{{ return(dbt.type_bigint()) }}{% endmacro %}
{% macro type_boolean() %}{{ return(dbt.type_boolean()) }}{% endmacro %}
