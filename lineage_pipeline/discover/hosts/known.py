"""What is known of a value of a program before it runs: the texts it may be, its items, its entries by key."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

import msgspec

from lineage_pipeline.discover.hosts.syntax import nodes_of
from lineage_pipeline.discover.hosts.values import UNKNOWN, Texts, Value, chosen, either, is_unknown
from lineage_pipeline.vocabulary.places import line_starts


class Source(msgspec.Struct, frozen=True):
    """A piece of a program, and where it begins in the file."""

    text: str
    lines: tuple[int, ...]
    base: int = 0

    @classmethod
    def of(cls, text: str, base: int = 0) -> "Source":
        """Take a text apart into lines."""
        return cls(text, line_starts(text), base)

    def offset(self, line: int, column: int) -> int:
        """Give the offset of a place that Python counts in bytes."""
        start = self.lines[line - 1]
        rest = self.text[start : start + column]
        if rest.isascii():
            return start + column
        return start + len(self.text[start:].encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))

    def place(self, node: ast.expr) -> int:
        """Give the place of an expression in the file."""
        return self.base + self.offset(node.lineno, node.col_offset)

    def written(self, node: ast.expr) -> tuple[str, int]:
        """Give what stands in the file for an expression, and where."""
        start = self.offset(node.lineno, node.col_offset)
        end = self.offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
        return self.text[start:end], self.base + start


LARGEST = 5_000
"""How many values a list or a table may hold, those in its own lists and tables counted."""


class Known(msgspec.Struct, frozen=True):
    """What is known of a value; a list has items, a dictionary entries, and either may be unknown.

    Of one that is too large nothing is known: lists of the same list twice would double with each line of a program.
    """

    texts: Texts = UNKNOWN
    items: "tuple[Known, ...] | None" = None
    entries: "Mapping[str, Known] | None" = None
    size: int = 1

    def __post_init__(self) -> None:
        """Count what is inside."""
        if self.items or self.entries:
            inside = (*(self.items or ()), *(self.entries or {}).values())
            size = 1 + sum([item.size for item in inside])
            msgspec.structs.force_setattr(self, "size", min(size, LARGEST))
            if size > LARGEST:
                msgspec.structs.force_setattr(self, "items", None)
                msgspec.structs.force_setattr(self, "entries", None)

    def under(self, choice: tuple[int, int]) -> "Known":
        """Give the same under a choice."""
        items = None if self.items is None else tuple(item.under(choice) for item in self.items)
        entries = None if self.entries is None else {key: item.under(choice) for key, item in self.entries.items()}
        return Known(chosen(self.texts, choice), items, entries)


NOTHING = Known()


def one_of(values: Sequence[Known], number: int) -> Known:
    """Give a value that is one of several; `number` names the choice, so that it is made once wherever it bears."""
    if not values:
        return NOTHING
    first = values[0]
    if all(value is first or value == first for value in values):
        return first
    return _either([value.under((number, place)) for place, value in enumerate(values)])


def _either(values: Sequence[Known]) -> Known:
    """Give what holds of values that are marked with their choices."""
    lists = [value.items for value in values if value.items is not None]
    tables = [value.entries for value in values if value.entries is not None]
    items, entries = None, None
    if len(lists) == len(values) and len({len(items) for items in lists}) == 1:
        items = tuple(_either(column) for column in zip(*lists, strict=True))
    if len(tables) == len(values):
        keys = dict.fromkeys(key for table in tables for key in table)
        entries = {key: _either([table[key] for table in tables if key in table]) for key in keys}
    texts = either(*(value.texts for value in values))
    return Known(UNKNOWN if is_unknown(texts) else texts, items, entries)


def texts_in(known: Known) -> list[Value]:
    """Give the texts of a list, and of lists in it."""
    return [text for item in known.items or () for text in (texts_in(item) or item.texts)]


def _longest(values: Sequence[Known]) -> Known | None:
    """Give the list that others of the branches are the beginning of: what is added under a condition may be there."""
    lists = [value.items for value in values]
    if len(lists) < 2 or any(items is None for items in lists):
        return None
    longest = max(values, key=lambda value: len(value.items or ()))
    fits = all((longest.items or ())[: len(items or ())] == items for items in lists)
    return longest if fits else None


def name_of(node: ast.expr) -> str:
    """Give the name of a variable, `self.x` included, or nothing."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{'self' if node.value.id in ('self', 'cls') else node.value.id}.{node.attr}"
    return ""


