"""What-if analysis: a lineage as it would be after hypothetical column edits.

The SQL text stays as it is; the compiled statement or imported schema is edited, so that a comparison sees a change.
"""

import difflib
from collections.abc import Callable, Sequence
from enum import StrEnum
from hashlib import sha256

import msgspec

from lineage_pipeline.engine.compile.expressions.data_types import is_known_type, parse_type
from lineage_pipeline.engine.compile.script_interface import interface_of
from lineage_pipeline.engine.diff.type_comparison import TYPE_KINDS
from lineage_pipeline.model import ir
from lineage_pipeline.model.analysis import SchemaColumn, TableSchema
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.model.plan import ObjectEntry
from lineage_pipeline.pipeline import AnalysisResult, CompiledFile, link_all


class EditAction(StrEnum):
    """A hypothetical change of a column."""

    DROP = "drop"
    RENAME = "rename"
    RETYPE = "retype"


class HypotheticalEdit(msgspec.Struct, frozen=True):
    """One hypothetical change of a column; `to` is its new name or type."""

    action: EditAction
    object: str
    column: str
    to: str = ""

    def __str__(self) -> str:
        """The edit as the command line writes it."""
        return f"{self.action} {self.object}.{self.column}" + (f"={self.to}" if self.to else "")


def apply_edits(workings: AnalysisResult, edits: Sequence[HypotheticalEdit]) -> AnalysisResult:
    """Link again as if columns had been dropped, renamed or retyped where they are defined."""
    for edit in edits:
        workings = _apply_edit(workings, edit)
    return workings


def resolve_edit(workings: AnalysisResult, action: EditAction, words: str) -> HypotheticalEdit:
    """Parse `object.column` or `object.column=to`; letter case is ignored where the name is unique."""
    place, _, to = words.partition("=")
    if (action is EditAction.DROP) is bool(to):
        example = {
            EditAction.DROP: "t.column",
            EditAction.RENAME: "t.column=new_name",
            EditAction.RETYPE: "t.column=TYPE",
        }
        raise LineageError(f"--{action} {words}: write --{action} {example[action]}")
    name, dot, column = place.rpartition(".")
    if not dot:
        raise LineageError(f"--{action} {words}: name the table as well{_suggest_owners(workings, column)}")
    known = _choose_name(_strip_default_schema(workings, name), list(workings.plan.objects), "object")
    columns = [row.name for row in workings.lineage.columns if row.object == known]
    edit = HypotheticalEdit(action, known, _choose_name(column.strip('"'), columns, f"column of {known}"), to)
    _validate_edit(workings, edit, columns, f"--{action} {words}")
    return edit


def _strip_default_schema(workings: AnalysisResult, name: str) -> str:
    """The name of an object without its default schema, where the object is known by that name."""
    schema, _, rest = name.partition(".")
    options = [item.file.options for item in workings.compiled]
    searched = {word.casefold() for one in options for word in (*one.search_path, one.default_schema) if word}
    alike = {known.casefold() for known in workings.plan.objects}
    meant = rest if rest.casefold() in alike and schema.casefold() in searched else name
    return name if name.casefold() in alike else meant


def _suggest_owners(workings: AnalysisResult, column: str) -> str:
    """A hint with the tables that have a column of this name, or with an example."""
    wanted = column.casefold()
    owners = sorted({f"{row.object}.{row.name}" for row in workings.lineage.columns if row.name.casefold() == wanted})
    return f"; did you mean {' or '.join(owners[:3])}?" if owners else ", as in t.column"


def _validate_edit(workings: AnalysisResult, edit: HypotheticalEdit, columns: Sequence[str], words: str) -> None:
    """Reject a name that is taken, and a type that does not exist."""
    taken = [name for name in columns if name.casefold() == edit.to.casefold() and name != edit.column]
    if edit.action is EditAction.RENAME and taken:
        raise LineageError(f"{words}: {edit.object} has a column {taken[0]} already")
    if edit.action is EditAction.RETYPE and not is_known_type(
        edit.to, _object_dialect(workings, workings.plan.objects[edit.object])
    ):
        word = edit.to.partition("(")[0].strip()
        close = difflib.get_close_matches(word.upper(), sorted(TYPE_KINDS), n=1)
        hint = f"; did you mean {close[0].lower()}?" if close else ""
        raise LineageError(f"{words}: there is no type {word}{hint}")


