"""Statements one after the other: what each leaves behind for those that follow it in its script."""

from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.calls import Run
from lineage_pipeline.engine.compile.identifiers import resolved, speaks
from lineage_pipeline.engine.compile.pieces import Piece
from lineage_pipeline.engine.compile.recovered import recovered
from lineage_pipeline.engine.compile.strings import Strings
from lineage_pipeline.vocabulary import ir

CompilePiece = Callable[[Piece, Mapping[str, str]], ir.Placed]
"""Who compiles one piece, given the types of the variables declared before it."""

_CHANGED_ROWS = (("inserted",), ("deleted",))


def sequence(
    pieces: Iterable[Piece], text: str, traits: Traits, compile_piece: CompilePiece, quoted: bool = False
) -> Iterator[ir.Placed]:
    """The statements in text order, each knowing the types of the variables declared before it.

    Statements found in a text that is run come behind the one that runs it, so that what follows moves on.
    """
    declared: dict[str, str] = {}
    numbers: list[int] = []
    count, watched = 0, None
    pieces = list(pieces)
    names = not quoted and speaks(text, traits)
    told = not quoted and (traits.batches or names or any(piece.run is not None for piece in pieces))
    strings = Strings(text, traits) if told else None
    for piece in pieces:
        placed = compile_piece(resolved(piece, strings.known) if names and strings is not None else piece, declared)
        parent = numbers[piece.parent] if piece.parent >= 0 else ir.NOWHERE
        if parent != placed.parent:
            placed = msgspec.structs.replace(placed, parent=parent)
        declared = _declared(declared, placed.statement)
        watched = _watched(watched, placed.statement) if traits.batches else None
        run = [placed if watched is None else _watching(placed, watched)]
        if strings is not None:
            strings.advance(len(numbers), piece)
            if piece.run is not None:
                run = _run(placed, piece.run, strings, text, (traits, compile_piece), count)
            strings.observe(piece)
        elif piece.run is not None:
            run = [_unknown(placed, 0)]
        if not piece.aside:
            numbers.append(count)
        count += len(run)
        yield from run


def _declared(before: dict[str, str], statement: ir.Statement) -> dict[str, str]:
    """The types of variables behind a statement."""
    definition = statement.definition
    if statement.kind == "GO" or (definition is not None and definition.parameters):
        parameters = definition.parameters if definition is not None else ()
        return {parameter.name: parameter.type for parameter in parameters}
    for assignment in statement.assigns:
        before.update(zip(assignment.variables, assignment.types, strict=False))
    return before


def _watched(before: ir.Name | None, statement: ir.Statement) -> ir.Name | None:
    """The table that the trigger watches in which the next statement stands."""
    if statement.kind == "GO":
        return None
    return statement.definition.watches if statement.definition is not None else before


def _watching(placed: ir.Placed, watched: ir.Name) -> ir.Placed:
    """A statement of a trigger: `inserted` and `deleted` hold rows of the table that it watches."""
    meant = msgspec.structs.replace(watched, start=ir.NOWHERE, end=ir.NOWHERE)
    relations = tuple(_of_watched(relation, meant) for relation in placed.statement.relations)
    return msgspec.structs.replace(placed, statement=msgspec.structs.replace(placed.statement, relations=relations))


def _of_watched(relation: ir.Relation, watched: ir.Name) -> ir.Relation:
    if not isinstance(relation, ir.Select):
        return relation
    sources = tuple(
        msgspec.structs.replace(source, name=watched)
        if source.name is not None and source.name.parts in _CHANGED_ROWS
        else source
        for source in relation.sources
    )
    return msgspec.structs.replace(relation, sources=sources)


def _run(
    placed: ir.Placed, run: Run, strings: Strings, text: str, rules: tuple[Traits, CompilePiece], ordinal: int
) -> list[ir.Placed]:
    """A statement that runs a text, and the statements of that text."""
    traits, compile_piece = rules

    def compile_pieces(pieces: Iterable[Piece]) -> Iterator[ir.Placed]:
        return sequence(pieces, text, traits, compile_piece, quoted=True)

    found = recovered(run, strings.known, compile_pieces)
    outer = placed if found.whole else _unknown(placed, found.share)
    inner = [
        msgspec.structs.replace(one, parent=ordinal if one.parent < 0 else ordinal + 1 + one.parent)
        for one in found.statements
    ]
    return [outer, *inner]


def _unknown(placed: ir.Placed, share: int) -> ir.Placed:
    """A statement whose text is not known to its end."""
    finding = ir.Finding("DYNAMIC_SQL", (("share", str(share)),), 0, placed.end - placed.start)
    statement = msgspec.structs.replace(placed.statement, status="partial", findings=(finding,))
    return msgspec.structs.replace(placed, statement=statement)
