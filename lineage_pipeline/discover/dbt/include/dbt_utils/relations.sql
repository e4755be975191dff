{% macro star(from, relation_alias=false, except=[], prefix='', suffix='', quote_identifiers=true) %}
{%- set hidden = except | map('lower') | list -%}
{%- set known = adapter.lineage_columns(from) if from is not string else [] -%}
{%- set shown = [] -%}
{%- for column in known if column.name | lower not in hidden %}{% do shown.append(column.name) %}{% endfor -%}
{%- if (prefix or suffix) and shown -%}
    {%- for name in shown %}{% if relation_alias %}{{ relation_alias }}.{% endif %}{{ name }} as {{ prefix ~ name ~ suffix }}{% if not loop.last %}, {% endif %}{% endfor -%}
{%- else -%}
    {%- if relation_alias %}{{ relation_alias }}.{% endif %}*{{ dbt_utils.lineage_without(except) }}
{%- endif -%}
{% endmacro %}

{% macro lineage_without(names) %}{{ return(adapter.dispatch('lineage_without', 'dbt_utils')(names)) }}{% endmacro %}
{% macro default__lineage_without(names) %}{% if names %} exclude ({{ names | join(', ') }}){% endif %}{% endmacro %}
{% macro bigquery__lineage_without(names) %}{% if names %} except ({{ names | join(', ') }}){% endif %}{% endmacro %}
{% macro spark__lineage_without(names) %}{% if names %} except ({{ names | join(', ') }}){% endif %}{% endmacro %}
{% macro clickhouse__lineage_without(names) %}{% if names %} except ({{ names | join(', ') }}){% endif %}{% endmacro %}

{% macro union_relations(relations, column_override=none, include=[], exclude=[], source_column_name='_dbt_source_relation', where=none) %}
{%- for relation in relations %}
(
    select
        {% if source_column_name is not none %}cast('{{ relation }}' as {{ dbt.type_string() }}) as {{ source_column_name }},{% endif %}
        {% if include %}{{ include | join(', ') }}{% else %}*{{ dbt_utils.lineage_without(exclude) }}{% endif %}
    from {{ relation }}
    {% if where %}where {{ where }}{% endif %}
)
{% if not loop.last %}{{ dbt_utils.lineage_union() }}{% endif %}
{%- endfor -%}
{% endmacro %}

{% macro lineage_union() %}{{ return(adapter.dispatch('lineage_union', 'dbt_utils')()) }}{% endmacro %}
{% macro default__lineage_union() %}union all by name{% endmacro %}
{% macro sqlserver__lineage_union() %}union all{% endmacro %}
{% macro fabric__lineage_union() %}union all{% endmacro %}
{% macro synapse__lineage_union() %}union all{% endmacro %}

{% macro deduplicate(relation, partition_by, order_by=none) %}
select * from (
    select deduplicated.*, row_number() over (partition by {{ partition_by }}{% if order_by %} order by {{ order_by }}{% endif %}) as rn
    from {{ relation }} as deduplicated
) as numbered
where rn = 1
{% endmacro %}

{% macro unpivot(relation=none, cast_to='varchar', exclude=none, remove=none, field_name='field_name', value_name='value', quote_identifiers=false, table=none) %}
{%- set from = relation or table -%}
{%- set kept = exclude or [] -%}
{%- set hidden = (kept + (remove or [])) | map('lower') | list -%}
{%- set shown = [] -%}
{%- for column in adapter.lineage_columns(from) if column.name | lower not in hidden %}{% do shown.append(column.name) %}{% endfor -%}
{%- if shown -%}
{%- for name in shown %}
select {% for one in kept %}{{ one }}, {% endfor %}cast('{{ name }}' as {{ dbt.type_string() }}) as {{ field_name }}, cast({{ name }} as {{ cast_to }}) as {{ value_name }}
from {{ from }}
{% if not loop.last %}union all{% endif %}
{%- endfor -%}
{%- else -%}
select {% for one in kept %}{{ one }}, {% endfor %}cast(null as {{ dbt.type_string() }}) as {{ field_name }}, cast(null as {{ cast_to }}) as {{ value_name }}
from {{ from }}
{%- endif -%}
{% endmacro %}

{% macro pivot(column, values, alias=true, agg='sum', cmp='=', prefix='', suffix='', then_value=1, else_value=0, quote_identifiers=true, distinct=false) %}
{%- for value in values %}
{{ agg }}({% if distinct %}distinct {% endif %}case when {{ column }} {{ cmp }} '{{ value | string | replace("'", "''") }}' then {{ then_value }} else {{ else_value }} end)
{%- if alias %} as {{ adapter.quote(prefix ~ value ~ suffix) if quote_identifiers else dbt_utils.slugify(prefix ~ value ~ suffix) }}{% endif %}
{%- if not loop.last %},{% endif %}
{%- endfor -%}
{%- if not values %}{{ agg }}(case when {{ column }} is not null then {{ then_value }} else {{ else_value }} end) as {{ prefix }}pivoted{{ suffix }}{% endif -%}
{% endmacro %}

{% macro get_column_values(table, column, order_by='', max_records=none, default=none, where=none) %}
{%- set found = run_query('select ' ~ column ~ ' from ' ~ table) -%}
{{ return(default if default is not none else found.columns[0].values()) }}
{% endmacro %}
{% macro get_filtered_columns_in_relation(from, except=[]) %}
{%- set hidden = except | map('lower') | list -%}
{%- set shown = [] -%}
{%- for column in adapter.lineage_columns(from) if column.name | lower not in hidden %}{% do shown.append(column.name) %}{% endfor -%}
{{ return(shown) }}
{% endmacro %}
{% macro get_relations_by_pattern(schema_pattern, table_pattern, exclude='', database=none) %}{% do run_query('') %}{{ return([api.Relation.create(schema=schema_pattern, identifier='undefined_relation')]) }}{% endmacro %}
{% macro get_relations_by_prefix(schema, prefix, exclude='', database=none) %}{% do run_query('') %}{{ return([api.Relation.create(schema=schema, identifier='undefined_relation')]) }}{% endmacro %}
{% macro get_query_results_as_dict(query) %}{% do run_query(query) %}{{ return({}) }}{% endmacro %}
{% macro get_single_value(query, default=none) %}{% do run_query(query) %}{{ return(default) }}{% endmacro %}
{% macro get_tables_by_prefix_sql(schema, prefix, exclude='', database='') %}select null as table_schema, null as table_name{% endmacro %}
{% macro nullcheck_table(relation) %}select * from {{ relation }}{% endmacro %}
