"""One form of expressions that mean the same: values of three-valued logic stay exactly what they were.

Expressions are nested tuples: `("col", source, key)`, `("c", operator, arguments, traits)`, `("l", kind, text)`,
`("w", conditions with values, default)`, `("t", value, type, safe)`, `("o", function, partition, order, frame)`,
`("sub", mode, query, arguments)` and others that are left as they are.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

Expr = tuple[Any, ...]

AGGREGATE, WINDOWED, VOLATILE = 1, 2, 8
"""Traits of functions, as `model/ir.py` numbers them."""

NULL: Expr = ("l", "null", "NULL")

_MIRRORED = {"GT": "LT", "GTE": "LTE"}
_OPPOSITES = {"LT": ("LTE", True), "LTE": ("LT", True), "EQ": ("NEQ", False), "NEQ": ("EQ", False)}
_COMMUTATIVE = frozenset({"EQ", "NEQ", "MUL", "NULLSAFEEQ", "NULLSAFENEQ", "BITWISEAND", "BITWISEOR"})
_NULL_SKIPPING = frozenset({"SUM", "AVG", "MIN", "MAX", "COUNT"})
_STRICT = frozenset({"EQ", "NEQ", "LT", "LTE", "LIKE", "ILIKE", "ADD", "SUB", "MUL", "NEG", "IN"})
"""Operators that give NULL where an operand is NULL."""


def make_call(op: str, *args: Expr, traits: int = 0) -> Expr:
    """A call of an operator."""
    return ("c", op, tuple(args), traits)


def operator_name(op: str) -> str:
    """The name of an operator without its options."""
    return op.partition(":")[0]


def map_parts(expr: Sequence[Any], change: Callable[[Expr], Expr]) -> Expr:
    """An expression with its direct parts changed; queries inside are not entered."""
    kind = expr[0]
    if kind == "c":
        return ("c", expr[1], tuple(map(change, expr[2])), expr[3])
    if kind == "w":
        whens = tuple((change(one), change(two)) for one, two in expr[1])
        return ("w", whens, change(expr[2]) if expr[2] is not None else None)
    if kind == "o":
        return ("o", change(expr[1]), *(tuple(map(change, keys)) for keys in expr[2:4]), expr[4])
    if kind == "sub":
        return ("sub", expr[1], expr[2], tuple(map(change, expr[3])))
    at = _PART_PLACES.get(kind)
    parts = tuple(tuple(part) if isinstance(part, list) else part for part in expr)
    return parts if at is None else (*parts[:at], change(expr[at]), *parts[at + 1 :])


_PART_PLACES = {"t": 1, "p": 1, "x": 2, "d": 2}
"""Where the one part of an expression stands: of a conversion, a path, a lambda and a function of the user's own."""


