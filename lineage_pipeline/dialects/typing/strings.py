"""SQL Server: which of several types decides, what strings are together, and how long."""

from collections.abc import Sequence

from lineage_pipeline.dialects.typing.shapes import Shape

MONEYS = {"MONEY": "DECIMAL(19,4)", "SMALLMONEY": "DECIMAL(10,4)"}
"""Money of SQL Server, and the decimals that it is."""

PRECEDENCE = (
    "SQL_VARIANT XML DATETIMEOFFSET DATETIME2 DATETIME SMALLDATETIME DATE TIME FLOAT REAL DECIMAL MONEY SMALLMONEY "
    "BIGINT INT SMALLINT TINYINT BIT UNIQUEIDENTIFIER NVARCHAR NCHAR VARCHAR CHAR VARBINARY BINARY"
).split()
"""Types, from the one that all others are converted to, to the one that is converted to all others."""


def string_of(names: Sequence[str]) -> str:
    """What strings of SQL Server are together: national where one is, and not padded unless all are."""
    national = any(name[:1] == "N" or name == "SYSNAME" for name in names)
    padded = all(name in ("CHAR", "NCHAR") for name in names)
    return f"{'N' if national else ''}{'' if padded else 'VAR'}CHAR"


def size_of(shape: Shape) -> float | None:
    """How many characters a string may have, or None where its type does not say."""
    if shape.name == "SYSNAME":
        return 128
    text = shape.parameters[0] if shape.parameters else ""
    return float("inf") if text == "MAX" or shape.name in ("TEXT", "NTEXT") else float(text) if text.isdigit() else None
