"""What columns are called that no alias names."""

from enum import StrEnum


class Naming(StrEnum):
    """What a column without an alias is called: by its text, as it is printed, by value or function, or a number.

    `UPPER` is the text in upper case, `PACKED` without its spaces too.
    """

    TEXT = "text"
    UPPER = "upper"
    PACKED = "packed"
    VALUE = "value"
    CAPTION = "caption"
    PRINTED = "printed"
    FUNCTION = "function"
    NONE = "none"
    COL0 = "_col{}"
    C0 = "_c{}"
    F0 = "f{}_"
