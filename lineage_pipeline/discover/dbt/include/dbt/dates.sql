{% macro dateadd(datepart, interval, from_date_or_timestamp) %}{{ return(adapter.dispatch('dateadd', 'dbt')(datepart, interval, from_date_or_timestamp)) }}{% endmacro %}
{% macro default__dateadd(datepart, interval, from_date_or_timestamp) %}dateadd({{ datepart }}, {{ interval }}, {{ from_date_or_timestamp }}){% endmacro %}
{% macro bigquery__dateadd(datepart, interval, from_date_or_timestamp) %}datetime_add(cast({{ from_date_or_timestamp }} as datetime), interval {{ interval }} {{ datepart }}){% endmacro %}
{% macro postgres__dateadd(datepart, interval, from_date_or_timestamp) %}{{ from_date_or_timestamp }} + ((interval '1 {{ datepart }}') * ({{ interval }})){% endmacro %}
{% macro redshift__dateadd(datepart, interval, from_date_or_timestamp) %}dateadd({{ datepart }}, {{ interval }}, {{ from_date_or_timestamp }}){% endmacro %}
{% macro duckdb__dateadd(datepart, interval, from_date_or_timestamp) %}{{ from_date_or_timestamp }} + ((interval '1 {{ datepart }}') * ({{ interval }})){% endmacro %}
{% macro trino__dateadd(datepart, interval, from_date_or_timestamp) %}date_add('{{ datepart }}', {{ interval }}, {{ from_date_or_timestamp }}){% endmacro %}
{% macro athena__dateadd(datepart, interval, from_date_or_timestamp) %}date_add('{{ datepart }}', {{ interval }}, {{ from_date_or_timestamp }}){% endmacro %}

{% macro datediff(first_date, second_date, datepart) %}{{ return(adapter.dispatch('datediff', 'dbt')(first_date, second_date, datepart)) }}{% endmacro %}
{% macro default__datediff(first_date, second_date, datepart) %}datediff({{ datepart }}, {{ first_date }}, {{ second_date }}){% endmacro %}
{% macro bigquery__datediff(first_date, second_date, datepart) %}datetime_diff(cast({{ second_date }} as datetime), cast({{ first_date }} as datetime), {{ datepart }}){% endmacro %}
{% macro postgres__datediff(first_date, second_date, datepart) %}(date_part('{{ datepart }}', {{ second_date }}) - date_part('{{ datepart }}', {{ first_date }})){% endmacro %}
{% macro redshift__datediff(first_date, second_date, datepart) %}datediff({{ datepart }}, {{ first_date }}, {{ second_date }}){% endmacro %}
{% macro duckdb__datediff(first_date, second_date, datepart) %}date_diff('{{ datepart }}', {{ first_date }}, {{ second_date }}){% endmacro %}
{% macro trino__datediff(first_date, second_date, datepart) %}date_diff('{{ datepart }}', {{ first_date }}, {{ second_date }}){% endmacro %}
{% macro athena__datediff(first_date, second_date, datepart) %}date_diff('{{ datepart }}', {{ first_date }}, {{ second_date }}){% endmacro %}

{% macro date_trunc(datepart, date) %}{{ return(adapter.dispatch('date_trunc', 'dbt')(datepart, date)) }}{% endmacro %}
{% macro default__date_trunc(datepart, date) %}date_trunc('{{ datepart }}', {{ date }}){% endmacro %}
{% macro bigquery__date_trunc(datepart, date) %}timestamp_trunc(cast({{ date }} as timestamp), {{ datepart }}){% endmacro %}

{% macro last_day(date, datepart) %}{{ return(adapter.dispatch('last_day', 'dbt')(date, datepart)) }}{% endmacro %}
{% macro default__last_day(date, datepart) %}cast({{ dbt.dateadd('day', '-1', dbt.dateadd(datepart, '1', dbt.date_trunc(datepart, date))) }} as date){% endmacro %}

{% macro current_timestamp() %}{{ return(adapter.dispatch('current_timestamp', 'dbt')()) }}{% endmacro %}
{% macro default__current_timestamp() %}current_timestamp{% endmacro %}
{% macro bigquery__current_timestamp() %}current_timestamp(){% endmacro %}
{% macro spark__current_timestamp() %}current_timestamp(){% endmacro %}
{% macro snowflake__current_timestamp() %}current_timestamp(){% endmacro %}
{% macro current_timestamp_backcompat() %}{{ return(dbt.current_timestamp()) }}{% endmacro %}
{% macro current_timestamp_in_utc_backcompat() %}{{ return(dbt.current_timestamp()) }}{% endmacro %}
{% macro snapshot_get_time() %}{{ return(dbt.current_timestamp()) }}{% endmacro %}
{% macro convert_datetime(date_str, date_fmt) %}{{ return(modules.datetime.datetime.strptime(date_str | string, date_fmt)) }}{% endmacro %}
{% macro date(year, month, day) %}to_date('{{ year }}-{{ month }}-{{ day }}', 'YYYY-MM-DD'){% endmacro %}

{% macro get_intervals_between(start_date, end_date, datepart) %}{{ return(0) }}{% endmacro %}
{% macro date_spine(datepart, start_date, end_date) %}
with spine as (
    select cast({{ start_date }} as date) as date_{{ datepart }}
    union all
    select cast({{ end_date }} as date) as date_{{ datepart }}
)
select * from spine
{% endmacro %}
{% macro generate_series(upper_bound) %}
select 1 as generated_number
{% endmacro %}
{% macro get_powers_of_two(upper_bound) %}{{ return(1) }}{% endmacro %}
