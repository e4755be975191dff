"""How the rows of large tables lie in their files: in an order that lets readers skip what they do not ask for."""

ORDERS: dict[str, tuple[str, ...]] = {
    "statements": ("path", "ordinal"),
    "columns": ("object", "ordinal"),
    "constraints": ("object", "id"),
    "column_edges": ("to_object", "to_column", "path", "statement"),
    "facets": ("object", "column", "name", "path", "statement"),
    "column_reach": ("object", "ordinal"),
}
"""What the rows of each file are sorted by: questions name the object that they are about."""

GROUP_ROWS = 30_000
"""Rows of a row group: a question about one object reads one of them, and its statistics rule out the others."""

FILES_A_PIECE = 2_000
"""SQL files whose rows share a file: small tables lie in one, large ones in as many as there are cores."""
