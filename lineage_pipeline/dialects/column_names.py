"""Column names: how a dialect prints an expression without an alias, as rules of one printer."""

from collections.abc import Callable, Mapping

import msgspec

BARE_FUNCTIONS = frozenset(
    "CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP CURRENT_USER SESSION_USER USER CURRENT_ROLE "
    "CURRENT_CATALOG CURRENT_SCHEMA".split()
)
"""Functions that are called without parentheses."""

PRINTED_CONSTANTS = {"NULL": "NULL", "TRUE": "true", "FALSE": "false"}


class BinaryOperator(msgspec.Struct, frozen=True):
    """A binary operator: how tightly it binds, and how it is printed around its operands.

    A chain of `flat` operators has one pair of parentheses. `interval_shape` applies before an interval.
    """

    precedence: int
    shape: str
    right_associative: bool = False
    flat: bool = False
    interval_shape: str = ""


def build_infix_operators(precedence: int, signs: str) -> dict[str, BinaryOperator]:
    """Return operators that are printed in parentheses, between their operands."""
    return {sign: BinaryOperator(precedence, f"({{}} {sign} {{}})") for sign in signs.split()}


class PrefixOperator(msgspec.Struct, frozen=True):
    """A prefix operator; `number_shape` is how it is printed before a number, if differently."""

    precedence: int
    shape: str
    number_shape: str = ""


class PatternOperator(msgspec.Struct, frozen=True):
    """A pattern operator such as LIKE; without `escape_shape` it has no ESCAPE."""

    shape: str
    denied_shape: str
    escape_shape: str = ""


class ColumnNameRules(msgspec.Struct, frozen=True, kw_only=True):
    """How a dialect prints expressions: `{}` in a shape is an operand; an empty shape cannot be printed."""

    # ── operators ────────────────────────────────────────────────────────────────────────────────────────────────

    operators: Mapping[str, BinaryOperator]
    prefixes: Mapping[str, PrefixOperator]
    signs_number_tokens: bool
    """Whether a minus belongs to a number that is written behind it, and not to one that is printed behind it."""
    predicates: frozenset[str]
    """Keywords that begin a predicate behind its left side."""
    predicate_precedence: int
    patterns: Mapping[str, PatternOperator]
    null_tests: Mapping[str, str] = {}
    """Keywords that are predicates on their own, such as NOTNULL."""
    null_words: tuple[str, ...] = ("NULL",)
    """What IS may compare with as with NULL."""
    between_shape: str
    in_list_shape: str = ""
    """IN over a list without parentheses."""
    same_shape: str
    different_shape: str
    """IS [NOT] DISTINCT FROM."""
    truth_shape: str
    """The operand of IS TRUE."""
    time_zone_shape: str = ""
    collate_shape: str = ""

    # ── operands ─────────────────────────────────────────────────────────────────────────────────────────────────

    quote_name: Callable[[str], str]
    raw_literals: bool
    """Whether constants are printed as written."""
    print_number: Callable[[str], str]
    literal_types: frozenset[str]
    """Types before a string that make a typed constant."""
    print_typed_literal: Callable[[str, str], str]
    double_suffixes: frozenset[str] = frozenset()
    """Letters behind a number that make it a double."""
    interval_shapes: Mapping[str, str]
    """Intervals by unit, without a plural s."""
    interval_range_shape: str = ""
    """An interval from one unit to another."""
    unitless_interval_shape: str = ""
    constant_intervals: bool
    """Whether the amount of an interval is a constant and a whole number; INTERVAL before anything else is a name."""
    bare_functions: Mapping[str, str]
    member_shape: str
    prints_member_stars: bool
    slices: bool
    """Whether `a[1:2]` is a slice."""
    row_shape: str
    row_item_shape: str
    list_shape: str = ""
    """`[a, b]`; empty if the dialect has no literals in brackets, and so are the next ones."""
    array_shape: str = ""
    """`ARRAY[a, b]`."""
    struct_shape: str = ""
    map_shape: str = ""
    comprehension_shape: str = ""
    filtered_comprehension_shape: str = ""
    branch_shape: str
    case_shape: str
    default_else: str = ""
    """The ELSE of a CASE that has none."""
    lambda_sign: str
    """`->` behind the parameters, or the keyword before them."""
    lambda_variable: str = ""
    """What is printed for every parameter, if not its name."""
    print_lambda: Callable[[str, list[str]], str]
    prints_queries: bool
    """Whether a subquery is printed, and not only the outer columns that it uses."""
    scalar_shape: str
    exists_shape: str
    in_query_shape: str

    # ── function calls ───────────────────────────────────────────────────────────────────────────────────────────

    printed_functions: Mapping[str, str]
    """Names under which functions are printed."""
    call_shapes: Mapping[str, str]
    """Functions with a printed form of their own, if they have as many arguments as it has places, or it has none."""
    arity_functions: Mapping[tuple[str, int], str]
    """Functions that become another one with that many arguments."""
    default_arguments: Mapping[str, tuple[int, tuple[str, ...]]] = {}
    """Default arguments that are printed: the number of given arguments, and what follows."""
    max_printed_arguments: Mapping[str, int] = {}
    """Functions that print no more than that many arguments."""
    conversion_functions: frozenset[str] = frozenset()
    """Functions that print as their argument."""
    argument_quantifiers: tuple[str, ...]
    named_arguments: Mapping[str, str]
    """Named arguments by the sign behind the name."""
    argument_alias_shape: str = ""
    """`struct(a AS b)`."""
    prints_argument_order: bool
    """Whether ORDER BY and IGNORE NULLS stand, and are printed, inside the parentheses of a call."""
    star: str = ""
    """A star among arguments."""
    counted_star: tuple[str, ...]
    """The arguments of COUNT(*)."""
    extract_shape: str
    """EXTRACT of a unit from a value."""
    print_unit: Callable[[str], str]
    position_shape: str
    """POSITION of a text in another one."""
    trim_shapes: Mapping[str, tuple[str, str]]
    """TRIM by its side, without and with the characters to trim."""
    within_group_shape: str
    ordered_set_shapes: Mapping[str, str]
    """Functions with WITHIN GROUP: the printed `call`, its `arguments` and their `order`."""
    print_order_key: Callable[[str, str, str], str]
    """The shape of an ORDER BY key: its direction, the position of nulls, and the function with WITHIN GROUP."""
    ignore_nulls_shapes: Mapping[str, str] = {}
    """Functions with IGNORE NULLS behind their arguments."""
    windowed_functions: Mapping[str, str] = {}
    """Names under which functions are printed before OVER."""
    frame_words: frozenset[str]
    """The units of frames; with EXCLUDE if they may leave out rows."""
    print_frame: Callable[[str, str, str, bool], str]
    """The frame of a window: as written, the function, its offset, and whether the window has an order."""

    # ── types ────────────────────────────────────────────────────────────────────────────────────────────────────

    types: Mapping[str, str]
    """Types that have another name."""
    keeps_type_case: bool
    """Whether other types are printed as written, not in upper case."""
    type_brackets: frozenset[str]
    """What opens the parameters of a type."""
    type_separator: str
    sized_types: Mapping[str, str] = {}
    """Types that have another name with parameters."""
    bare_types: Mapping[str, str] = {}
    """Types that have another name without parameters."""
    array_types: bool
    """Whether `INT[]` is a type."""
    omitted_casts: tuple[str, ...] = ()
    """Beginnings of types to which CAST is not printed."""
