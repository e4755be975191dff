"""From discovered files to what an exporter takes, in this process."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from lineage_pipeline.discover.gather import Discovery, Rules, input_files
from lineage_pipeline.export import Naming, Subject
from lineage_pipeline.settings import Settings
from lineage_pipeline.vocabulary.analysis import Lineage
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.sets import Level

Schema = Mapping[str, Mapping[str, str] | list[str]]


def subject_of(discovery: Discovery, rules: Rules, settings: Settings, schema: Schema | None = None) -> Subject:
    """Analyse what was found; the findings of discovery come first."""
    from lineage_pipeline import pipeline  # not before the input is known to be usable: it takes a moment

    files = list(input_files(discovery, rules))
    lineage = pipeline.analyse(files, schema=schema) if schema else pipeline.analyse(files)
    joint = msgspec.structs.replace(lineage, diagnostics=discovery.diagnostics + lineage.diagnostics)
    texts = {file.path: file.text for file in files}
    return Subject(joint, discovery.snapshot, discovery.files, texts, naming_of(settings))


def naming_of(settings: Settings) -> Naming:
    """Give the names that the settings configure."""
    configured = settings.openlineage
    return Naming(settings.namespaces(), configured.job_namespace, configured.producer)


def read_schema(file: Path | None) -> Schema | None:
    """Read `{"schema.table": {"column": "type"} | ["column", …]}`."""
    if file is None:
        return None
    try:
        read: Any = msgspec.json.decode(file.read_bytes(), type=dict[str, dict[str, str] | list[str]])
    except OSError as error:
        raise LineageError(f"{file}: {error.strerror}") from None
    except msgspec.DecodeError as error:
        raise LineageError(f"{file}: {error}") from None
    return read  # type: ignore[no-any-return]


def has_problems(lineage: Lineage) -> bool:
    """Say whether anything worse than a note was found."""
    return any(diagnostic.severity is not Level.INFO for diagnostic in lineage.diagnostics)
