{# Lists of words: what DuckDB and Spark call differently. #}

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


{# One row for each item of a list. #}
{% macro exploded(items) %}
    {{ return(adapter.dispatch('exploded', 'lineage')(items)) }}
{% endmacro %}


{% macro default__exploded(items) %}
    {{ return('unnest(' ~ items ~ ')') }}
{% endmacro %}


{% macro spark__exploded(items) %}
    {{ return('explode(' ~ items ~ ')') }}
{% endmacro %}


{# How many items a list has; none where there is no list. #}
{% macro length_of(items) %}
    {{ return('cast(coalesce(' ~ adapter.dispatch('length_of', 'lineage')(items) ~ ', 0) as bigint)') }}
{% endmacro %}


{% macro default__length_of(items) %}
    {{ return('len(' ~ items ~ ')') }}
{% endmacro %}


{% macro spark__length_of(items) %}
    {{ return('array_size(' ~ items ~ ')') }}
{% endmacro %}


{# The first item of a list, or null. #}
{% macro first_of(items) %}
    {{ return(adapter.dispatch('first_of', 'lineage')(items)) }}
{% endmacro %}


{% macro default__first_of(items) %}
    {{ return(items ~ '[1]') }}
{% endmacro %}


{% macro spark__first_of(items) %}
    {{ return('get(' ~ items ~ ', 0)') }}
{% endmacro %}
