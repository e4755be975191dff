"""Where a column stands among the others: FIRST, or AFTER one of them."""

from collections.abc import Iterator, Sequence

from sqlglot.tokens import Token

from lineage_pipeline.dialects.alterations import FOLLOWS_COLUMN
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.cursor import Cursor
from lineage_pipeline.engine.compile.words import keyword
from lineage_pipeline.vocabulary import ir


def _place(item: Sequence[Token], least: int) -> int:
    """Where a declaration begins to say its place; before `least` stand name and type."""
    return next((at for at, token in enumerate(item) if at >= least and keyword(token) in FOLLOWS_COLUMN), len(item))


def declaration(item: Sequence[Token]) -> list[Token]:
    """A declaration without its place among the other columns."""
    return list(item[: _place(item, 2)])


def placed(
    name: ir.Name, column: str, item: Sequence[Token], traits: Traits, least: int = 2
) -> Iterator[ir.Alteration]:
    """What a declaration says of the place of its column."""
    at = _place(item, least)
    word = keyword(item[at]) if at < len(item) else ""
    if word == "FIRST":
        yield ir.Alteration(name, "first", column)
    elif word == "AFTER" and at + 1 < len(item):
        before = Cursor(item[at + 1 :], traits).column()
        yield ir.Alteration(name, "after", column, ir.ColumnDef(before, before, ""))
