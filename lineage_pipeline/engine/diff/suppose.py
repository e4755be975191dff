"""What if: a statement or a schema in which one column is gone, has another name or another type.

What is written is left alone; what it was compiled to is changed, so that the comparison takes it for an edit.
"""

from collections.abc import Callable
from enum import StrEnum
from hashlib import sha256

import msgspec

from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import SchemaColumn, TableSchema


class Action(StrEnum):
    """What is supposed to happen to a column."""

    DROP = "drop"
    RENAME = "rename"
    RETYPE = "retype"


class Edit(msgspec.Struct, frozen=True):
    """One supposed change of a column; `to` is its new name or type."""

    action: Action
    object: str
    column: str
    to: str = ""

    def __str__(self) -> str:
        """Say it as the command does."""
        return f"{self.action} {self.object}.{self.column}" + (f"={self.to}" if self.to else "")


def edited_schema(schema: TableSchema, edit: Edit) -> TableSchema | None:
    """Give an imported schema after an edit, or nothing where it does not have the column."""
    columns: list[SchemaColumn] = []
    for column in schema.columns:
        if column.name != edit.column:
            columns.append(column)
        elif edit.action is Action.RENAME:
            columns.append(msgspec.structs.replace(column, name=edit.to, written=edit.to))
        elif edit.action is Action.RETYPE:
            columns.append(msgspec.structs.replace(column, type=edit.to))
    same = tuple(columns) == schema.columns
    return None if same else msgspec.structs.replace(schema, columns=tuple(columns))


def edited_statement(statement: ir.Statement, edit: Edit) -> ir.Statement | None:
    """Give a statement after an edit of a column that it defines, or nothing where it does not define it."""
    for change in (_in_column_list, _in_header, _in_relation, _in_alterations):
        found = change(statement, edit)
        if found is not None and found != statement:
            mark = sha256(f"{statement.fingerprint} {edit}".encode()).hexdigest()[:16]
            return msgspec.structs.replace(found, fingerprint=mark)
    return None


def _in_column_list(statement: ir.Statement, edit: Edit) -> ir.Statement | None:
    definition = statement.definition
    if definition is None or not any(column.name == edit.column for column in definition.columns):
        return None
    constraints = tuple(
        renamed for constraint in definition.constraints if (renamed := _constraint(constraint, edit)) is not None
    )
    columns = tuple(one for column in definition.columns if (one := _column(column, edit)) is not None)
    changed = msgspec.structs.replace(definition, columns=columns, constraints=constraints)
    return msgspec.structs.replace(statement, definition=changed)


def _column(column: ir.ColumnDef, edit: Edit) -> ir.ColumnDef | None:
    if column.name != edit.column:
        return column
    match edit.action:
        case Action.DROP:
            return None
        case Action.RENAME:
            return msgspec.structs.replace(column, name=edit.to, written=edit.to)
        case Action.RETYPE:
            return msgspec.structs.replace(column, type=edit.to)


def _constraint(constraint: ir.ConstraintDef, edit: Edit) -> ir.ConstraintDef | None:
    """A constraint goes with a column that it is about, and takes over its new name."""
    if edit.column not in constraint.columns or edit.action is Action.RETYPE:
        return constraint
    if edit.action is Action.DROP:
        return None
    columns = tuple(edit.to if column == edit.column else column for column in constraint.columns)
    return msgspec.structs.replace(constraint, columns=columns)


def _in_header(statement: ir.Statement, edit: Edit) -> ir.Statement | None:
    """`create view v (a, b) as …`: the names stand in front of the query."""
    definition = statement.definition
    if definition is None or definition.watches is not None or edit.column not in definition.header:
        return None
    at = definition.header.index(edit.column)
    header = list(definition.header)
    if edit.action is Action.RENAME:
        header[at] = edit.to
        return msgspec.structs.replace(statement, definition=msgspec.structs.replace(definition, header=tuple(header)))
    relations = _at_position(statement.relations, definition.relation, at, edit)
    if relations is None:
        return None
    if edit.action is Action.DROP:
        del header[at]
    changed = msgspec.structs.replace(definition, header=tuple(header))
    return msgspec.structs.replace(statement, definition=changed, relations=relations)


def _in_relation(statement: ir.Statement, edit: Edit) -> ir.Statement | None:
    """A view or a table that is made of a query: its own select list, branch by branch."""
    definition = statement.definition
    if definition is None or definition.relation == ir.NOWHERE or definition.header:
        return None
    relations = _by_name(statement.relations, definition.relation, edit)
    return None if relations is None else msgspec.structs.replace(statement, relations=relations)


