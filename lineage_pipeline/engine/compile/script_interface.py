"""The interface of a script: the names that its statements define, write, read and drop."""

import re
from collections.abc import Iterator

import msgspec

from lineage_pipeline.model import ir
from lineage_pipeline.model.ir import DROP_INDEX_ACTION
from lineage_pipeline.model.plan import ScriptInterface, StatementInterface
from lineage_pipeline.model.source_map import SourceMap, find_line_starts


def interface_of(script: ir.Script, text: str, written: SourceMap | None = None) -> ScriptInterface:
    """The interface of a script for the object graph; `written` maps a rendered text to its source."""
    lines, copies = (written.lines, written.copies) if written is not None else (find_line_starts(text), ())
    faces = tuple(_build_statement_interface(placed) for placed in script.statements)
    return ScriptInterface(_with_titles(faces, text), lines, copies)


LINE_TITLE = re.compile(
    r"""^[ \t]*--[ \t]*(?:@?config\b[ \t]*:?[ \t]*)?(?::name[ \t]+|@?name[ \t]*[:=][ \t]*)"""
    r"""(["'`]?)([\w.-]*\w)\1[<*!^$#?]*[ \t]*(?:[:,].*)?$""",
    re.MULTILINE,
)
"""A name in a comment: sqlc and yesql write `-- name: GetAuthor :one`, hugsql `-- :name get-author :? :1`."""

BLOCK_TITLE = re.compile(r"""^[ \t]*\*?[ \t]*name[ \t]*:[ \t]*(["'`]?)([\w.-]*\w)\1[ \t]*$""", re.MULTILINE)
"""A name in a block of YAML at the head of a file: front matter, or Bruin's `/* @bruin … @bruin */`."""

COMMENT_BLOCK = re.compile(r"/\*.*?\*/", re.DOTALL)


def _with_titles(faces: tuple[StatementInterface, ...], text: str) -> tuple[StatementInterface, ...]:
    """The interfaces with what the comments before queries call them."""
    if "name" not in text:
        return faces
    found, end = [], 0
    for face in faces:
        title, is_table = _find_title(text[end : face.start], head=not end) if face.has_result else ("", False)
        found.append(msgspec.structs.replace(face, title=title, titles_table=is_table) if title else face)
        end = max(end, face.end)
    return tuple(found)


def _find_title(comments: str, *, head: bool) -> tuple[str, bool]:
    """The last name that the comments before a query say, and whether it may be that of a table."""
    said = LINE_TITLE.findall(comments)
    if said:
        return said[-1][1], False
    blocks = COMMENT_BLOCK.findall(comments) if head else ()
    named = [match[1] for block in blocks for match in BLOCK_TITLE.findall(block)]
    return (named[-1], True) if named else ("", False)


def _build_statement_interface(placed: ir.Placed) -> StatementInterface:
    statement = placed.statement
    definition = statement.definition
    comment, tags = _object_label(statement)
    return StatementInterface(
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
        like=definition.like if definition and definition.kind not in _ROW_TYPED_KINDS else None,
        returns=definition.like if definition and definition.kind in _ROW_TYPED_KINDS else None,
        writes=tuple([write.target for write in statement.writes]),
        reads=tuple(dict.fromkeys(_list_reads(statement))),
        stars=tuple(dict.fromkeys(_list_star_sources(statement))) if _has_star(statement) else (),
        alters=tuple(
            dict.fromkeys(
                [item.name for item in statement.alterations if item.to is None and item.action != DROP_INDEX_ACTION]
            )
        ),
        renames=tuple([(item.name, item.to) for item in statement.alterations if item.to is not None]),
        drops=tuple([drop.name for drop in statement.drops]),
        calls=tuple([call.name for call in statement.calls]),
        context=statement.context,
        has_result=statement.result != ir.NOWHERE,
        empty=definition is not None and _is_without_columns(definition),
        watches=definition.watches if definition else None,
        transitions=definition.header if definition and definition.watches else (),
        comment=comment,
        tags=tags,
        tagged=_has_column_tags(statement),
        if_absent=bool(definition and definition.if_absent),
        indexes=tuple(_list_indexes(statement)) if statement.kind in _INDEX_STATEMENTS else (),
        hands=tuple(dict.fromkeys(_list_handovers(statement))) if len(statement.writes) > 1 else (),
    )


