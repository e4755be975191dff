"""Imported schemas: files, dumps, dbt artifacts and live catalogs → the schemas that the engine imports.

A reader returns tables under the names of their source; `normalize` gives them the object ids of the analysis.
"""
