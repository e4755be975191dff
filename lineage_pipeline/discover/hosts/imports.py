"""Names that a program imports: where they come from, and what stands for them."""

import ast
import re
from collections.abc import Callable, Mapping

from lineage_pipeline.discover.hosts.known import NOTHING, Known, Names, Source, name_of
from lineage_pipeline.discover.hosts.values import Part, is_unknown

SAYING = re.compile(r"(?i)sql|quer(?:y|ies)|statement|stmt|table|schema")
"""Names that constants with SQL in them have, beside those in capitals; no module is read for others."""

Constants = Callable[[str, int], Mapping[str, Known]]
"""Who gives the constants of a module by its name and the dots before it."""


def no_constants(module: str, level: int) -> Mapping[str, Known]:
    """Know nothing of other modules."""
    return {}


def imported_names(node: ast.Import | ast.ImportFrom) -> dict[str, tuple[str, int, str]]:
    """Give the names that an import brings: the module, the dots before it, and what of it; nothing is the module."""
    if isinstance(node, ast.Import):
        return {item.asname or item.name: (item.name, 0, "") for item in node.names}
    return {item.asname or item.name: (node.module or "", node.level, item.name) for item in node.names}


def imported_value(node: ast.expr, names: Names, source: Source, constants: Constants) -> Known:
    """Give a constant that another module of the repository holds, as if it stood where it is named."""
    first, _, last = name_of(node).partition(".")
    module, level, own = names.imported.get(first, ("", 0, ""))
    if last:
        module, own = ".".join(part for part in (module, own) if part), last
    if not own or first not in names.imported or not (own.isupper() or SAYING.search(own)):
        return NOTHING
    found = constants(module, level).get(own, NOTHING)
    if is_unknown(found.texts):
        return found
    written, at = source.written(node)
    ends = Part("", at), Part("", at + len(written))
    return Known(tuple((ends[0], *value, ends[1]) for value in found.texts), found.items, found.entries)
