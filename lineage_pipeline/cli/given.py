"""Settings asked about files that were named one by one, from wherever one types."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

if TYPE_CHECKING:
    from lineage_pipeline.discover.schemas.model import Imports, SchemaMetadata
    from lineage_pipeline.discover.templating.protocol import Templating
    from lineage_pipeline.settings import Settings
    from lineage_pipeline.vocabulary.analysis import Options


class Given(NamedTuple):
    """The settings, asked with paths as they were typed, not as they lie below the settings' folder."""

    settings: "Settings"
    start: Path
    hints: "SchemaMetadata | None" = None

    def selects(self, path: str) -> bool:
        """Take every file that was named."""
        return bool(path)

    def leaves_out(self, path: str) -> bool:
        """Leave out nothing."""
        return not path

    def options_for(self, path: str) -> "Options":
        """Give the options of the file's own place, completed by the hints of an imported schema."""
        from lineage_pipeline.discover.schemas.model import with_hints

        full = Path(path).resolve()
        inside = full.is_relative_to(self.start)
        options = self.settings.options_for(full.relative_to(self.start).as_posix() if inside else path)
        return options if self.hints is None else with_hints(options, self.hints)

    def listed(self) -> tuple[str, ...]:
        """Files by name are there, or it is an error."""
        return ()

    def templating_for(self, path: str) -> "Templating":
        """Give how a file is rendered, by its own place."""
        full = Path(path).resolve()
        inside = full.is_relative_to(self.start)
        return self.settings.templating_for(full.relative_to(self.start).as_posix() if inside else path)

    def analysis_key(self) -> str:
        """Name what bears on results."""
        return self.settings.analysis_key()


def with_schemas(schemas: Sequence[str], file: str, rules: Given) -> "tuple[Given, Imports]":
    """Read the schemas that flags name in the place of those of the settings; their hints bear on names."""
    from lineage_pipeline.discover.schemas.folding import fold_tables
    from lineage_pipeline.discover.schemas.reading import read_schemas

    if not schemas:
        return rules, rules.settings.imports()
    metadata = read_schemas(schemas, rules.options_for(file), Path(), os.environ, rules.settings.snapshots(Path()))
    hinted = rules._replace(hints=metadata)
    folded = fold_tables(metadata.tables, hinted.options_for(file))
    return hinted, msgspec.structs.replace(folded, findings=(*metadata.findings, *folded.findings))
