{# The columns together name each row once, and none of them is null unless it may be. #}
{% test is_key(model, columns, nullable=[]) %}
select
    {{ columns | join(', ') }},
    count(*) as occurrences
from {{ model }}
group by {{ columns | join(', ') }}
having
    count(*) > 1
    {% for column in columns if column not in nullable %}
    or {{ column }} is null
    {% endfor %}
{% endtest %}
