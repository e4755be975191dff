"""dbt sources that are files (`external_location` of dbt-duckdb): the query reads their location."""

import re
from collections.abc import Mapping
from string import Template
from typing import Any

from lineage_pipeline.discover.dbt.nodes import SourceTable
from lineage_pipeline.discover.dbt.relation import DbtRelation
from lineage_pipeline.discover.dbt.yaml_files import as_mapping

LOCATION, FORMATTER, PLUGIN = "external_location", "formatter", "plugin"
QUOTED_LOCATION = re.compile(r"'([^']*)'")


class ExternalRelation(DbtRelation):
    """A table that is read from files: it prints as their location, or as the function that reads them."""

    def __init__(self, relation: DbtRelation, location: str) -> None:
        """Store the relation, and the location it is read from."""
        super().__init__(
            relation.adapter, relation.database, relation.schema, relation.identifier, relation.type, relation.quoting
        )
        self.location = location

    def __str__(self) -> str:
        """Return the location."""
        return self.location

    @property
    def parts(self) -> tuple[tuple[str, bool], ...]:
        """Return the file address as the only part of the name."""
        found = QUOTED_LOCATION.search(self.location)
        return ((_file_address(found[1]), True),) if found is not None else super().parts


def _file_address(place: str) -> str:
    """Return the address of a file location as it is named in the lineage."""
    return place if "://" in place else f"file://{place if place.startswith('/') else './' + place}"


def apply_external_location(relation: DbtRelation, found: SourceTable, table: str) -> DbtRelation:
    """Return a source table read from its configured location, if the adapter reads files."""
    settings = _source_settings(found)
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
    location = _format_location(template, str(settings.get(FORMATTER) or "newstyle"), names)
    if location is None:
        return relation
    return ExternalRelation(relation, location if "(" in location or location.startswith("'") else f"'{location}'")


def _source_settings(found: SourceTable) -> dict[str, Any]:
    """Return the settings of source and table in `meta` and `config`; the table overrides the source."""
    said: dict[str, Any] = {}
    for entry in (found.source, found.table):
        said |= as_mapping(entry.get("meta")) | as_mapping(as_mapping(entry.get("config")).get("meta"))
    for entry in (found.source, found.table):
        said |= {key: value for key, value in as_mapping(entry.get("config")).items() if key != "meta"}
    return said


def _format_location(template: str, formatter: str, names: Mapping[str, Any]) -> str | None:
    """Fill the placeholders of a location with the source's formatter, or return None where that fails."""
    try:
        match formatter:
            case "newstyle":
                return re.sub(r"\{\{|\}\}|\{(\w+)\}", lambda field: _fill_field(field, names), template)
            case "oldstyle":
                return template % names
            case "template":
                return Template(template).substitute({key: str(value) for key, value in names.items()})
    except (KeyError, ValueError, TypeError):
        pass
    return None


def _fill_field(match: re.Match[str], names: Mapping[str, Any]) -> str:
    return str(names[match[1]]) if match[1] else match[0][0]
