{# Shows each table's published files as a view. The files come as a list from the manifests, never from a glob, which
   would see runs that are not published. The list is a file of its own (LINEAGE_FILES, or the var `lineage_files`),
   because an argument or a variable of the environment is too short for it. #}
{% macro create_source_views() %}
    {% if execute %}
        {% if target.database in ['lineage', 'staging', 'marts'] %}
            {% do exceptions.raise_compiler_error(
                'LINEAGE_MARTS needs another name: DuckDB cannot tell the file ' ~ target.database ~ ' from the schema'
            ) %}
        {% endif %}
        {% set files = published_files() %}
        {% for source in graph.sources.values() if source.source_name == 'lineage' %}
            {% if loop.first %}
                {% do run_query('create schema if not exists ' ~ source.schema) %}
            {% endif %}
            {% set relation = source.schema ~ '.' ~ source.name %}
            {% set query = read_files(files[source.name], source.columns.keys() | list) %}
            {% do run_query('create or replace view ' ~ relation ~ ' as ' ~ query) %}
        {% endfor %}
    {% endif %}
{% endmacro %}


{% macro published_files() %}
    {% set listing = var('lineage_files', env_var('LINEAGE_FILES', '')) %}
    {% if not listing %}
        {% do exceptions.raise_compiler_error('LINEAGE_FILES must name the list of published files') %}
    {% endif %}
    {% if listing is mapping %}
        {% do return(listing) %}
    {% endif %}
    {% do return(fromjson(adapter.dispatch('read_text', 'lineage')(listing))) %}
{% endmacro %}


{% macro default__read_text(path) %}
    {% do return(run_query("select content from read_text('" ~ path | replace("'", "''") ~ "')").columns[0][0]) %}
{% endmacro %}


{% macro spark__read_text(path) %}
    {% do return(run_query('select value from text.`' ~ path ~ '`').columns[0][0]) %}
{% endmacro %}


{% macro read_files(files, columns) %}
    {% do return(adapter.dispatch('read_files', 'lineage')(files, columns)) %}
{% endmacro %}


{# The paths hold `snapshot=` too, percent-encoded; the column of the file is the one that counts. #}
{% macro default__read_files(files, columns) %}
    {% set quoted = [] %}
    {% for file in files %}
        {% do quoted.append("'" ~ file | replace("'", "''") ~ "'") %}
    {% endfor %}
    {% do return(
        'select * from read_parquet([' ~ quoted | join(', ') ~ '], hive_partitioning = false, union_by_name = true)'
    ) %}
{% endmacro %}


{# Spark's SQL has no list of files, but patterns: all of them in braces, behind the folder that they share. Files of
   older versions lack the newest columns; a view remembers the settings under which it was made. #}
{% macro spark__read_files(files, columns) %}
    {% do run_query('set spark.sql.parquet.mergeSchema = true') %}
    {% set parts = files[0].split('/')[:-1] %}
    {% set shared = namespace(depth=parts | length) %}
    {% for file in files %}
        {% set own = file.split('/') %}
        {% for part in parts %}
            {% if loop.index0 < shared.depth and own[loop.index0] != part %}
                {% set shared.depth = loop.index0 %}
            {% endif %}
        {% endfor %}
    {% endfor %}
    {% set names = [] %}
    {% for column in columns %}
        {% do names.append('`' ~ column ~ '`') %}
    {% endfor %}
    {% set rest = [] %}
    {% for file in files %}
        {% do rest.append(file.split('/')[shared.depth:] | join('/')) %}
    {% endfor %}
    {% set pattern = (parts[:shared.depth] + ['{' ~ rest | join(',') ~ '}']) | join('/') %}
    {% do return('select ' ~ names | join(', ') ~ ' from parquet.`' ~ pattern ~ '`') %}
{% endmacro %}
