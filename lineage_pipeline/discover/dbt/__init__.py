"""dbt projects → SQL: a project goes in; models as the objects that dbt would make, schemas and findings come out.

`project` reads what the files say, `nodes` names what they make, `session` renders, `templater` is the way in.
"""
