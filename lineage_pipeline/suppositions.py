"""What if: a lineage as it would be after edits of columns that nobody has made."""

from collections.abc import Sequence

import msgspec

from lineage_pipeline.engine.compile.interface import face_of
from lineage_pipeline.engine.compile.types import written_type
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
    name, _, column = place.rpartition(".")
    known = _choose(name, list(workings.plan.objects), "object")
    columns = [row.name for row in workings.lineage.columns if row.object == known]
    return Edit(action, known, _choose(column.strip('"'), columns, f"column of {known}"), to)


def _choose(word: str, known: Sequence[str], what: str) -> str:
    """Give the one known name that a word means."""
    if word in known:
        return word
    alike = [name for name in known if name.casefold() == word.casefold()]
    if len(alike) == 1:
        return alike[0]
    close = [name for name in sorted(known) if word and word.casefold() in name.casefold()][:3]
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise LineageError(f"there is no {what} {word}{hint}")


def _supposed(workings: Workings, edit: Edit) -> Workings:
    known = workings.plan.objects[edit.object]
    if edit.action is Action.RETYPE:
        edit = msgspec.structs.replace(edit, to=written_type(edit.to, _dialect(workings, known)))
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
