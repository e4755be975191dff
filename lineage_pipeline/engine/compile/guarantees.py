"""ALTER TABLE, where it is about what a column or a table promises: NOT NULL, defaults, and constraints that go."""

from collections.abc import Callable, Iterator, Sequence

from sqlglot.tokens import Token

from lineage_pipeline.dialects.alterations import CONSTRAINTS, RELEASED
from lineage_pipeline.engine.compile.cursor import Cursor
from lineage_pipeline.engine.compile.words import made
from lineage_pipeline.vocabulary import ir

Declare = Callable[[Sequence[Token]], tuple[tuple[ir.ColumnDef, ...], tuple[ir.ConstraintDef, ...]]]
"""Who reads the declaration of a column or a constraint."""

Found = Iterator[ir.Alteration | ir.Finding]


def first_of(word: str) -> str:
    """The first of the words that the tokenizer took for one, as in PRIMARY KEY."""
    return word.split(" ", 1)[0]


def guarded(cursor: Cursor, name: ir.Name, begin: int, column: str, declare: Declare) -> list[ir.Alteration]:
    """What is set or dropped of a column beside its type: NOT NULL, and a default."""
    for words, allowed in NULLABLE.items():
        if cursor.take(*words):
            definition = ir.ColumnDef(column, cursor.tokens[begin].text, "", allowed)
            return [ir.Alteration(name, "retype", column, definition)]
    if cursor.take("DROP", "DEFAULT"):
        return [ir.Alteration(name, "release default", column)]
    if not cursor.take("SET", "DEFAULT"):
        return []
    token = cursor.tokens[begin]
    given = declare([token, made("INT", token), made("DEFAULT", token), *cursor.rest()])[1]
    return [ir.Alteration(name, "constrain", constraint=item) for item in given]


NULLABLE = {("SET", "NOT", "NULL"): False, ("DROP", "NOT", "NULL"): True}


def released(cursor: Cursor, name: ir.Name) -> Found:
    """A constraint that goes, by its name; a primary key has none where it is called that."""
    word = cursor.word()
    if first_of(word) == "PRIMARY":
        yield ir.Alteration(name, "release", "primary key")
    elif first_of(word) in RELEASED or first_of(word) not in CONSTRAINTS:
        cursor.take_any("FOREIGN KEY", *RELEASED)
        cursor.take("KEY")
        cursor.take("IF", "EXISTS")
        yield ir.Alteration(name, "release", cursor.column())
    cursor.rest()