def rewrite(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """An expression after a change of each of its parts, the innermost first; queries inside are not entered."""
    return change(map_parts(expr, lambda part: rewrite(part, change)))


def iter_parts(expr: Expr) -> Iterator[Expr]:
    """An expression and all of its parts; queries inside are not entered."""
    found: list[Expr] = []

    def keep(part: Expr) -> Expr:
        found.append(part)
        return part

    rewrite(expr, keep)
    return iter(found)


def has_trait(expr: Expr, trait: int) -> bool:
    """Say whether a function in an expression has a trait."""
    return any(part[0] == "c" and part[3] & trait for part in iter_parts(expr))


def has_window(expr: Expr) -> bool:
    """Say whether an expression has a function over a window."""
    return any(part[0] == "o" for part in iter_parts(expr))


def has_aggregate(expr: Expr) -> bool:
    """Say whether an expression aggregates the rows of its select: a function over a window does not."""
    if expr[0] == "o":
        args = expr[1][2] if expr[1][0] == "c" else ()
        return any(has_aggregate(part) for part in (*args, *expr[2], *expr[3]))
    if expr[0] == "c" and bool(expr[3] & AGGREGATE):
        return True
    return any(has_aggregate(part) for part in _direct_parts(expr))


def _direct_parts(expr: Expr) -> Sequence[Expr]:
    found: list[Expr] = []

    def keep(part: Expr) -> Expr:
        found.append(part)
        return part

    map_parts(expr, keep)
    return found


def normalize(expr: Expr) -> Expr:
    """One form of an expression."""
    return rewrite(expr, _normalize_part)


def _normalize_part(expr: Expr) -> Expr:
    if expr[0] == "c":
        return _normalize_call(expr)
    if expr[0] == "w":
        return _normalize_case(expr)
    if expr[0] == "t" and expr[1][0] == "t" and expr[1][2:] == expr[2:]:
        found: Expr = expr[1]  # a value of a type is itself in it
        return found
    if expr[0] == "l" and expr[1] != "string":
        return ("l", expr[1], expr[2].lower())
    return expr


def _normalize_call(expr: Expr) -> Expr:
    _, op, args, traits = expr
    name = operator_name(op)
    if op in _MIRRORED and len(args) == 2:
        return make_call(_MIRRORED[op], args[1], args[0])
    if op == "IS:negate":
        return make_call("NOT", make_call("IS", *args))
    special = _CALL_FORMS.get(name)
    if special is not None:
        return special(op, args, traits)
    if op in _COMMUTATIVE:
        args = tuple(sorted(args, key=repr))
    return ("c", op, args, traits)


def _normalize_junction(op: str, args: tuple[Expr, ...], traits: int) -> Expr:
    """AND and OR are associative, commutative and idempotent in three-valued logic; ORs of equalities are an IN."""
    parts: list[Expr] = []
    for arg in args:
        parts.extend(arg[2] if arg[0] == "c" and arg[1] == op else (arg,))
    if op == "OR":
        parts = list(_merge_equalities(parts))
    unique = sorted(dict.fromkeys(parts), key=repr)
    return unique[0] if len(unique) == 1 else make_call(op, *unique)


def _merge_equalities(parts: Sequence[Expr]) -> Iterator[Expr]:
    """`x = a OR x = b` is what `x IN (a, b)` stands for."""
    listed: dict[Expr, set[Expr]] = {}
    for part in parts:
        value, constants = _constants_of(part)
        if value is None:
            yield part
        else:
            listed.setdefault(value, set()).update(constants)
    for value, constants in listed.items():
        yield _make_in(value, constants)


def _constants_of(part: Expr) -> tuple[Expr | None, set[Expr]]:
    if part[0] != "c" or part[1] not in ("EQ", "IN"):
        return None, set()
    args = part[2]
    if part[1] == "IN":
        return (args[0], set(args[1:])) if all(_is_constant(one) for one in args[1:]) else (None, set())
    constants = {one for one in args if _is_constant(one)}
    values = [one for one in args if not _is_constant(one)]
    return (values[0], constants) if len(constants) == 1 == len(values) else (None, set())


def _is_constant(expr: Expr) -> bool:
    return bool(expr[0] == "l" and expr[1] != "null")


def _make_in(value: Expr, constants: set[Expr]) -> Expr:
    ordered = sorted(constants, key=repr)
    if len(ordered) == 1:
        return make_call("EQ", *sorted((value, ordered[0]), key=repr))
    return make_call("IN", value, *ordered)


def _normalize_in(op: str, args: tuple[Expr, ...], traits: int) -> Expr:
    """The order of a list, and repetitions in it, do not matter; a list of one is an equality."""
    if all(_is_constant(one) for one in args[1:]) and len(args) > 1:
        return _make_in(args[0], set(args[1:]))
    return ("c", op, args, traits)


def _normalize_between(op: str, args: tuple[Expr, ...], traits: int) -> Expr:
    """BETWEEN is two comparisons by definition; the value must be the same in both."""
    if op != "BETWEEN" or len(args) != 3 or has_trait(args[0], VOLATILE):
        return ("c", op, args, traits)
    bounds = make_call("LTE", args[1], args[0]), make_call("LTE", args[0], args[2])
    return _normalize_junction("AND", bounds, 0)


def _normalize_not(op: str, args: tuple[Expr, ...], traits: int) -> Expr:
    """NOT of a comparison is the opposite one (both are NULL together); De Morgan's laws hold for NULL, too."""
    (arg,) = args
    if arg[0] != "c":
        return ("c", op, args, traits)
    name, inner = arg[1], arg[2]
    if name == "NOT":
        found: Expr = inner[0]
        return found
    if name in _OPPOSITES and len(inner) == 2:
        opposite, mirrored = _OPPOSITES[name]
        return make_call(opposite, *(inner[::-1] if mirrored else inner))
    if name in ("AND", "OR"):
        parts = tuple(_normalize_not("NOT", (one,), 0) for one in inner)
        return _normalize_junction("OR" if name == "AND" else "AND", parts, 0)
    if name == "IN" and all(_is_constant(one) for one in inner[1:]):
        parts = tuple(make_call("NEQ", *sorted((inner[0], one), key=repr)) for one in inner[1:])
        return _normalize_junction("AND", parts, 0)
    return ("c", op, args, traits)


def _normalize_coalesce(op: str, args: tuple[Expr, ...], traits: int) -> Expr:
    """The first value that is not NULL: nesting does not matter, and neither does a value that came before."""
    if op not in ("COALESCE", "COALESCE:is_nvl"):
        return ("c", op, args, traits)
    parts: list[Expr] = []
    for arg in args:
        parts.extend(arg[2] if arg[0] == "c" and arg[1] == "COALESCE" else (arg,))
    return ("c", "COALESCE", tuple(parts), traits) if len(parts) > 1 else parts[0]


def _normalize_nullif(op: str, args: tuple[Expr, ...], traits: int) -> Expr:
    """NULLIF(a, b) is CASE WHEN a = b THEN NULL ELSE a END by definition."""
    if len(args) != 2 or has_trait(args[0], VOLATILE):
        return ("c", op, args, traits)
    return ("w", ((make_call("EQ", *sorted(args, key=repr)), NULL),), args[0])


def _normalize_count(op: str, args: tuple[Expr, ...], traits: int) -> Expr:
    """COUNT of a constant that is not NULL counts rows, as COUNT(*) does."""
    if len(args) == 1 and (_is_constant(args[0]) or args[0] == ("a",)):
        args = ()
    return ("c", "COUNT", args, traits)


def _normalize_filter(op: str, args: tuple[Expr, ...], traits: int) -> Expr:
    """An aggregate that skips NULL takes with FILTER what it takes of CASE WHEN … THEN value END."""
    if len(args) != 2 or args[0][0] != "c" or args[1][:2] != ("c", "WHERE"):
        return ("c", op, args, traits)
    call, condition = args[0], args[1][2][0]
    values = call[2]
    if operator_name(call[1]) not in _NULL_SKIPPING or len(values) > 1:
        return ("c", op, args, traits)
    value: Expr = values[0] if values else ("l", "number", "1")
    distinct = value[:2] == ("c", "DISTINCT") and len(value[2]) == 1
    case = _normalize_case(("w", ((condition, value[2][0] if distinct else value),), None))
    return ("c", call[1], (make_call("DISTINCT", case) if distinct else case,), call[3])


def _normalize_case(expr: Expr) -> Expr:
    """ELSE NULL is what is there without ELSE; a CASE that replaces NULL is a COALESCE."""
    _, whens, default = expr
    if default is not None and default[:2] == ("l", "null"):
        default = None
    if len(whens) == 1 and default is not None:
        (condition, value), is_null = whens[0], _tested_for_null(whens[0][0])
        if is_null is not None and is_null == default and not has_trait(default, VOLATILE):
            return _normalize_coalesce("COALESCE", (default, value), 0)
        negated = condition[2][0] if condition[:2] == ("c", "NOT") else None
        if negated is not None and _tested_for_null(negated) == value and not has_trait(value, VOLATILE):
            return _normalize_coalesce("COALESCE", (value, default), 0)
    return ("w", whens, default)


def _tested_for_null(condition: Expr) -> Expr | None:
    if condition[:2] == ("c", "IS") and condition[2][1][:2] == ("l", "null"):
        found: Expr = condition[2][0]
        return found
    return None


def _normalize_national(op: str, args: tuple[Expr, ...], traits: int) -> Expr:
    """T-SQL: the letters of ASCII are the same in `N'x'` and `'x'`."""
    if len(args) == 1 and args[0][:2] == ("l", "string") and args[0][2].isascii():
        return args[0]
    return ("c", op, args, traits)


_CALL_FORMS: dict[str, Callable[[str, tuple[Expr, ...], int], Expr]] = {
    "AND": _normalize_junction,
    "OR": _normalize_junction,
    "NOT": _normalize_not,
    "IN": _normalize_in,
    "BETWEEN": _normalize_between,
    "COALESCE": _normalize_coalesce,
    "NULLIF": _normalize_nullif,
    "COUNT": _normalize_count,
    "FILTER": _normalize_filter,
    "NATIONAL": _normalize_national,
}
"""Operators that can be written in more than one way."""


def split_conjuncts(condition: Expr | None) -> list[Expr]:
    """The conditions that AND joins, without those that every row meets."""
    if condition is None:
        return []
    parts = condition[2] if condition[:2] == ("c", "AND") else (condition,)
    return [part for part in parts if not _is_true(part)]


def _is_true(part: Expr) -> bool:
    same = part[:2] == ("c", "EQ") and part[2][0] == part[2][1] and _is_constant(part[2][0])
    return bool(same or part[:3] == ("l", "boolean", "true"))


def find_rejected_sources(condition: Expr) -> set[int]:
    """The sources whose columns a condition needs: a row that has NULLs for all columns of one does not pass."""
    if condition[:2] == ("c", "NOT"):
        tested = _tested_for_null(condition[2][0])
        return _find_strict_sources(tested) if tested is not None else set()
    if condition[0] == "c" and condition[1] in ("AND",):
        return set().union(*(find_rejected_sources(part) for part in condition[2]))
    return _find_strict_sources(condition) if condition[0] == "c" and condition[1] in _STRICT else set()


def _find_strict_sources(expr: Expr) -> set[int]:
    if expr[0] == "col":
        return {expr[1]}
    if expr[0] == "c" and expr[1] in _STRICT:
        args = expr[2][:1] if expr[1] == "IN" else expr[2]
        return set().union(*(_find_strict_sources(arg) for arg in args)) if args else set()
    return _find_strict_sources(expr[1]) if expr[0] == "t" and not expr[3] else set()
