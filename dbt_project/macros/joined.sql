{# A list of words as one text, in order; null where there is no list. #}
{% macro joined(words) %}
    {{ return(adapter.dispatch('joined', 'lineage')(words)) }}
{% endmacro %}


{% macro default__joined(words) %}
    {{ return('array_to_string(' ~ words ~ ", ', ')") }}
{% endmacro %}


{% macro spark__joined(words) %}
    {{ return('array_join(' ~ words ~ ", ', ')") }}
{% endmacro %}
