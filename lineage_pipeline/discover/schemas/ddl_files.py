"""DDL files: the tables that their statements define are imported as if a catalog had listed them."""

import msgspec

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.discover.schemas.imported_tables import ImportedColumn, ImportedTable, SchemaMetadata
from lineage_pipeline.model.analysis import Options, SchemaColumn, TableSchema
from lineage_pipeline.model.enums import ObjectKind, Origin, Stage
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.plan import ObjectEntry
from lineage_pipeline.model.source_map import SourceText
from lineage_pipeline.model.tables import Constraint

PERSISTENT_KINDS = frozenset({ObjectKind.TABLE, ObjectKind.VIEW, ObjectKind.MATERIALIZED_VIEW, ObjectKind.EXTERNAL})


def parse_ddl_schema(text: str, source: str, options: Options) -> SchemaMetadata:
    """Return the tables and views that a script leaves behind, and a finding for each unreadable statement."""
    from lineage_pipeline.dialects.generic import GENERIC
    from lineage_pipeline.dialects.registry import find_traits
    from lineage_pipeline.engine.compile.compiler import compile_source
    from lineage_pipeline.engine.compile.script_interface import interface_of
    from lineage_pipeline.engine.graph.plan_builder import PlanFile, build_plan
    from lineage_pipeline.engine.graph.script_scopes import find_dropped
    from lineage_pipeline.engine.link.rows import build_constraint_rows, build_finding_rows
    from lineage_pipeline.engine.link.schema_registry import SchemaRegistry, ShapingStatement

    script = compile_source(text, options)
    face = interface_of(script, text)
    plan = build_plan([PlanFile(source, face, options)])
    traits = find_traits(options.dialect, options.case_sensitivity) or GENERIC

    def statement_at(path: str, ordinal: int) -> ShapingStatement:
        return script.statements[ordinal].statement, plan.bound[path][ordinal], traits

    registry = SchemaRegistry({**plan.objects, **plan.states}, statement_at, {})
    registry.resolve(plan.order)
    gone = find_dropped(plan.object_statements)
    constraints: dict[str, list[Constraint]] = {}
    for row in build_constraint_rows(plan.objects, {source: script}):
        constraints.setdefault(row.object, []).append(row)
    found = [
        msgspec.structs.replace(
            _table_from_ddl(plan.objects[name], schema, source, traits), constraints=tuple(constraints.get(name, ()))
        )
        for name, schema in sorted(registry.schemas.items())
        if schema.origin is Origin.IMPLIED and plan.objects[name].kind in PERSISTENT_KINDS and name not in gone
    ]
    failed = [placed for placed in script.statements if placed.statement.status == "failed"]
    if not found and failed:
        raise LineageError(f"{source}: no table can be read from it; is it the DDL of another dialect?")
    place = SourceText(source, face.lines, text)
    findings = [
        row for one in failed for row in build_finding_rows(place, one, one.statement.findings, Stage.DISCOVERY)
    ]
    return SchemaMetadata(tuple(found), findings=tuple(findings))


def _display_column_name(column: SchemaColumn, traits: DialectTraits) -> str:
    """Return the column name as written, where quoting would not change it."""
    from lineage_pipeline.dialects.identifier_folding import fold_identifier

    return column.written if fold_identifier(column.written, True, traits.columns) == column.name else column.name


def _table_from_ddl(known: ObjectEntry, schema: TableSchema, source: str, traits: DialectTraits) -> ImportedTable:
    row = known.row
    columns = tuple(
        ImportedColumn(
            name=_display_column_name(column, traits),
            type=column.type,
            nullable=column.nullable,
            description=column.description,
            tags=column.tags,
            generated=column.generated,
            quoted=True,
        )
        for column in schema.columns
    )
    parts = tuple((part, True) for part in (row.catalog, row.schema, row.name) if part)
    return ImportedTable(
        parts=parts,
        columns=columns,
        kind=schema.kind,
        partial=schema.open,
        description=schema.description or row.description,
        tags=schema.tags,
        owners=schema.owners,
        source=source,
    )
