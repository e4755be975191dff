"""What a grammar leaves out because the engine refuses it: every other pair of types for every operator."""

from collections.abc import Iterator

from lineage_pipeline_tests.oracles.generator.grammar import Grammar, Kind, Operator
from lineage_pipeline_tests.oracles.generator.judgement import Asked


def taken_anyway(grammar: Grammar, theirs: Asked) -> list[str]:
    """The pairs that the grammar does not have although the engine takes them."""
    return [
        f"{row.name}: {left.name} {right.name}"
        for row in (*grammar.operators, *grammar.sets)
        for left, right in _others(grammar, row)
        if not isinstance(theirs(_query(grammar, row, left, right)), str)
    ]


def _others(grammar: Grammar, row: Operator) -> Iterator[tuple[Kind, Kind]]:
    known = {(left.name, right.name) for left, right in grammar.pairs(row)}
    for left in grammar.kinds:
        yield from ((left, right) for right in grammar.kinds if (left.name, right.name) not in known)


def _query(grammar: Grammar, row: Operator, left: Kind, right: Kind) -> str:
    first, second = f"a.{left.name}_n", f"a.{right.name}_n"
    if row in grammar.sets:
        return row.text.format(f"select {first} from t1 as a", f"select {second} from t1 as a")
    text = row.text.replace("{0}", first).replace("{1}", second).replace("{type}", right.spellings[0])
    return f"select {text.replace('{boolean}', 'a.boolean_n')} as x from t1 as a"
