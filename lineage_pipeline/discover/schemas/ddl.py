"""DDL files: what their statements define is imported as if a catalog had said it."""

import msgspec

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.discover.schemas.model import ImportedColumn, ImportedTable, SchemaMetadata
from lineage_pipeline.vocabulary.analysis import Options, SchemaColumn, TableSchema
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.places import Text
from lineage_pipeline.vocabulary.plan import Known
from lineage_pipeline.vocabulary.sets import ObjectKind, Origin, Stage
from lineage_pipeline.vocabulary.tables import Constraint

LASTING = frozenset({ObjectKind.TABLE, ObjectKind.VIEW, ObjectKind.MATERIALIZED_VIEW, ObjectKind.EXTERNAL})


def metadata_of_ddl(text: str, source: str, options: Options) -> SchemaMetadata:
    """Give the tables and views that a script leaves behind, and a finding for each statement that nobody can read."""
    from lineage_pipeline.dialects.traits import GENERIC, traits_of
    from lineage_pipeline.engine.compile.interface import face_of
    from lineage_pipeline.engine.compile.source import compile_source
    from lineage_pipeline.engine.graph.build import File, build_plan
    from lineage_pipeline.engine.graph.drops import dropped
    from lineage_pipeline.engine.link.columns import constraint_rows
    from lineage_pipeline.engine.link.rows import finding_rows
    from lineage_pipeline.engine.link.schemas import SchemaRegistry, Shaper

    script = compile_source(text, options)
    face = face_of(script, text)
    plan = build_plan([File(source, face, options)])
    traits = traits_of(options.dialect, options.case_sensitivity) or GENERIC

    def statement_at(path: str, ordinal: int) -> Shaper:
        return script.statements[ordinal].statement, plan.bound[path][ordinal], traits

    registry = SchemaRegistry({**plan.objects, **plan.states}, statement_at, {})
    registry.resolve(plan.order)
    gone = dropped(plan.object_statements)
    constraints: dict[str, list[Constraint]] = {}
    for row in constraint_rows(plan.objects, {source: script}):
        constraints.setdefault(row.object, []).append(row)
    found = [
        msgspec.structs.replace(
            _table(plan.objects[name], schema, source, traits), constraints=tuple(constraints.get(name, ()))
        )
        for name, schema in sorted(registry.schemas.items())
        if schema.origin is Origin.IMPLIED and plan.objects[name].kind in LASTING and name not in gone
    ]
    failed = [placed for placed in script.statements if placed.statement.status == "failed"]
    if not found and failed:
        raise LineageError(f"{source}: no table can be read from it; is it the DDL of another dialect?")
    place = Text(source, face.lines, text)
    findings = [row for one in failed for row in finding_rows(place, one, one.statement.findings, Stage.DISCOVERY)]
    return SchemaMetadata(tuple(found), findings=tuple(findings))


def _written(column: SchemaColumn, traits: Traits) -> str:
    """Give the name as it was written, where quotes would not make another of it."""
    from lineage_pipeline.dialects.folding import fold

    return column.written if fold(column.written, True, traits.columns) == column.name else column.name


def _table(known: Known, schema: TableSchema, source: str, traits: Traits) -> ImportedTable:
    row = known.row
    columns = tuple(
        ImportedColumn(
            _written(column, traits),
            column.type,
            column.nullable,
            column.description,
            column.tags,
            column.generated,
            quoted=True,
        )
        for column in schema.columns
    )
    parts = tuple((part, True) for part in (row.catalog, row.schema, row.name) if part)
    return ImportedTable(
        parts,
        columns,
        schema.kind,
        schema.open,
        schema.description or row.description,
        schema.tags,
        schema.owners,
        source,
    )
