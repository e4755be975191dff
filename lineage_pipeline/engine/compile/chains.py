"""Chains: thousands of operands one after the other are a tree as deep as they are many; a balanced one is flat."""

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.engine.compile.parse import Items

_SUMS = (exp.Add, exp.Sub, exp.DPipe)
_LONGEST, _DEEPEST = 64, 100
_OPERATORS = frozenset(
    {TokenType.PLUS, TokenType.DASH, TokenType.DPIPE, TokenType.STAR, TokenType.AND, TokenType.OR, TokenType.XOR}
)


def has_chain(tokens: Sequence[Token]) -> bool:
    """Whether a statement is long enough, and has enough operators, for a chain to be deep."""
    return len(tokens) > 2 * _DEEPEST and sum(token.token_type in _OPERATORS for token in tokens) > _DEEPEST


def balanced(tree: exp.Expr, items: Items) -> exp.Expr:
    """A tree without deep chains of operators; what the operands are and in which order stays as it is."""
    pending = [tree]
    while pending:
        node = pending.pop()
        operands = _operands(node)
        pending.extend(operands or node.iter_expressions())
        if len(operands) > _LONGEST:
            flat = _joined(node, operands)
            place = items.nodes.get(id(node))
            if place is not None:
                items.nodes[id(flat)] = (flat, place[1], place[2])
            if node is tree:
                tree = flat
            else:
                node.replace(flat)
    return tree


def _operands(node: exp.Expr) -> list[exp.Expr]:
    """The operands of a chain in order; none where a node is no operator that can be one of a chain."""
    kinds = _SUMS if isinstance(node, _SUMS) else (type(node),) if isinstance(node, exp.Connector | exp.Mul) else ()
    found: list[exp.Expr] = []
    while kinds and isinstance(node, kinds):
        found.append(node.expression)
        node = node.this
    return [node, *reversed(found)] if found else []


def _joined(node: exp.Expr, operands: Sequence[exp.Expr]) -> exp.Expr:
    """The operands under the operator of a node, as a tree that is no deeper than it has to be."""
    level = list(operands)
    others = {key: value for key, value in node.args.items() if key not in ("this", "expression")}
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [type(node)(this=left, expression=right, **others) for left, right in pairs] + level[len(level) & ~1 :]
    return level[0]
