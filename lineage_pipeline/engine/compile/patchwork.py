"""Sources with holes: texts that a program puts together, as far as they are known before it runs."""

from collections.abc import Mapping, Sequence

import msgspec
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.holes import without_holes
from lineage_pipeline.engine.compile.literals import STRINGS
from lineage_pipeline.engine.compile.pieces import Piece
from lineage_pipeline.engine.compile.recovered import counted, guessed
from lineage_pipeline.engine.compile.sequence import CompilePiece
from lineage_pipeline.vocabulary import ir
from lineage_pipeline.vocabulary.analysis import HOLE


def with_holes(compile_piece: CompilePiece, traits: Traits) -> CompilePiece:
    """A compiler that marks what has holes as approximate, and leaves them out where more can be read then."""

    def compiled(piece: Piece, declared: Mapping[str, str]) -> ir.Placed:
        tokens = counted(piece.tokens)
        callee = piece.use.target if piece.use is not None else None
        known = callee is None or HOLE not in callee.parts[-1]
        if known and not any(HOLE in token.text and token.token_type not in STRINGS for token in tokens):
            return compile_piece(msgspec.structs.replace(piece, tokens=tokens), declared)
        whole = msgspec.structs.replace(piece, tokens=tokens)
        placed = compile_piece(whole, declared)
        if placed.statement.status == "failed":
            for rest in (_without(tokens, behind_operands=True), _without(tokens)):
                less = msgspec.structs.replace(piece, tokens=rest, begin=piece.start, stop=piece.end)
                again = compile_piece(less, declared) if rest else placed
                if again.statement.status != "failed":
                    return _marked(again, piece)
            placed = guessed(whole, placed, traits)
        return _marked(placed, piece)

    return compiled


def _without(tokens: Sequence[Token], *, behind_operands: bool = False) -> list[Token]:
    """The tokens without holes, or without those that no expression can go on with: a clause may be left out there."""
    found: list[Token] = []
    for token in tokens:
        hole = token.text == HOLE and token.token_type not in STRINGS
        if not hole or (behind_operands and not (found and found[-1].token_type in _OPERANDS)):
            found.append(token)
    return found


_OPERANDS = frozenset({TokenType.VAR, TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.R_PAREN, *STRINGS})
"""What an operand ends with."""

_CARRYING = "relations definition writes alterations drops calls reads findings".split()
"""The parts of a statement that a hole may make a difference to."""


def _marked(placed: ir.Placed, piece: Piece) -> ir.Placed:
    """A statement of which a part is not known."""
    callee = piece.use.target.parts[-1] if piece.use is not None and piece.use.target is not None else ""
    named = (token.text for token in piece.tokens if token.token_type not in STRINGS)
    holes = sum(len(text) for text in (*named, callee) if HOLE in text)
    size = max(placed.end - placed.start, 1)
    share = (("share", str(max(100 * (size - holes) // size, 0))),)
    if not placed.statement.context[1:] and not any(getattr(placed.statement, part) for part in _CARRYING):
        return placed  # GRANT … ON IDENTIFIER($v): nothing of it is missed
    statement = without_holes(placed.statement)
    findings = (*statement.findings, ir.Finding("DYNAMIC_SQL", share, 0, placed.end - placed.start))
    status = "partial" if statement.status == "analysed" else statement.status
    return msgspec.structs.replace(
        placed, statement=msgspec.structs.replace(statement, status=status, findings=findings)
    )