def _choose_name(word: str, known: Sequence[str], what: str) -> str:
    """The only known name that a word means."""
    if word in known:
        return word
    alike = [name for name in known if name.casefold() == word.casefold()]
    if len(alike) == 1:
        return alike[0]
    close = [name for name in sorted(known) if word and word.casefold() in name.casefold()][:3]
    close = close or difflib.get_close_matches(word, sorted(known), n=1)
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise LineageError(f"there is no {what} {word}{hint}")


def _apply_edit(workings: AnalysisResult, edit: HypotheticalEdit) -> AnalysisResult:
    known = workings.plan.objects[edit.object]
    if edit.action is EditAction.RETYPE:
        edit = msgspec.structs.replace(edit, to=parse_type(edit.to, _object_dialect(workings, known)))
    if _is_already_so(workings, edit):
        return workings
    for event in reversed(known.shapers):
        compiled = _edit_file(workings.compiled, event.path, event.ordinal, edit)
        if compiled is not None:
            return link_all(compiled, workings.imported)
    schema = workings.imported.get(known.imported)
    changed = edit_schema(schema, edit) if schema is not None else None
    if changed is None:
        raise LineageError(
            f"{edit.object}.{edit.column} stands in no list that could be changed: import the schema of {edit.object}, "
            "or name the column where it is defined"
        )
    return link_all(workings.compiled, {**workings.imported, known.imported: changed})


def _is_already_so(workings: AnalysisResult, edit: HypotheticalEdit) -> bool:
    """Say whether a column already has the hypothetical name or type."""
    column = next(row for row in workings.lineage.columns if (row.object, row.name) == (edit.object, edit.column))
    return edit.to != "" and edit.to == (column.type if edit.action is EditAction.RETYPE else column.name)


def _edit_file(
    compiled: Sequence[CompiledFile], path: str, ordinal: int, edit: HypotheticalEdit
) -> list[CompiledFile] | None:
    """The files with one statement edited, or None where it does not define the column."""
    changed: list[CompiledFile] = []
    found = False
    for item in compiled:
        placed = item.script.statements[ordinal] if item.file.path == path else None
        statement = edit_statement(placed.statement, edit) if placed is not None else None
        if placed is not None and statement is not None:
            found = True
            statements = list(item.script.statements)
            statements[ordinal] = msgspec.structs.replace(placed, statement=statement)
            script = msgspec.structs.replace(item.script, statements=tuple(statements))
            face = interface_of(script, item.file.text)
            face = msgspec.structs.replace(face, lines=item.face.lines, copies=item.face.copies)
            changed.append(msgspec.structs.replace(item, script=script, face=face))
        else:
            changed.append(item)
    return changed if found else None


def _object_dialect(workings: AnalysisResult, known: ObjectEntry) -> str:
    paths = {event.path for event in known.shapers}
    return next((item.file.options.dialect for item in workings.compiled if item.file.path in paths), "")


def edit_schema(schema: TableSchema, edit: HypotheticalEdit) -> TableSchema | None:
    """An imported schema after an edit, or None where it does not have the column."""
    columns: list[SchemaColumn] = []
    for column in schema.columns:
        if column.name != edit.column:
            columns.append(column)
        elif edit.action is EditAction.RENAME:
            columns.append(msgspec.structs.replace(column, name=edit.to, written=edit.to))
        elif edit.action is EditAction.RETYPE:
            columns.append(msgspec.structs.replace(column, type=edit.to))
    same = tuple(columns) == schema.columns
    return None if same else msgspec.structs.replace(schema, columns=tuple(columns))