Relations = tuple[ir.Relation, ...]


def _by_name(relations: Relations, index: int, edit: Edit) -> Relations | None:
    """Edit the output of a name; the further branches of a set operation follow by position."""
    relation = relations[index]
    match relation:
        case ir.Select():
            at = _position(relation, edit.column)
            if at is not None:
                return _at_position(relations, index, at, edit)
            return _in_star(relations, index, relation, edit)
        case ir.SetOperation(branches=branches):
            first = relations[branches[0]]
            at = _position(first, edit.column) if isinstance(first, ir.Select) else None
            return None if at is None else _at_position(relations, index, at, edit)
        case ir.Renamed(columns=columns) if edit.column in columns:
            at = columns.index(edit.column)
            if edit.action is Action.RENAME:
                names = tuple(edit.to if name == edit.column else name for name in columns)
                return _put(relations, index, msgspec.structs.replace(relation, columns=names))
            inner = _at_position(relations, relation.relation, at, edit)
            names = tuple(name for name in columns if edit.action is Action.RETYPE or name != edit.column)
            return None if inner is None else _put(inner, index, msgspec.structs.replace(relation, columns=names))
    return None


def _position(relation: ir.Select, name: str) -> int | None:
    outputs = enumerate(relation.outputs)
    return next((at for at, output in outputs if isinstance(output, ir.Output) and output.name == name), None)


def _at_position(relations: Relations, index: int, at: int, edit: Edit) -> Relations | None:
    """Edit the output at a position, in every branch."""
    relation = relations[index]
    if isinstance(relation, ir.SetOperation):
        for place, branch in enumerate(relation.branches):
            inner = edit if place == 0 or edit.action is not Action.RENAME else None
            changed = relations if inner is None else _at_position(relations, branch, at, inner)
            if changed is None:
                return None
            relations = changed
        return relations
    if not isinstance(relation, ir.Select) or any(isinstance(one, ir.Star) for one in relation.outputs[: at + 1]):
        return None
    outputs = list(relation.outputs)
    output = outputs[at]
    assert isinstance(output, ir.Output)
    outputs[at : at + 1] = _output(output, edit)
    return _put(relations, index, msgspec.structs.replace(relation, outputs=tuple(outputs)))


def _output(output: ir.Output, edit: Edit) -> list[ir.Output | ir.Star]:
    match edit.action:
        case Action.DROP:
            return []
        case Action.RENAME:
            return [msgspec.structs.replace(output, name=edit.to, written=edit.to)]
        case Action.RETYPE:
            return [msgspec.structs.replace(output, expr=ir.Cast(output.expr, edit.to))]


def _in_star(relations: Relations, index: int, select: ir.Select, edit: Edit) -> Relations | None:
    """A column that comes with the only star of a select list is left out of it, or replaced there."""
    stars = [at for at, output in enumerate(select.outputs) if isinstance(output, ir.Star)]
    if len(stars) != 1:
        return None
    star = select.outputs[stars[0]]
    assert isinstance(star, ir.Star)
    changes: dict[Action, Callable[[], ir.Star]] = {
        Action.DROP: lambda: msgspec.structs.replace(star, exclude=(*star.exclude, edit.column)),
        Action.RENAME: lambda: msgspec.structs.replace(star, rename=(*star.rename, (edit.column, edit.to))),
        Action.RETYPE: lambda: msgspec.structs.replace(star, replace=(*star.replace, _recast(star, edit))),
    }
    outputs = list(select.outputs)
    outputs[stars[0]] = changes[edit.action]()
    return _put(relations, index, msgspec.structs.replace(select, outputs=tuple(outputs)))


def _recast(star: ir.Star, edit: Edit) -> ir.Output:
    column = ir.Ref((*star.qualifier[-1:], edit.column), star.start, star.end)
    return ir.Output(edit.column, edit.column, ir.Cast(column, edit.to), star.start, star.end)


def _put(relations: Relations, index: int, relation: ir.Relation) -> Relations:
    return (*relations[:index], relation, *relations[index + 1 :])


def _in_alterations(statement: ir.Statement, edit: Edit) -> ir.Statement | None:
    """`alter table … add`: the statement no longer adds the column, or adds another one."""
    kept = []
    for item in statement.alterations:
        if item.action == "add" and item.definition is not None and item.definition.name == edit.column:
            column = _column(item.definition, edit)
            if column is None:
                continue
            kept.append(msgspec.structs.replace(item, column=column.name, definition=column))
        else:
            kept.append(item)
    changed = tuple(kept)
    return None if changed == statement.alterations else msgspec.structs.replace(statement, alterations=changed)