class Function(msgspec.Struct, frozen=True):
    """A function of the program, where it is written, and whether its first argument is the instance."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    source: Source
    bound: bool = False

    def parameters(self) -> list[str]:
        """Name the parameters that an argument may be given for by its place."""
        arguments = self.node.args
        names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        return names[1:] if self.bound else names

    def defaults(self) -> Iterator[tuple[str, ast.expr]]:
        """Give what parameters are where the caller does not say."""
        arguments = self.node.args
        placed = [*arguments.posonlyargs, *arguments.args]
        for argument, value in zip(placed[::-1], arguments.defaults[::-1], strict=False):
            yield argument.arg, value
        for argument, given in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if given is not None:
                yield argument.arg, given

    def all_parameters(self) -> list[str]:
        """Name all parameters."""
        arguments = self.node.args
        rest = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
        return [item.arg for item in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest)]


class Names(msgspec.Struct):
    """What is known of names at a place of the program, and of its functions; `depth` counts calls inside of calls.

    Names that are `imported` are known by their module, the dots before it, and what they are called there.
    """

    known: dict[str, Known] = {}
    functions: dict[str, Function] = {}
    numbers: Iterator[int] = msgspec.field(default_factory=count)
    depth: int = 0
    imported: dict[str, tuple[str, int, str]] = {}

    def copy(self) -> "Names":
        """Give what a branch starts with."""
        return Names(dict(self.known), self.functions, self.numbers, self.depth, self.imported)

    def choice(self) -> int:
        """Give a number for a choice."""
        return next(self.numbers)


def join_branches(before: Names, ends: Sequence[Names]) -> None:
    """Let names stand for what they are at the end of one branch or another."""
    number = before.choice()
    known = before.known
    changed = [name for end in ends for name, value in end.known.items() if known.get(name) is not value]
    for name in dict.fromkeys(changed):
        values = [end.known[name] for end in ends if name in end.known]
        known[name] = _longest(values) or one_of(values, number)


class Later(msgspec.Struct, frozen=True):
    """A function whose body is still to be read, and what it sees from where it stands."""

    function: Function
    scope: Names
    members: Mapping[str, Known] = {}
    methods: Mapping[str, Function] = {}


def callers_first(functions: Sequence[Later]) -> list[Later]:
    """Order functions so that those that call others come before them, as far as there is such an order."""
    by_node: dict[ast.AST, Later] = {later.function.node: later for later in functions}
    done: list[Later] = []
    seen: set[ast.AST] = set()
    for function in reversed(functions):
        waiting = [(function, iter([function]))]  # without recursion: there may be thousands that call each other
        while waiting:
            later, called = waiting[-1]
            other = next((one for one in called if one.function.node not in seen), None)
            if other is not None:
                seen.add(other.function.node)
                waiting.append((other, _called(other, by_node)))
                continue
            waiting.pop()
            if waiting:
                done.append(later)
    return done[::-1]


def _called(later: Later, by_node: Mapping[ast.AST, Later]) -> Iterator[Later]:
    """Give the functions that one calls, of those that are still to be read."""
    for inner in nodes_of(later.function.node, (ast.Call,)):
        name = name_of(inner.func) if isinstance(inner, ast.Call) else ""
        called = later.methods.get(name) or later.scope.functions.get(name)
        if called is not None and called.node in by_node:
            yield by_node[called.node]