def edit_statement(statement: ir.Statement, edit: HypotheticalEdit) -> ir.Statement | None:
    """A statement after an edit of a column that it defines, or None where it does not define it."""
    for change in (_edit_column_list, _edit_header, _edit_relation, _edit_alterations):
        found = change(statement, edit)
        if found is not None and found != statement:
            mark = sha256(f"{statement.fingerprint} {edit}".encode()).hexdigest()[:16]
            return msgspec.structs.replace(found, fingerprint=mark)
    return None


def _edit_column_list(statement: ir.Statement, edit: HypotheticalEdit) -> ir.Statement | None:
    definition = statement.definition
    if definition is None or not any(column.name == edit.column for column in definition.columns):
        return None
    constraints = tuple(
        renamed for constraint in definition.constraints if (renamed := _edit_constraint(constraint, edit)) is not None
    )
    columns = tuple(one for column in definition.columns if (one := _edit_column(column, edit)) is not None)
    changed = msgspec.structs.replace(definition, columns=columns, constraints=constraints)
    return msgspec.structs.replace(statement, definition=changed)


def _edit_column(column: ir.ColumnDef, edit: HypotheticalEdit) -> ir.ColumnDef | None:
    if column.name != edit.column:
        return column
    match edit.action:
        case EditAction.DROP:
            return None
        case EditAction.RENAME:
            return msgspec.structs.replace(column, name=edit.to, written=edit.to)
        case EditAction.RETYPE:
            return msgspec.structs.replace(column, type=edit.to)


def _edit_constraint(constraint: ir.ConstraintDef, edit: HypotheticalEdit) -> ir.ConstraintDef | None:
    """A constraint is dropped with its column, and follows its rename."""
    if edit.column not in constraint.columns or edit.action is EditAction.RETYPE:
        return constraint
    if edit.action is EditAction.DROP:
        return None
    columns = tuple(edit.to if column == edit.column else column for column in constraint.columns)
    return msgspec.structs.replace(constraint, columns=columns)


def _edit_header(statement: ir.Statement, edit: HypotheticalEdit) -> ir.Statement | None:
    """`create view v (a, b) as …`: the names before the query."""
    definition = statement.definition
    if definition is None or definition.watches is not None or edit.column not in definition.header:
        return None
    at = definition.header.index(edit.column)
    header = list(definition.header)
    if edit.action is EditAction.RENAME:
        header[at] = edit.to
        return msgspec.structs.replace(statement, definition=msgspec.structs.replace(definition, header=tuple(header)))
    relations = _edit_at_position(statement.relations, definition.relation, at, edit)
    if relations is None:
        return None
    if edit.action is EditAction.DROP:
        del header[at]
    changed = msgspec.structs.replace(definition, header=tuple(header))
    return msgspec.structs.replace(statement, definition=changed, relations=relations)


def _edit_relation(statement: ir.Statement, edit: HypotheticalEdit) -> ir.Statement | None:
    """A view or table made of a query: its select list, branch by branch."""
    definition = statement.definition
    if definition is None or definition.relation == ir.NOWHERE or definition.header:
        return None
    relations = _edit_by_name(statement.relations, definition.relation, edit)
    return None if relations is None else msgspec.structs.replace(statement, relations=relations)


StatementRelations = tuple[ir.Relation, ...]


def _edit_by_name(relations: StatementRelations, index: int, edit: HypotheticalEdit) -> StatementRelations | None:
    """Edit the output of a name; other branches of a set operation follow by position."""
    relation = relations[index]
    match relation:
        case ir.Select():
            at = _output_position(relation, edit.column)
            if at is not None:
                return _edit_at_position(relations, index, at, edit)
            return _edit_star(relations, index, relation, edit)
        case ir.SetOperation(branches=branches):
            first = relations[branches[0]]
            at = _output_position(first, edit.column) if isinstance(first, ir.Select) else None
            return None if at is None else _edit_at_position(relations, index, at, edit)
        case ir.Renamed(columns=columns) if edit.column in columns:
            at = columns.index(edit.column)
            if edit.action is EditAction.RENAME:
                names = tuple(edit.to if name == edit.column else name for name in columns)
                return _replace_relation(relations, index, msgspec.structs.replace(relation, columns=names))
            inner = _edit_at_position(relations, relation.relation, at, edit)
            names = tuple(name for name in columns if edit.action is EditAction.RETYPE or name != edit.column)
            return (
                None
                if inner is None
                else _replace_relation(inner, index, msgspec.structs.replace(relation, columns=names))
            )
    return None


