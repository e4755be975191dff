{# A part of a whole from 0 to 1; null where there is no whole. #}
{% macro share(part, whole) -%}
    cast({{ part }} as double) / nullif({{ whole }}, 0)
{%- endmacro %}
