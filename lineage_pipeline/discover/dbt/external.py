"""Sources that are files: where an adapter reads them from, as it writes it into the query."""

import re
from collections.abc import Mapping
from string import Template
from typing import Any

from lineage_pipeline.discover.dbt.documents import mapping
from lineage_pipeline.discover.dbt.nodes import SourceTable
from lineage_pipeline.discover.dbt.relations import Relation

LOCATION, FORMATTER, PLUGIN = "external_location", "formatter", "plugin"
QUOTED = re.compile(r"'([^']*)'")


class External(Relation):
    """A table that is read from files: it prints as their place, or as the function that reads them."""

    def __init__(self, relation: Relation, location: str) -> None:
        """Take the name that it has besides, and where it is read from."""
        super().__init__(
            relation.adapter, relation.database, relation.schema, relation.identifier, relation.type, relation.quoting
        )
        self.location = location

    def __str__(self) -> str:
        """Print the place."""
        return self.location

    @property
    def parts(self) -> tuple[tuple[str, bool], ...]:
        """Give the files as the one part of their name."""
        found = QUOTED.search(self.location)
        return ((_address(found[1]), True),) if found is not None else super().parts


def _address(place: str) -> str:
    """Give the name of files as lineage has it."""
    return place if "://" in place else f"file://{place if place.startswith('/') else './' + place}"


def located(relation: Relation, found: SourceTable, table: str) -> Relation:
    """Give a table of a source, read from where its settings say, if the adapter reads files."""
    settings = _said(found)
    template = settings.get(LOCATION)
    if not relation.adapter.reads_files or not isinstance(template, str) or settings.get(PLUGIN):
        return relation
    names = {
        "name": table,
        "identifier": relation.identifier,
        "schema": relation.schema,
        "database": relation.database,
        **settings,
    }
    location = _formatted(template, str(settings.get(FORMATTER) or "newstyle"), names)
    if location is None:
        return relation
    return External(relation, location if "(" in location or location.startswith("'") else f"'{location}'")


def _said(found: SourceTable) -> dict[str, Any]:
    """Give what the source and the table say, in `meta` or in `config`, the table last."""
    said: dict[str, Any] = {}
    for entry in (found.source, found.table):
        said |= mapping(entry.get("meta")) | mapping(mapping(entry.get("config")).get("meta"))
    for entry in (found.source, found.table):
        said |= {key: value for key, value in mapping(entry.get("config")).items() if key != "meta"}
    return said


def _formatted(template: str, formatter: str, names: Mapping[str, Any]) -> str | None:
    """Give a place with its names filled in as the source says, or None where that cannot be done."""
    try:
        match formatter:
            case "newstyle":
                return re.sub(r"\{\{|\}\}|\{(\w+)\}", lambda field: _field(field, names), template)
            case "oldstyle":
                return template % names
            case "template":
                return Template(template).substitute({key: str(value) for key, value in names.items()})
    except (KeyError, ValueError, TypeError):
        pass
    return None


def _field(match: re.Match[str], names: Mapping[str, Any]) -> str:
    return str(names[match[1]]) if match[1] else match[0][0]
