{% macro now(tz=none) %}{{ return(dbt.current_timestamp()) }}{% endmacro %}
{% macro today(tz=none) %}cast({{ dbt.current_timestamp() }} as date){% endmacro %}
{% macro lineage_shifted(part, n, date=none) %}cast({{ dbt.dateadd(part, n, date if date else dbt_date.today()) }} as date){% endmacro %}
{% macro yesterday(date=none, tz=none) %}{{ return(dbt_date.lineage_shifted('day', -1, date)) }}{% endmacro %}
{% macro tomorrow(date=none, tz=none) %}{{ return(dbt_date.lineage_shifted('day', 1, date)) }}{% endmacro %}
{% macro n_days_ago(n, date=none, tz=none) %}{{ return(dbt_date.lineage_shifted('day', -1 * n | int, date)) }}{% endmacro %}
{% macro n_days_away(n, date=none, tz=none) %}{{ return(dbt_date.lineage_shifted('day', n, date)) }}{% endmacro %}
{% macro n_weeks_ago(n, tz=none) %}{{ return(dbt_date.lineage_shifted('week', -1 * n | int)) }}{% endmacro %}
{% macro n_weeks_away(n, tz=none) %}{{ return(dbt_date.lineage_shifted('week', n)) }}{% endmacro %}
{% macro n_months_ago(n, tz=none) %}{{ return(dbt_date.lineage_shifted('month', -1 * n | int)) }}{% endmacro %}
{% macro n_months_away(n, tz=none) %}{{ return(dbt_date.lineage_shifted('month', n)) }}{% endmacro %}
{% macro last_week(tz=none) %}{{ return(dbt_date.lineage_shifted('week', -1)) }}{% endmacro %}
{% macro next_week(tz=none) %}{{ return(dbt_date.lineage_shifted('week', 1)) }}{% endmacro %}
{% macro last_month(tz=none) %}{{ return(dbt_date.lineage_shifted('month', -1)) }}{% endmacro %}
{% macro next_month(tz=none) %}{{ return(dbt_date.lineage_shifted('month', 1)) }}{% endmacro %}
{% macro last_month_number(tz=none) %}{{ return(dbt_date.date_part('month', dbt_date.last_month())) }}{% endmacro %}
{% macro next_month_number(tz=none) %}{{ return(dbt_date.date_part('month', dbt_date.next_month())) }}{% endmacro %}
{% macro last_month_name(short=true, tz=none) %}{{ return(dbt_date.month_name(dbt_date.last_month(), short)) }}{% endmacro %}
{% macro next_month_name(short=true, tz=none) %}{{ return(dbt_date.month_name(dbt_date.next_month(), short)) }}{% endmacro %}

{% macro date_part(datepart, date) %}extract({{ datepart }} from {{ date }}){% endmacro %}
{% macro lineage_number(part, date) %}cast({{ dbt_date.date_part(part, date) }} as {{ dbt.type_int() }}){% endmacro %}
{% macro day_of_month(date) %}{{ return(dbt_date.lineage_number('day', date)) }}{% endmacro %}
{% macro day_of_week(date, isoweek=true) %}{{ return(dbt_date.lineage_number('dayofweek', date)) }}{% endmacro %}
{% macro day_of_year(date) %}{{ return(dbt_date.lineage_number('dayofyear', date)) }}{% endmacro %}
{% macro week_of_year(date=none, tz=none) %}{{ return(dbt_date.lineage_number('week', date or dbt_date.today())) }}{% endmacro %}
{% macro iso_week_of_year(date=none, tz=none) %}{{ return(dbt_date.lineage_number('week', date or dbt_date.today())) }}{% endmacro %}
{% macro week_start(date=none, tz=none) %}cast({{ dbt.date_trunc('week', date or dbt_date.today()) }} as date){% endmacro %}
{% macro iso_week_start(date=none, tz=none) %}{{ return(dbt_date.week_start(date)) }}{% endmacro %}
{% macro week_end(date=none, tz=none) %}cast({{ dbt.dateadd('day', 6, dbt_date.week_start(date)) }} as date){% endmacro %}
{% macro iso_week_end(date=none, tz=none) %}{{ return(dbt_date.week_end(date)) }}{% endmacro %}
{% macro day_name(date, short=true) %}cast({{ date }} as {{ dbt.type_string() }}){% endmacro %}
{% macro month_name(date, short=true) %}cast({{ date }} as {{ dbt.type_string() }}){% endmacro %}
{% macro periods_since(date_col, period_name='day', tz=none) %}{{ return(dbt.datediff(date_col, dbt_date.now(), period_name)) }}{% endmacro %}
{% macro round_timestamp(timestamp) %}{{ return(dbt.date_trunc('day', timestamp)) }}{% endmacro %}
{% macro to_unixtimestamp(timestamp) %}{{ return(dbt_date.date_part('epoch', timestamp)) }}{% endmacro %}
{% macro from_unixtimestamp(epochs, format='seconds') %}cast({{ epochs }} as {{ dbt.type_timestamp() }}){% endmacro %}
{% macro convert_timezone(column, target_tz=none, source_tz=none) %}cast({{ column }} as {{ dbt.type_timestamp() }}){% endmacro %}
{% macro date_spine(datepart, start_date, end_date) %}{{ return(dbt.date_spine(datepart, start_date, end_date)) }}{% endmacro %}

{% macro get_base_dates(start_date=none, end_date=none, n_dateparts=none, datepart='day') %}
{%- set first = "cast('" ~ start_date ~ "' as date)" if start_date else dbt_date.today() -%}
{%- set last = "cast('" ~ end_date ~ "' as date)" if end_date else dbt_date.tomorrow() -%}
select cast(spine.date_{{ datepart }} as {{ dbt.type_timestamp() }}) as date_{{ datepart }}
from ({{ dbt.date_spine(datepart, first, last) }}) as spine
{% endmacro %}

{% macro get_date_dimension(start_date, end_date) %}
{%- set days = ['date_day', 'prior_date_day', 'next_date_day', 'prior_year_date_day', 'prior_year_over_year_date_day'] -%}
{%- set numbers = ['day_of_week', 'day_of_week_iso', 'day_of_week_name', 'day_of_week_name_short', 'day_of_month', 'day_of_year'] -%}
{%- set weeks = ['week_start_date', 'week_end_date', 'prior_year_week_start_date', 'prior_year_week_end_date', 'week_of_year',
    'iso_week_start_date', 'iso_week_end_date', 'prior_year_iso_week_start_date', 'prior_year_iso_week_end_date',
    'iso_week_of_year', 'prior_year_week_of_year', 'prior_year_iso_week_of_year'] -%}
{%- set months = ['month_of_year', 'month_name', 'month_name_short', 'month_start_date', 'month_end_date',
    'prior_year_month_start_date', 'prior_year_month_end_date', 'quarter_of_year', 'quarter_start_date', 'quarter_end_date',
    'year_number', 'year_start_date', 'year_end_date'] -%}
select
{%- for name in days + numbers + weeks + months %}
    {% if '_name' in name -%} {{ dbt_date.day_name('days.date_day') }}
    {%- elif '_of_' in name or 'number' in name -%} {{ dbt_date.lineage_number('day', 'days.date_day') }}
    {%- else -%} cast(days.date_day as date)
    {%- endif %} as {{ name }}{{ ',' if not loop.last }}
{%- endfor %}
from ({{ dbt_date.get_base_dates(start_date, end_date) }}) as days
{% endmacro %}
