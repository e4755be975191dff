{% macro concat(fields) %}{{ return(adapter.dispatch('concat', 'dbt')(fields)) }}{% endmacro %}
{% macro default__concat(fields) %}{{ fields | join(' || ') }}{% endmacro %}
{% macro bigquery__concat(fields) %}concat({{ fields | join(', ') }}){% endmacro %}
{% macro spark__concat(fields) %}concat({{ fields | join(', ') }}){% endmacro %}
{% macro sqlserver__concat(fields) %}concat({{ fields | join(', ') }}){% endmacro %}

{% macro hash(field) %}{{ return(adapter.dispatch('hash', 'dbt')(field)) }}{% endmacro %}
{% macro default__hash(field) %}md5(cast({{ field }} as {{ dbt.type_string() }})){% endmacro %}
{% macro bigquery__hash(field) %}to_hex(md5(cast({{ field }} as {{ dbt.type_string() }}))){% endmacro %}
{% macro sqlserver__hash(field) %}convert(varchar(50), hashbytes('md5', cast({{ field }} as varchar(8000))), 2){% endmacro %}

{% macro split_part(string_text, delimiter_text, part_number) %}{{ return(adapter.dispatch('split_part', 'dbt')(string_text, delimiter_text, part_number)) }}{% endmacro %}
{% macro default__split_part(string_text, delimiter_text, part_number) %}split_part({{ string_text }}, {{ delimiter_text }}, {{ part_number }}){% endmacro %}
{% macro bigquery__split_part(string_text, delimiter_text, part_number) %}split({{ string_text }}, {{ delimiter_text }})[safe_offset({{ part_number | int - 1 }})]{% endmacro %}
{% macro spark__split_part(string_text, delimiter_text, part_number) %}split({{ string_text }}, {{ delimiter_text }})[{{ part_number | int - 1 }}]{% endmacro %}

{% macro listagg(measure, delimiter_text="','", order_by_clause=none, limit_num=none) %}{{ return(adapter.dispatch('listagg', 'dbt')(measure, delimiter_text, order_by_clause, limit_num)) }}{% endmacro %}
{% macro default__listagg(measure, delimiter_text, order_by_clause, limit_num) %}listagg({{ measure }}, {{ delimiter_text }}){% if order_by_clause %} within group ({{ order_by_clause }}){% endif %}{% endmacro %}
{% macro bigquery__listagg(measure, delimiter_text, order_by_clause, limit_num) %}string_agg({{ measure }}, {{ delimiter_text }}{% if order_by_clause %} {{ order_by_clause }}{% endif %}){% endmacro %}
{% macro postgres__listagg(measure, delimiter_text, order_by_clause, limit_num) %}string_agg({{ measure }}, {{ delimiter_text }}{% if order_by_clause %} {{ order_by_clause }}{% endif %}){% endmacro %}
{% macro redshift__listagg(measure, delimiter_text, order_by_clause, limit_num) %}listagg({{ measure }}, {{ delimiter_text }}){% if order_by_clause %} within group ({{ order_by_clause }}){% endif %}{% endmacro %}
{% macro duckdb__listagg(measure, delimiter_text, order_by_clause, limit_num) %}string_agg({{ measure }}, {{ delimiter_text }}{% if order_by_clause %} {{ order_by_clause }}{% endif %}){% endmacro %}
{% macro spark__listagg(measure, delimiter_text, order_by_clause, limit_num) %}array_join(collect_list({{ measure }}), {{ delimiter_text }}){% endmacro %}

{% macro string_literal(value) %}'{{ value }}'{% endmacro %}
{% macro escape_single_quotes(expression) %}{{ return(expression | replace("'", "''")) }}{% endmacro %}
{% macro length(expression) %}length({{ expression }}){% endmacro %}
{% macro replace(field, old_chars, new_chars) %}replace({{ field }}, {{ old_chars }}, {{ new_chars }}){% endmacro %}
{% macro position(substring_text, string_text) %}position({{ substring_text }} in {{ string_text }}){% endmacro %}
{% macro right(string_text, length_expression) %}right({{ string_text }}, {{ length_expression }}){% endmacro %}
{% macro except() %}except{% if target.type == 'bigquery' %} distinct{% endif %}{% endmacro %}
{% macro intersect() %}intersect{% if target.type == 'bigquery' %} distinct{% endif %}{% endmacro %}
