"""Holes: what remains of a statement whose text is known in part."""

from typing import Any

import msgspec

from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import HOLE

GUESSED = "guessed"
"""The feature of a statement that was read from a text with holes: its lineage is approximate."""

_NOBODY = ir.Name(("?",))

COLUMNS: dict[type[ir.Node], tuple[str, ...]] = {
    ir.Join: ("using",),
    ir.Pivot: ("keys", "group"),
    ir.Unpivot: ("inputs",),
}
"""Where only columns may stand."""


def without_holes(statement: ir.Statement) -> ir.Statement:
    """A statement without what its holes would have named: unknown sources give values from nowhere."""
    found: ir.Statement = _filled(statement)
    definition = found.definition
    if definition is not None and definition.like == _NOBODY:
        definition = msgspec.structs.replace(definition, like=None)
    return msgspec.structs.replace(
        found,
        definition=definition if definition is not None and definition.name != _NOBODY else None,
        writes=tuple(write for write in found.writes if write.target != _NOBODY),
        alterations=tuple(item for item in found.alterations if item.name != _NOBODY and item.to != _NOBODY),
        drops=tuple(item for item in found.drops if item.name != _NOBODY),
        calls=tuple(item for item in found.calls if item.name != _NOBODY),
        reads=tuple(name for name in found.reads if name != _NOBODY),
        context=statement.context if not any(HOLE in part.lower() for part in statement.context) else (),
        features=tuple(sorted({*found.features, GUESSED})),
    )


def _filled(node: Any) -> Any:
    if isinstance(node, tuple):
        return tuple(_filled(item) for item in node)
    if not isinstance(node, ir.Node):
        return "" if isinstance(node, str) and HOLE in node.lower() else node
    if isinstance(node, ir.Name):
        return _name(node)
    if isinstance(node, ir.Ref):
        return _ref(node)
    columns = COLUMNS.get(type(node), ())
    filled = ((field, _filled(getattr(node, field))) for field in node.__struct_fields__)
    changed = type(node)(*(_known(value) if field in columns else value for field, value in filled))
    if isinstance(changed, ir.Source) and changed.name == _NOBODY:
        return msgspec.structs.replace(changed, name=None, function=ir.Call("?", ()), lateral=True)
    return changed


def _known(columns: Any) -> Any:
    """Columns without those that are known only when it runs: no value can stand in their place."""
    if not isinstance(columns, tuple):
        return columns
    return tuple(_known(item) for item in columns if isinstance(item, tuple | ir.Ref))


def _name(name: ir.Name) -> ir.Name:
    """A name without the parts up to its last hole: the database is unknown, the table is not."""
    if not any(HOLE in part.lower() for part in name.parts):
        return name
    behind = max(position for position, part in enumerate(name.parts) if HOLE in part.lower()) + 1
    parts = tuple(part for part in name.parts[behind:] if part)
    return msgspec.structs.replace(name, parts=parts) if parts else _NOBODY


def _ref(ref: ir.Ref) -> ir.Expr:
    if not any(HOLE in part.lower() for part in ref.parts):
        return ref
    if HOLE in ref.parts[-1].lower():
        return ir.Literal("other", "?")
    behind = max(position for position, part in enumerate(ref.parts) if HOLE in part.lower()) + 1
    return msgspec.structs.replace(ref, parts=ref.parts[behind:])
