"""ROLLUP, CUBE and GROUPING SETS: which keys group only some of the rows, and are null in the others."""

from sqlglot import exp

_PARTS = (exp.Rollup, exp.Cube, exp.GroupingSets)
_CLAUSES = ("grouping_sets", "cube", "rollup")


def partial_keys(group: exp.Expr) -> tuple[int, ...]:
    """The positions of the keys that are missing from a grouping, among all keys in the order of the clauses.

    Where ROLLUP and its kin stand among the keys, they are such keys themselves.
    """
    keys_of = group.expressions
    among = tuple(place for place, key in enumerate(keys_of) if type(key) in _PARTS)
    if among or not any(group.args.get(kind) for kind in _CLAUSES):
        return among
    plain = [key.sql() for key in keys_of]
    keys, partial, sets = list(plain), set[int](), list[set[str]]()
    alone = True
    for kind in _CLAUSES:
        for part in group.args.get(kind) or ():
            own = part.expressions if isinstance(part, exp.Expr) else []
            alone = alone and bool(own)
            found = [_names(item) for item in own] if kind == "grouping_sets" else [set()]
            sets.extend(found)
            partial.update(
                len(keys) + place for place, item in enumerate(own) if not all(_names(item) <= names for names in found)
            )
            keys.extend(item.sql() for item in own)
    if not alone or any(set(plain) & names for names in sets):
        partial.update(place for place, key in enumerate(plain) if not all(key in names for names in sets))
    return tuple(sorted(partial))


def _names(item: exp.Expr) -> set[str]:
    """The keys of one grouping."""
    if isinstance(item, exp.Tuple):
        return {part.sql() for part in item.expressions}
    return {(item.this if isinstance(item, exp.Paren) else item).sql()}
