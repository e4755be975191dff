{% macro safe_cast(field, type) %}{{ return(adapter.dispatch('safe_cast', 'dbt')(field, type)) }}{% endmacro %}
{% macro default__safe_cast(field, type) %}cast({{ field }} as {{ type }}){% endmacro %}
{% macro bigquery__safe_cast(field, type) %}safe_cast({{ field }} as {{ type }}){% endmacro %}
{% macro snowflake__safe_cast(field, type) %}try_cast({{ field }} as {{ type }}){% endmacro %}
{% macro duckdb__safe_cast(field, type) %}try_cast({{ field }} as {{ type }}){% endmacro %}
{% macro spark__safe_cast(field, type) %}try_cast({{ field }} as {{ type }}){% endmacro %}
{% macro sqlserver__safe_cast(field, type) %}try_cast({{ field }} as {{ type }}){% endmacro %}
{% macro trino__safe_cast(field, type) %}try_cast({{ field }} as {{ type }}){% endmacro %}
{% macro cast(field, type) %}cast({{ field }} as {{ type }}){% endmacro %}
{% macro cast_bool_to_text(field) %}cast({{ field }} as {{ dbt.type_string() }}){% endmacro %}

{% macro type_string() %}{{ return(adapter.dispatch('type_string', 'dbt')()) }}{% endmacro %}
{% macro default__type_string() %}varchar{% endmacro %}
{% macro bigquery__type_string() %}string{% endmacro %}
{% macro spark__type_string() %}string{% endmacro %}
{% macro postgres__type_string() %}text{% endmacro %}
{% macro redshift__type_string() %}varchar(65535){% endmacro %}
{% macro sqlserver__type_string() %}varchar(8000){% endmacro %}

{% macro type_timestamp() %}{{ return(adapter.dispatch('type_timestamp', 'dbt')()) }}{% endmacro %}
{% macro default__type_timestamp() %}timestamp{% endmacro %}
{% macro snowflake__type_timestamp() %}timestamp_ntz{% endmacro %}
{% macro sqlserver__type_timestamp() %}datetime2(6){% endmacro %}

{% macro type_float() %}{{ return(adapter.dispatch('type_float', 'dbt')()) }}{% endmacro %}
{% macro default__type_float() %}float{% endmacro %}
{% macro bigquery__type_float() %}float64{% endmacro %}
{% macro trino__type_float() %}double{% endmacro %}

{% macro type_numeric() %}{{ return(adapter.dispatch('type_numeric', 'dbt')()) }}{% endmacro %}
{% macro default__type_numeric() %}numeric(28, 6){% endmacro %}
{% macro bigquery__type_numeric() %}numeric{% endmacro %}
{% macro spark__type_numeric() %}decimal(28, 6){% endmacro %}
{% macro trino__type_numeric() %}decimal(28, 6){% endmacro %}

{% macro type_int() %}{{ return(adapter.dispatch('type_int', 'dbt')()) }}{% endmacro %}
{% macro default__type_int() %}integer{% endmacro %}
{% macro bigquery__type_int() %}int64{% endmacro %}
{% macro spark__type_int() %}int{% endmacro %}

{% macro type_bigint() %}{{ return(adapter.dispatch('type_bigint', 'dbt')()) }}{% endmacro %}
{% macro default__type_bigint() %}bigint{% endmacro %}
{% macro bigquery__type_bigint() %}int64{% endmacro %}

{% macro type_boolean() %}{{ return(adapter.dispatch('type_boolean', 'dbt')()) }}{% endmacro %}
{% macro default__type_boolean() %}boolean{% endmacro %}
{% macro bigquery__type_boolean() %}bool{% endmacro %}
{% macro sqlserver__type_boolean() %}bit{% endmacro %}

{% macro bool_or(expression) %}{{ return(adapter.dispatch('bool_or', 'dbt')(expression)) }}{% endmacro %}
{% macro default__bool_or(expression) %}bool_or({{ expression }}){% endmacro %}
{% macro bigquery__bool_or(expression) %}logical_or({{ expression }}){% endmacro %}
{% macro snowflake__bool_or(expression) %}boolor_agg({{ expression }}){% endmacro %}
{% macro any_value(expression) %}any_value({{ expression }}){% endmacro %}
{% macro equals(one, other) %}(({{ one }} = {{ other }}) or ({{ one }} is null and {{ other }} is null)){% endmacro %}

{% macro array_construct(inputs=[], data_type=none) %}{{ return(adapter.dispatch('array_construct', 'dbt')(inputs)) }}{% endmacro %}
{% macro default__array_construct(inputs) %}array[{{ inputs | join(', ') }}]{% endmacro %}
{% macro bigquery__array_construct(inputs) %}[{{ inputs | join(', ') }}]{% endmacro %}
{% macro snowflake__array_construct(inputs) %}array_construct({{ inputs | join(', ') }}){% endmacro %}
{% macro spark__array_construct(inputs) %}array({{ inputs | join(', ') }}){% endmacro %}
{% macro array_append(array, new_element) %}array_append({{ array }}, {{ new_element }}){% endmacro %}
{% macro array_concat(array_1, array_2) %}array_cat({{ array_1 }}, {{ array_2 }}){% endmacro %}
{% macro get_columns_in_query(sql) %}{{ return([]) }}{% endmacro %}
{% macro create_schema(relation) %}{% endmacro %}
{% macro get_where_subquery(relation) %}{{ return(relation) }}{% endmacro %}