def _output_position(relation: ir.Select, name: str) -> int | None:
    outputs = enumerate(relation.outputs)
    return next((at for at, output in outputs if isinstance(output, ir.Output) and output.name == name), None)


def _edit_at_position(
    relations: StatementRelations, index: int, at: int, edit: HypotheticalEdit
) -> StatementRelations | None:
    """Edit the output at a position, in every branch."""
    relation = relations[index]
    if isinstance(relation, ir.SetOperation):
        for place, branch in enumerate(relation.branches):
            inner = edit if place == 0 or edit.action is not EditAction.RENAME else None
            changed = relations if inner is None else _edit_at_position(relations, branch, at, inner)
            if changed is None:
                return None
            relations = changed
        return relations
    if not isinstance(relation, ir.Select) or any(isinstance(one, ir.Star) for one in relation.outputs[: at + 1]):
        return None
    outputs = list(relation.outputs)
    output = outputs[at]
    assert isinstance(output, ir.Output)
    outputs[at : at + 1] = _edit_output(output, edit)
    return _replace_relation(relations, index, msgspec.structs.replace(relation, outputs=tuple(outputs)))


def _edit_output(output: ir.Output, edit: HypotheticalEdit) -> list[ir.Output | ir.Star]:
    match edit.action:
        case EditAction.DROP:
            return []
        case EditAction.RENAME:
            return [msgspec.structs.replace(output, name=edit.to, written=edit.to)]
        case EditAction.RETYPE:
            return [msgspec.structs.replace(output, expr=ir.Cast(output.expr, edit.to))]


def _edit_star(
    relations: StatementRelations, index: int, select: ir.Select, edit: HypotheticalEdit
) -> StatementRelations | None:
    """Exclude, rename or replace a column of the only star in a select list."""
    stars = [at for at, output in enumerate(select.outputs) if isinstance(output, ir.Star)]
    if len(stars) != 1:
        return None
    star = select.outputs[stars[0]]
    assert isinstance(star, ir.Star)
    changes: dict[EditAction, Callable[[], ir.Star]] = {
        EditAction.DROP: lambda: msgspec.structs.replace(star, exclude=(*star.exclude, edit.column)),
        EditAction.RENAME: lambda: msgspec.structs.replace(star, rename=(*star.rename, (edit.column, edit.to))),
        EditAction.RETYPE: lambda: msgspec.structs.replace(
            star, replace=(*star.replace, _build_cast_output(star, edit))
        ),
    }
    outputs = list(select.outputs)
    outputs[stars[0]] = changes[edit.action]()
    return _replace_relation(relations, index, msgspec.structs.replace(select, outputs=tuple(outputs)))


def _build_cast_output(star: ir.Star, edit: HypotheticalEdit) -> ir.Output:
    column = ir.Ref((*star.qualifier[-1:], edit.column), star.start, star.end)
    return ir.Output(
        name=edit.column, written=edit.column, expr=ir.Cast(column, edit.to), start=star.start, end=star.end
    )


def _replace_relation(relations: StatementRelations, index: int, relation: ir.Relation) -> StatementRelations:
    return (*relations[:index], relation, *relations[index + 1 :])


def _edit_alterations(statement: ir.Statement, edit: HypotheticalEdit) -> ir.Statement | None:
    """`alter table … add`: the added column is dropped or changed."""
    kept = []
    for item in statement.alterations:
        if item.action == "add" and item.definition is not None and item.definition.name == edit.column:
            column = _edit_column(item.definition, edit)
            if column is None:
                continue
            kept.append(msgspec.structs.replace(item, column=column.name, definition=column))
        else:
            kept.append(item)
    changed = tuple(kept)
    return None if changed == statement.alterations else msgspec.structs.replace(statement, alterations=changed)
