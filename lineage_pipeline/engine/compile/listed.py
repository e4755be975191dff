"""Where what an INSERT lists stands: the columns behind its target, and the rows behind VALUES."""

from sqlglot import exp
from sqlglot.tokens import TokenType

from lineage_pipeline.engine.compile.context import Context
from lineage_pipeline.vocabulary import ir


def listed_in(node: exp.Expr) -> list[exp.Identifier]:
    """The columns that stand in brackets behind the object that is written."""
    items = node.expressions if isinstance(node, exp.Schema | exp.Tuple) else ()
    names = [item.this if isinstance(item, exp.ColumnDef | exp.Column) else item for item in items]
    return [item for item in names if isinstance(item, exp.Identifier)]


def starts_of(context: Context, columns: list[exp.Identifier]) -> tuple[int, ...]:
    """Where columns stand, in characters from the start of the statement."""
    origin = context.origin
    return tuple(item.meta.get("start", origin + ir.NOWHERE) - origin for item in columns)


def row_start(context: Context, number: int = 0) -> int:
    """Where a row of the first VALUES stands, or NOWHERE; tokens are read up to there, and only when it matters."""
    depth, rows, inside = 0, -1, False
    for token in context.tokens:
        kind = token.token_type
        if not inside:
            inside = kind is TokenType.VALUES
        elif kind is TokenType.L_PAREN:
            rows += depth == 0
            if depth == 0 and rows == number:
                return int(token.start)
            depth += 1
        elif kind is TokenType.R_PAREN:
            depth -= 1
    return ir.NOWHERE
