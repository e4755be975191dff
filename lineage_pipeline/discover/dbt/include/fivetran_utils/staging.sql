{% macro fill_staging_columns(source_columns, staging_columns) %}
{%- for column in staging_columns %}
{{ adapter.quote(column.name) if column.get('quote') else column.name }} as {{ column.alias if 'alias' in column else column.name }}{% if not loop.last %},{% endif %}
{%- endfor %}
{% endmacro %}
{% macro source_relation(union_schema_variable='union_schemas', union_database_variable='union_databases') %}{% endmacro %}
{% macro add_pass_through_columns(base_columns, pass_through_fields=[]) %}
{%- for field in pass_through_fields or [] %}{% do base_columns.append({"name": field.name, "alias": field.alias, "datatype": field.datatype} if field is mapping else {"name": field}) %}{% endfor -%}
{% endmacro %}
{% macro fill_pass_through_columns(pass_through_variable) %}
{%- for field in var(pass_through_variable, []) or [] %}, {% if field is mapping %}{{ field.alias or field.name }}{% else %}{{ field }}{% endif %}{% endfor -%}
{% endmacro %}
{% macro persist_pass_through_columns(pass_through_variable, identifier=none, transform='', coalesce_with=none, exclude_fields=[]) %}
{%- for field in var(pass_through_variable, []) or [] %}, {{ transform }}({% if identifier %}{{ identifier }}.{% endif %}{{ field.alias or field.name if field is mapping else field }}) as {{ field.alias or field.name if field is mapping else field }}{% endfor -%}
{% endmacro %}
{% macro remove_prefix_from_columns(columns, prefix='', exclude=[]) %}
{%- for column in columns %}, {{ column.name }} as {{ column.name | replace(prefix, '') }}{% endfor -%}
{% endmacro %}
{% macro union_data(table_identifier, database_variable, schema_variable, default_database, default_schema, default_variable, union_schema_variable='union_schemas', union_database_variable='union_databases') %}
select * from {{ var(default_variable, default_schema ~ '.' ~ table_identifier) }}
{% endmacro %}
{% macro enabled_vars(vars) %}{% for name in vars if not var(name, true) %}{{ return(false) }}{% endfor %}{{ return(true) }}{% endmacro %}
{% macro enabled_vars_one_true(vars) %}{% for name in vars if var(name, false) %}{{ return(true) }}{% endfor %}{{ return(false) }}{% endmacro %}
{% macro try_cast(field, type) %}{{ return(dbt.safe_cast(field, type)) }}{% endmacro %}
{% macro string_agg(field_to_agg, delimiter) %}{{ return(dbt.listagg(field_to_agg, delimiter)) }}{% endmacro %}
{% macro array_agg(field_to_agg) %}array_agg({{ field_to_agg }}){% endmacro %}
{% macro max_bool(boolean_field) %}max({{ boolean_field }}){% endmacro %}
{% macro timestamp_add(datepart, interval, from_timestamp) %}{{ return(dbt.dateadd(datepart, interval, from_timestamp)) }}{% endmacro %}
{% macro timestamp_diff(first_date, second_date, datepart) %}{{ return(dbt.datediff(first_date, second_date, datepart)) }}{% endmacro %}
{% macro percentile(percentile_field, partition_field, percent) %}percentile_cont({{ percent }}) within group (order by {{ percentile_field }}){% endmacro %}
{% macro first_value(first_value_field, partition_field, order_by_field, order='asc') %}first_value({{ first_value_field }}) over (partition by {{ partition_field }} order by {{ order_by_field }} {{ order }}){% endmacro %}
{% macro json_parse(string, string_path) %}json_extract_path_text({{ string }}, {% for one in string_path %}'{{ one }}'{% if not loop.last %}, {% endif %}{% endfor %}){% endmacro %}
{% macro json_extract(string, string_path) %}json_extract_path_text({{ string }}, '{{ string_path }}'){% endmacro %}
{% macro calculated_fields(variable) %}{% for field in var(variable, []) or [] %}, {{ field.transform_sql }} as {{ field.name }}{% endfor %}{% endmacro %}
{% macro ceiling(num) %}ceiling({{ num }}){% endmacro %}
{% macro drop_schemas_automation(drop_target_schema=true) %}{% endmacro %}
{% macro snowflake_seed_data(seed_name) %}{{ return(seed_name) }}{% endmacro %}
{% macro seed_data_helper(seed_name, warehouses) %}{{ return(seed_name) }}{% endmacro %}
{% macro wrap_in_quotes(object_to_quote) %}{{ return(adapter.quote(object_to_quote)) }}{% endmacro %}
{% macro extract_url_parameter(field, url_parameter) %}{{ return(dbt_utils.get_url_parameter(field, url_parameter)) }}{% endmacro %}
{% macro apply_source_relation(package_name='') %}{% endmacro %}
{% macro partition_by_source_relation(package_name='', has_other_partitions='yes', alias=none) %}{% endmacro %}
{% macro union_connections(connection_dictionary, single_source_name, single_table_name, default_identifier=none) %}
{%- set tables = [] -%}
{%- for one in var(connection_dictionary, []) or [] if one is mapping and one.name %}{% do tables.append(source(one.name, single_table_name)) %}{% endfor -%}
{%- if tables -%}
{{ dbt_utils.union_relations(tables, source_column_name='source_relation') }}
{%- else -%}
select * from {{ source(single_source_name, single_table_name) }}
{%- endif -%}
{% endmacro %}
