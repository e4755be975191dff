{% macro generate_schema_name_for_env(custom_schema_name, node) %}
{%- if target.name == 'prod' and custom_schema_name is not none %}{{ custom_schema_name | trim }}{% else %}{{ target.schema }}{% endif -%}
{% endmacro %}
{% macro default__generate_schema_name(custom_schema_name, node) %}
{%- if custom_schema_name is none %}{{ target.schema }}{% elif target.schema %}{{ target.schema }}_{{ custom_schema_name | trim }}{% else %}{{ custom_schema_name | trim }}{% endif -%}
{% endmacro %}
{% macro default__generate_alias_name(custom_alias_name=none, node=none) %}
{%- if custom_alias_name %}{{ custom_alias_name | trim }}{% elif node.version %}{{ node.name ~ '_v' ~ (node.version | replace('.', '_')) }}{% else %}{{ node.name }}{% endif -%}
{% endmacro %}
{% macro default__generate_database_name(custom_database_name=none, node=none) %}
{%- if custom_database_name is none %}{{ target.database }}{% else %}{{ custom_database_name }}{% endif -%}
{% endmacro %}
