"""Shrinks a program to the few words that still show a violation."""

from collections.abc import Callable, Iterator
from functools import partial

import msgspec
import sqlglot
from sqlglot import exp

from benchmarks.witness.queries import CREATE_RESULT, RESULT, Program

_CLAUSES = ("where", "having", "qualify", "limit", "offset", "order", "group", "distinct", "with_")
_LISTS = ("expressions", "joins", "laterals")
TRIES = 1500


def shrink_program(program: Program, dialect: str, holds: Callable[[Program], bool]) -> Program:
    """The smallest program found for which something still holds."""
    tries = 0
    shrinking = True
    while shrinking:
        shrinking = False
        for smaller in list_smaller(program, dialect):
            tries += 1
            if tries > TRIES:
                return program
            if holds(smaller):
                program, shrinking = smaller, True
                break
    return program


def list_smaller(program: Program, dialect: str) -> Iterator[Program]:
    """Programs with one part less, large parts first."""
    for at, _ in enumerate(program.statements):
        rest = (*program.statements[:at], *program.statements[at + 1 :])
        targets = tuple(name for name in program.targets if name == "ledger" or any(f" {name} " in one for one in rest))
        if rest and targets:
            yield msgspec.structs.replace(program, statements=rest, targets=targets)
    for at, statement in enumerate(program.statements):
        for text in list_smaller_texts(statement, dialect):
            if len(text) < len(statement):
                statements = (*program.statements[:at], text, *program.statements[at + 1 :])
                yield msgspec.structs.replace(program, statements=statements)


def list_smaller_texts(statement: str, dialect: str) -> Iterator[str]:
    """Texts of a statement with one part less."""
    tree = sqlglot.parse_one(statement, dialect=dialect)
    count = sum(1 for _ in tree.walk())
    for number in range(count):
        for edit in range(16):
            copy = tree.copy()
            node = next(one for at, one in enumerate(copy.walk()) if at == number)
            if not apply_edit(node, edit):
                break
            text = copy.sql(dialect=dialect)
            yield text.replace(CREATE_RESULT.upper().replace(RESULT.upper(), RESULT), CREATE_RESULT)


def apply_edit(node: exp.Expr, edit: int) -> bool:
    """Make the edit of a number in place; False where the node has no more of them."""
    edits = list_edits(node)
    if edit >= len(edits):
        return False
    edits[edit]()
    return True


def list_edits(node: exp.Expr) -> list[Callable[[], object]]:
    """What may be left out of a node: a clause, an item of a list, or all of it but one operand."""
    edits: list[Callable[[], object]] = [partial(node.set, name, None) for name in _CLAUSES if node.args.get(name)]
    for name in _LISTS:
        items = node.args.get(name) or []
        if len(items) > (name == "expressions"):
            edits += [partial(node.set, name, [*items[:at], *items[at + 1 :]]) for at, _ in enumerate(items)]
    if node.parent is not None and not isinstance(node, exp.Table | exp.Identifier | exp.TableAlias | exp.Alias):
        named = exp.Identifier | exp.TableAlias | exp.DataType
        edits += [partial(put_in_place, node, one) for one in node.iter_expressions() if not isinstance(one, named)]
    return edits


def put_in_place(node: exp.Expr, operand: exp.Expr) -> None:
    """Put one operand in the place of a node."""
    node.replace(operand.pop())
