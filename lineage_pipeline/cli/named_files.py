"""Settings for files that are named one by one on the command line, from whatever folder."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

if TYPE_CHECKING:
    from lineage_pipeline.config.load import Settings
    from lineage_pipeline.discover.schemas.imported_tables import SchemaMetadata
    from lineage_pipeline.model.analysis import Options
    from lineage_pipeline.model.schema_imports import SchemaImports
    from lineage_pipeline.model.templating import Templating


class NamedFileRules(NamedTuple):
    """Settings that are looked up with paths as typed, not relative to the folder of the settings."""

    settings: "Settings"
    start: Path
    hints: "SchemaMetadata | None" = None

    def selects(self, path: str) -> bool:
        """Select every named file."""
        return bool(path)

    def leaves_out(self, path: str) -> bool:
        """Exclude nothing."""
        return not path

    def options_for(self, path: str) -> "Options":
        """Return the options of a file by its location, completed by hints of an imported schema."""
        from lineage_pipeline.discover.schemas.imported_tables import apply_hints

        full = Path(path).resolve()
        inside = full.is_relative_to(self.start)
        options = self.settings.options_for(full.relative_to(self.start).as_posix() if inside else path)
        return options if self.hints is None else apply_hints(options, self.hints)

    def listed(self) -> tuple[str, ...]:
        """Return no required files: a named file that is missing is an error anyway."""
        return ()

    def templating_for(self, path: str) -> "Templating":
        """Return how a file is rendered, by its location."""
        full = Path(path).resolve()
        inside = full.is_relative_to(self.start)
        return self.settings.templating_for(full.relative_to(self.start).as_posix() if inside else path)


def read_flag_schemas(
    schemas: Sequence[str], file: str, rules: NamedFileRules
) -> "tuple[NamedFileRules, SchemaImports]":
    """Read the schemas of --schema instead of those of the settings; their hints affect name resolution."""
    from lineage_pipeline.configured_schemas import SnapshotReader, import_configured_schemas
    from lineage_pipeline.discover.schemas.normalize import normalize_tables
    from lineage_pipeline.discover.schemas.schema_sources import read_schemas

    if not schemas:
        return rules, import_configured_schemas(rules.settings)
    metadata = read_schemas(
        schemas, rules.options_for(file), Path(), os.environ, SnapshotReader(Path(), rules.settings.warehouse)
    )
    hinted = rules._replace(hints=metadata)
    folded = normalize_tables(metadata.tables, hinted.options_for(file))
    return hinted, msgspec.structs.replace(folded, findings=(*metadata.findings, *folded.findings))
