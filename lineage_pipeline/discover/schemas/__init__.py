"""Schemas that are known from elsewhere: files, dumps, dbt artefacts and live catalogs → what the engine imports.

A reader gives tables as they are called where they come from; `folding` gives them the names that the analysis uses.
"""