def _list_indexes(statement: ir.Statement) -> Iterator[ir.Name]:
    """The unique indexes that a statement creates (in the schema of the table) or drops by name alone."""
    for item in statement.alterations:
        if item.constraint is not None and item.constraint.name:
            yield ir.Name((*item.name.parts[:-1], item.constraint.name), item.constraint.name)
        elif item.action == DROP_INDEX_ACTION:
            yield item.name


_INDEX_STATEMENTS = ("CREATE INDEX", "DROP INDEX")

_ROW_TYPED_KINDS = ("function", "table type")
"""Kinds of objects whose `like` is a row type and not a table."""


def _object_label(statement: ir.Statement) -> tuple[str, tuple[str, ...]]:
    """The comment and tags that a statement sets on a whole object."""
    definition = statement.definition
    comment, tags = (definition.comment, definition.tags) if definition is not None else ("", ())
    for item in statement.alterations:
        if item.definition is not None and not item.column and item.action in ("comment", "tag"):
            comment, tags = item.definition.comment or comment, (*tags, *item.definition.tags)
    return comment, tags


def _has_column_tags(statement: ir.Statement) -> bool:
    """Whether a statement sets tags on columns."""
    definition = statement.definition
    listed = definition.columns if definition is not None else ()
    altered = [item.definition for item in statement.alterations if item.definition is not None]
    return any(column.tags for column in (*listed, *altered))


_KINDS_WITHOUT_COLUMNS = ("procedure", "function", "trigger", "synonym")


def _is_without_columns(definition: ir.Definition) -> bool:
    """Whether a definition of a table does not say which columns it has."""
    fills = definition.columns or definition.header or definition.like or definition.relation != ir.NOWHERE
    return not fills and definition.kind not in _KINDS_WITHOUT_COLUMNS


def _list_reads(statement: ir.Statement) -> Iterator[ir.Name]:
    """The objects that a statement reads; an object it writes at the same place is not one of them."""
    changed = {write.target for write in statement.writes}
    for relation in statement.relations:
        if type(relation) is ir.Select:
            yield from [source.name for source in relation.sources if source.name and source.name not in changed]
    yield from statement.reads
    definition = statement.definition
    if definition is not None and definition.like is not None and definition.kind not in ("synonym", *_ROW_TYPED_KINDS):
        yield definition.like


def _list_handovers(statement: ir.Statement) -> Iterator[tuple[ir.Name, ir.Name]]:
    """Rows that one write of a statement passes to another: RETURNING, OUTPUT, exchanged partitions."""
    changed = {write.target for write in statement.writes}
    for write in statement.writes:
        for source in _list_sources(statement, write.relation):
            if source.name is not None and source.name in changed and source.name != write.target:
                yield source.name, write.target


def _list_sources(statement: ir.Statement, index: int) -> Iterator[ir.Source]:
    """The sources of a relation, including those of nested relations."""
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
    """Whether any select list contains a star."""
    for relation in statement.relations:
        if type(relation) is ir.Select:
            for output in relation.outputs:
                if type(output) is ir.Star:
                    return True
    return False


def _list_star_sources(statement: ir.Statement) -> Iterator[ir.Name]:
    """The objects whose columns reach the result through a star, at any depth."""
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
                for source in _star_sources_of(relation):
                    if source.name is not None:
                        yield source.name
                    roots.append(source.relation)
            case ir.SetOperation(branches=branches):
                roots.extend(branches)
            case ir.Pivot(relation=inner) | ir.Unpivot(relation=inner) | ir.Renamed(relation=inner):
                roots.append(inner)
            case ir.Recursive(anchor=anchor):
                roots.append(anchor)


def _star_sources_of(select: ir.Select) -> Iterator[ir.Source]:
    for output in select.outputs:
        if isinstance(output, ir.Star) and output.of is None:
            for source in select.sources:
                if not output.qualifier or output.qualifier[-1] == source.alias:
                    yield source
