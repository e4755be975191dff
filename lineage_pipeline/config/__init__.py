"""Configuration: flags over `LINEAGE_*` variables over lineage.toml or `[tool.lineage]` over defaults.

`models` are the tables of the settings file, `load` merges the layers into one frozen `Settings`.
"""
