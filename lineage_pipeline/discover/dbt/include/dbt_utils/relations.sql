{% macro star(from, relation_alias=false, except=[], prefix='', suffix='', quote_identifiers=true) %}
{%- set known = dbt_utils.lineage_remaining(adapter.lineage_columns(from), except) -%}
{%- if known -%}
    {%- for column in known -%}
        {%- if relation_alias %}{{ relation_alias }}.{% endif -%}
        {{ adapter.quote(column.name) if quote_identifiers else column.name }}
        {%- if prefix or suffix %} as {{ adapter.quote(prefix ~ column.name ~ suffix) if quote_identifiers else prefix ~ column.name ~ suffix }}{% endif -%}
        {%- if not loop.last %}, {% endif -%}
    {%- endfor -%}
{%- else -%}
    {%- if prefix or suffix %}{% do adapter.get_columns_in_relation(from) %}{% endif -%}
    {%- if relation_alias %}{{ relation_alias }}.{% endif %}*{{ dbt_utils.lineage_without(except) }}
{%- endif -%}
{% endmacro %}

{% macro lineage_remaining(columns, hidden) %}
{%- set names = (hidden or []) | map('lower') | list -%}
{%- set shown = [] -%}
{%- for column in columns if column.name | lower not in names %}{% do shown.append(column) %}{% endfor -%}
{{ return(shown) }}
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
        {{ dbt_utils.lineage_united(relation, column_override or {}, include, exclude) }}
    from {{ relation }}
    {% if where %}where {{ where }}{% endif %}
)
{% if not loop.last %}{{ dbt_utils.lineage_union() }}{% endif %}
{%- endfor -%}
{% endmacro %}

{% macro lineage_united(relation, types, include, exclude) %}
{%- set known = adapter.lineage_columns(relation) -%}
{%- set names = known | map(attribute='name') | map('lower') | list -%}
{%- set parts = [] -%}
{%- if include -%}
    {%- for name in include -%}
        {%- do parts.append((name if not known or name | lower in names else 'cast(null as ' ~ types.get(name, dbt.type_string()) ~ ') as ' ~ name, name)) -%}
    {%- endfor -%}
{%- elif (types or exclude) and known -%}
    {%- for column in dbt_utils.lineage_remaining(known, exclude) %}{% do parts.append((column.quoted, column.name)) %}{% endfor -%}
{%- else -%}
    {%- do parts.append(('*' ~ dbt_utils.lineage_without(exclude), none)) -%}
{%- endif -%}
{%- for text, name in parts -%}
    {%- if name in types and ' as ' not in text %}cast({{ text }} as {{ types[name] }}) as {{ text }}{% else %}{{ text }}{% endif -%}
    {%- if not loop.last %}, {% endif -%}
{%- endfor -%}
{% endmacro %}

{% macro lineage_union() %}{{ return(adapter.dispatch('lineage_union', 'dbt_utils')()) }}{% endmacro %}
{% macro default__lineage_union() %}union all by name{% endmacro %}
{% macro sqlserver__lineage_union() %}union all{% endmacro %}
{% macro fabric__lineage_union() %}union all{% endmacro %}
{% macro synapse__lineage_union() %}union all{% endmacro %}

{% macro deduplicate(relation, partition_by, order_by=none) %}{{ return(adapter.dispatch('deduplicate', 'dbt_utils')(relation, partition_by, order_by)) }}{% endmacro %}
{% macro default__deduplicate(relation, partition_by, order_by=none) %}
select deduplicated.*
from {{ relation }} as deduplicated
qualify row_number() over (partition by {{ partition_by }}{% if order_by %} order by {{ order_by }}{% endif %}) = 1
{% endmacro %}
{% macro postgres__deduplicate(relation, partition_by, order_by=none) %}
select distinct on ({{ partition_by }}) *
from {{ relation }}
order by {{ partition_by }}{% if order_by %}, {{ order_by }}{% endif %}
{% endmacro %}
{% macro redshift__deduplicate(relation, partition_by, order_by=none) %}{{ return(dbt_utils.default__deduplicate(relation, partition_by, order_by)) }}{% endmacro %}

{% macro unpivot(relation=none, cast_to='varchar', exclude=none, remove=none, field_name='field_name', value_name='value', quote_identifiers=false, table=none) %}
{%- set from = relation or table -%}
{%- set kept = exclude or [] -%}
{%- set shown = dbt_utils.lineage_remaining(adapter.get_columns_in_relation(from), kept + (remove or [])) -%}
{%- for column in shown %}
select
    {% for one in kept %}{{ adapter.quote(one) if quote_identifiers else one }}, {% endfor %}
    cast('{{ column.name }}' as {{ dbt.type_string() }}) as {{ adapter.quote(field_name) if quote_identifiers else field_name }},
    cast({{ column.quoted if quote_identifiers else column.name }} as {{ cast_to }}) as {{ adapter.quote(value_name) if quote_identifiers else value_name }}
from {{ from }}
{% if not loop.last %}union all{% endif %}
{%- endfor -%}
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
{{ return(dbt_utils.lineage_remaining(adapter.get_columns_in_relation(from), except) | map(attribute='name') | list) }}
{% endmacro %}
{% macro get_relations_by_pattern(schema_pattern, table_pattern, exclude='', database=none) %}{% do run_query('') %}{{ return([api.Relation.create(schema=schema_pattern, identifier='undefined_relation')]) }}{% endmacro %}
{% macro get_relations_by_prefix(schema, prefix, exclude='', database=none) %}{% do run_query('') %}{{ return([api.Relation.create(schema=schema, identifier='undefined_relation')]) }}{% endmacro %}
{% macro get_query_results_as_dict(query) %}{% do run_query(query) %}{{ return({}) }}{% endmacro %}
{% macro get_single_value(query, default=none) %}{% do run_query(query) %}{{ return(default) }}{% endmacro %}
{% macro get_tables_by_prefix_sql(schema, prefix, exclude='', database='') %}select null as table_schema, null as table_name{% endmacro %}
{% macro nullcheck_table(relation) %}select * from {{ relation }}{% endmacro %}
