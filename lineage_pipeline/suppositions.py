"""What if: a lineage as it would be after edits of columns that nobody has made."""

import difflib
from collections.abc import Sequence

import msgspec

from lineage_pipeline.engine.compile.interface import face_of
from lineage_pipeline.engine.compile.types import is_type, written_type
from lineage_pipeline.engine.diff.lattice import KINDS
from lineage_pipeline.engine.diff.suppose import Action, Edit, edited_schema, edited_statement
from lineage_pipeline.pipeline import Compiled, Workings, link_together
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.vocabulary.plan import Known


def suppose(workings: Workings, edits: Sequence[Edit]) -> Workings:
    """Link again as if columns had been dropped, renamed or retyped where they are defined."""
    for edit in edits:
        workings = _supposed(workings, edit)
    return workings


def resolve_edit(workings: Workings, action: Action, words: str) -> Edit:
    """Read `object.column` or `object.column=to`; names are found whatever their letters where there is one choice."""
    place, _, to = words.partition("=")
    if (action is Action.DROP) is bool(to):
        example = {Action.DROP: "t.column", Action.RENAME: "t.column=new_name", Action.RETYPE: "t.column=TYPE"}
        raise LineageError(f"--{action} {words}: write --{action} {example[action]}")
    name, dot, column = place.rpartition(".")
    if not dot:
        raise LineageError(f"--{action} {words}: name the table as well{_owners(workings, column)}")
    known = _choose(_unqualified(workings, name), list(workings.plan.objects), "object")
    columns = [row.name for row in workings.lineage.columns if row.object == known]
    edit = Edit(action, known, _choose(column.strip('"'), columns, f"column of {known}"), to)
    _check(workings, edit, columns, f"--{action} {words}")
    return edit


def _unqualified(workings: Workings, name: str) -> str:
    """Give the name of an object without a schema in which names are looked for anyhow, where it goes by that."""
    schema, _, rest = name.partition(".")
    options = [item.file.options for item in workings.compiled]
    searched = {word.casefold() for one in options for word in (*one.search_path, one.default_schema) if word}
    alike = {known.casefold() for known in workings.plan.objects}
    meant = rest if rest.casefold() in alike and schema.casefold() in searched else name
    return name if name.casefold() in alike else meant


def _owners(workings: Workings, column: str) -> str:
    """Say which tables have a column of this name, or what it should look like."""
    wanted = column.casefold()
    owners = sorted({f"{row.object}.{row.name}" for row in workings.lineage.columns if row.name.casefold() == wanted})
    return f"; did you mean {' or '.join(owners[:3])}?" if owners else ", as in t.column"


def _check(workings: Workings, edit: Edit, columns: Sequence[str], words: str) -> None:
    """Refuse a name that is taken, and a type that no column could have."""
    taken = [name for name in columns if name.casefold() == edit.to.casefold() and name != edit.column]
    if edit.action is Action.RENAME and taken:
        raise LineageError(f"{words}: {edit.object} has a column {taken[0]} already")
    if edit.action is Action.RETYPE and not is_type(edit.to, _dialect(workings, workings.plan.objects[edit.object])):
        word = edit.to.partition("(")[0].strip()
        close = difflib.get_close_matches(word.upper(), sorted(KINDS), n=1)
        hint = f"; did you mean {close[0].lower()}?" if close else ""
        raise LineageError(f"{words}: there is no type {word}{hint}")


def _choose(word: str, known: Sequence[str], what: str) -> str:
    """Give the one known name that a word means."""
    if word in known:
        return word
    alike = [name for name in known if name.casefold() == word.casefold()]
    if len(alike) == 1:
        return alike[0]
    close = [name for name in sorted(known) if word and word.casefold() in name.casefold()][:3]
    close = close or difflib.get_close_matches(word, sorted(known), n=1)
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise LineageError(f"there is no {what} {word}{hint}")


def _supposed(workings: Workings, edit: Edit) -> Workings:
    known = workings.plan.objects[edit.object]
    if edit.action is Action.RETYPE:
        edit = msgspec.structs.replace(edit, to=written_type(edit.to, _dialect(workings, known)))
    if _is_so(workings, edit):
        return workings
    for event in reversed(known.shapers):
        compiled = _edited(workings.compiled, event.path, event.ordinal, edit)
        if compiled is not None:
            return link_together(compiled, workings.imported)
    schema = workings.imported.get(known.imported)
    changed = edited_schema(schema, edit) if schema is not None else None
    if changed is None:
        raise LineageError(
            f"{edit.object}.{edit.column} stands in no list that could be changed: import the schema of {edit.object}, "
            "or name the column where it is defined"
        )
    return link_together(workings.compiled, {**workings.imported, known.imported: changed})


def _is_so(workings: Workings, edit: Edit) -> bool:
    """Say whether a column has the name or the type already that it is supposed to get."""
    column = next(row for row in workings.lineage.columns if (row.object, row.name) == (edit.object, edit.column))
    return edit.to != "" and edit.to == (column.type if edit.action is Action.RETYPE else column.name)


def _edited(compiled: Sequence[Compiled], path: str, ordinal: int, edit: Edit) -> list[Compiled] | None:
    """Give the files with one statement edited, or nothing where it does not define the column."""
    changed: list[Compiled] = []
    found = False
    for item in compiled:
        placed = item.script.statements[ordinal] if item.file.path == path else None
        statement = edited_statement(placed.statement, edit) if placed is not None else None
        if placed is not None and statement is not None:
            found = True
            statements = list(item.script.statements)
            statements[ordinal] = msgspec.structs.replace(placed, statement=statement)
            script = msgspec.structs.replace(item.script, statements=tuple(statements))
            face = face_of(script, item.file.text)
            face = msgspec.structs.replace(face, lines=item.face.lines, copies=item.face.copies)
            changed.append(msgspec.structs.replace(item, script=script, face=face))
        else:
            changed.append(item)
    return changed if found else None


def _dialect(workings: Workings, known: Known) -> str:
    paths = {event.path for event in known.shapers}
    return next((item.file.options.dialect for item in workings.compiled if item.file.path in paths), "")
