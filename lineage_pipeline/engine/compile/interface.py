"""The outside of a script: the names that its statements define, write, read and drop."""

from collections.abc import Iterator

from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.ir import RELEASED
from lineage_pipeline.vocabulary.places import Written, line_starts
from lineage_pipeline.vocabulary.plan import Face, ScriptFace


def face_of(script: ir.Script, text: str, written: Written | None = None) -> ScriptFace:
    """What the object graph needs to know of a script; `written` says where a rendered text comes from."""
    lines, copies = (written.lines, written.copies) if written is not None else (line_starts(text), ())
    return ScriptFace(tuple(_face(placed) for placed in script.statements), lines, copies)


def _face(placed: ir.Placed) -> Face:
    statement = placed.statement
    definition = statement.definition
    comment, tags = _label(statement)
    return Face(
        kind=statement.kind,
        start=placed.start,
        end=placed.end,
        parent=placed.parent,
        defines=definition.name if definition else None,
        define_kind=definition.kind if definition else "",
        temporary=bool(definition and definition.temporary),
        replace=bool(definition and (definition.replace or definition.if_absent)),
        has_columns=bool(
            definition and definition.columns and definition.relation == ir.NOWHERE and definition.like is None
        ),
        like=definition.like if definition and definition.kind not in _ROW_TYPED else None,
        returns=definition.like if definition and definition.kind in _ROW_TYPED else None,
        writes=tuple([write.target for write in statement.writes]),
        reads=tuple(dict.fromkeys(_reads(statement))),
        stars=tuple(dict.fromkeys(_stars(statement))) if _has_star(statement) else (),
        alters=tuple(
            dict.fromkeys([item.name for item in statement.alterations if item.to is None and item.action != RELEASED])
        ),
        renames=tuple([(item.name, item.to) for item in statement.alterations if item.to is not None]),
        drops=tuple([drop.name for drop in statement.drops]),
        calls=tuple([call.name for call in statement.calls]),
        context=statement.context,
        has_result=statement.result != ir.NOWHERE,
        empty=definition is not None and _is_empty(definition),
        watches=definition.watches if definition else None,
        transitions=definition.header if definition and definition.watches else (),
        comment=comment,
        tags=tags,
        tagged=_is_tagged(statement),
        if_absent=bool(definition and definition.if_absent),
        indexes=tuple(_indexes(statement)) if statement.kind in INDEXING else (),
        hands=tuple(dict.fromkeys(_handed(statement))) if len(statement.writes) > 1 else (),
    )


def _indexes(statement: ir.Statement) -> Iterator[ir.Name]:
    """The unique indexes that a statement creates, each in the schema of its table, or drops without naming that."""
    for item in statement.alterations:
        if item.constraint is not None and item.constraint.name:
            yield ir.Name((*item.name.parts[:-1], item.constraint.name), item.constraint.name)
        elif item.action == RELEASED:
            yield item.name


INDEXING = ("CREATE INDEX", "DROP INDEX")

_ROW_TYPED = ("function", "table type")
"""What may be like a type that is nobody's rows."""


def _label(statement: ir.Statement) -> tuple[str, tuple[str, ...]]:
    """What a statement says of the whole object that it defines or alters."""
    definition = statement.definition
    comment, tags = (definition.comment, definition.tags) if definition is not None else ("", ())
    for item in statement.alterations:
        if item.definition is not None and not item.column and item.action in ("comment", "tag"):
            comment, tags = item.definition.comment or comment, (*tags, *item.definition.tags)
    return comment, tags


def _is_tagged(statement: ir.Statement) -> bool:
    """Whether a statement puts tags onto columns."""
    definition = statement.definition
    listed = definition.columns if definition is not None else ()
    altered = [item.definition for item in statement.alterations if item.definition is not None]
    return any(column.tags for column in (*listed, *altered))


_COLUMNLESS = ("procedure", "function", "trigger", "synonym")


def _is_empty(definition: ir.Definition) -> bool:
    """Whether a definition of a table says nothing of its columns."""
    fills = definition.columns or definition.header or definition.like or definition.relation != ir.NOWHERE
    return not fills and definition.kind not in _COLUMNLESS


def _reads(statement: ir.Statement) -> Iterator[ir.Name]:
    """The objects that a statement names as sources; what it changes, named at the same place, is not one of them."""
    changed = {write.target for write in statement.writes}
    for relation in statement.relations:
        if type(relation) is ir.Select:
            yield from [source.name for source in relation.sources if source.name and source.name not in changed]
    yield from statement.reads
    definition = statement.definition
    if definition is not None and definition.like is not None and definition.kind not in ("synonym", *_ROW_TYPED):
        yield definition.like


def _handed(statement: ir.Statement) -> Iterator[tuple[ir.Name, ir.Name]]:
    """What one write of a statement hands to another: rows that RETURNING or OUTPUT gives, or that change places."""
    changed = {write.target for write in statement.writes}
    for write in statement.writes:
        for source in _sources(statement, write.relation):
            if source.name is not None and source.name in changed and source.name != write.target:
                yield source.name, write.target


def _sources(statement: ir.Statement, index: int) -> Iterator[ir.Source]:
    """The sources of a relation, those of what it is made of included."""
    pending, seen = [index], set[int]()
    while pending:
        index = pending.pop()
        if index == ir.NOWHERE or index in seen:
            continue
        seen.add(index)
        match statement.relations[index]:
            case ir.Select(sources=sources):
                yield from sources
                pending.extend(source.relation for source in sources)
            case ir.SetOperation(branches=branches):
                pending.extend(branches)
            case ir.Pivot(relation=inner) | ir.Unpivot(relation=inner) | ir.Renamed(relation=inner):
                pending.append(inner)
            case ir.Recursive(anchor=anchor, step=step):
                pending.extend((anchor, step))


def _has_star(statement: ir.Statement) -> bool:
    """Whether a star stands in a select list anywhere: most statements have none."""
    for relation in statement.relations:
        if type(relation) is ir.Select:
            for output in relation.outputs:
                if type(output) is ir.Star:
                    return True
    return False


def _stars(statement: ir.Statement) -> Iterator[ir.Name]:
    """The objects whose columns a star brings into the result, through whatever lies between."""
    definition = statement.definition
    roots = [definition.relation] if definition else []
    roots.extend(write.relation for write in statement.writes)
    roots.append(statement.result)
    seen: set[int] = set()
    while roots:
        index = roots.pop()
        if index == ir.NOWHERE or index in seen:
            continue
        seen.add(index)
        relation = statement.relations[index]
        match relation:
            case ir.Select():
                for source in _starred(relation):
                    if source.name is not None:
                        yield source.name
                    roots.append(source.relation)
            case ir.SetOperation(branches=branches):
                roots.extend(branches)
            case ir.Pivot(relation=inner) | ir.Unpivot(relation=inner) | ir.Renamed(relation=inner):
                roots.append(inner)
            case ir.Recursive(anchor=anchor):
                roots.append(anchor)


def _starred(select: ir.Select) -> Iterator[ir.Source]:
    for output in select.outputs:
        if isinstance(output, ir.Star) and output.of is None:
            for source in select.sources:
                if not output.qualifier or output.qualifier[-1] == source.alias:
                    yield source
