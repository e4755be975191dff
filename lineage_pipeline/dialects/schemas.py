"""Schemas in which objects live whose names say none, where no setting says otherwise."""

USUAL = {"tsql": "dbo"}
"""By the family of the dialect: whoever names the schema means the same object as who does not."""
