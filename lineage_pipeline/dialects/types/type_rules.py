"""Type rules: what a dialect adds to the common rules for result types and nullability."""

from collections.abc import Callable

import msgspec

from lineage_pipeline.dialects.types.arithmetic import ArgumentTypes, TypeRule
from lineage_pipeline.dialects.types.nullability import GENERAL_NULL_RULES, NullRules

SAME_AS_EXPRESSION = "="
"""The type of a table function's column that is the type of the function in an expression."""

ELEMENT_OF_EXPRESSION = "[]"
"""The type of a table function's column that is the element of the list it returns in an expression."""


class TypeRules(msgspec.Struct, frozen=True, eq=False):
    """How the functions and operators of one dialect family are typed."""

    functions: dict[str, TypeRule] = {}
    """Result types of functions and operators, where the common rules do not say them or say another."""
    constants: frozenset[str] = frozenset()
    """Operators whose type depends on the values of constants, beside the common ones: `TO_NUMBER(x, 10, 2)`."""
    unknown: Callable[[ArgumentTypes, str], str | None] | None = None
    """The type of a function without a rule, by its arguments and the parser's type; None: the parser's type."""
    nulls: NullRules = GENERAL_NULL_RULES
    """Which operators and functions may return NULL."""
    keeps_size: frozenset[str] = frozenset()
    """Operators whose results keep length and digits in a family where computed values have none."""
    table_functions: dict[str, tuple[str, ...]] = {}
    """The types of the first columns of table functions."""
    counting_functions: frozenset[str] = frozenset()
    """Table functions whose only column counts and is never NULL."""
