"""Table functions that take a table by its name, or a query as text, and return its rows."""

import msgspec


class TableArgument(msgspec.Struct, frozen=True):
    """Which arguments of a function, by position, name what it reads."""

    parts: tuple[int, ...] = ()
    """The arguments that name a table, outermost part first, as strings or as one dotted name; empty: none do."""
    text: int = -1
    """The argument that is a query; -1: none is."""
    server: int = -1
    """The argument that says where the table or query is; -1: none does."""
    scheme: str = ""
    """The scheme of an external object's address, as `mysql`; empty: the table is not external."""
    added: tuple[str, ...] = ()
    """The columns that the function adds to those of the table."""
    searched: int = -1
    """The argument with the columns that are searched: the added ones are all that it gives; -1: none is."""


class TableEngine(msgspec.Struct, frozen=True):
    """An engine of a table that has its rows from another table, or passes them on to it."""

    table: TableArgument
    """Which arguments of the engine name the other table."""
    passes_on: bool = False
    """Rows that are written to the table go to the other one; else it shows the rows of the other one."""


def name_scheme_functions(*parts: int, server: int = -1, schemes: str = "") -> dict[str, TableArgument]:
    """Build rows of functions that are named like the scheme of what they read."""
    return {scheme.upper(): TableArgument(parts, server=server, scheme=scheme) for scheme in schemes.split()}
