"""dbt projects → SQL: a project goes in; models as the objects dbt would build, schemas and findings come out.

`project` reads the files, `nodes` lists what they define, `session` renders, `templater` is the entry.
"""
