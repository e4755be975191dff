"""Values of a Python program known before it runs: possible texts, list items and dictionary entries."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

import msgspec

from lineage_pipeline.discover.embedded_sql.python_syntax import iter_nodes
from lineage_pipeline.discover.embedded_sql.text_parts import (
    UNKNOWN,
    PossibleTexts,
    TextValue,
    is_unknown_text,
    mark_choice,
    union_texts,
)
from lineage_pipeline.model.source_map import find_line_starts


class ProgramSource(msgspec.Struct, frozen=True):
    """A piece of a program, and its offset in the file."""

    text: str
    lines: tuple[int, ...]
    base: int = 0

    @classmethod
    def of(cls, text: str, base: int = 0) -> "ProgramSource":
        """Split a text into lines."""
        return cls(text, find_line_starts(text), base)

    def offset(self, line: int, column: int) -> int:
        """Return the character offset of a line and a byte column, as Python counts them."""
        start = self.lines[line - 1]
        rest = self.text[start : start + column]
        if rest.isascii():
            return start + column
        return start + len(self.text[start:].encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))

    def offset_of(self, node: ast.expr) -> int:
        """Return the offset of an expression in the file."""
        return self.base + self.offset(node.lineno, node.col_offset)

    def source_text(self, node: ast.expr) -> tuple[str, int]:
        """Return the source text of an expression, and its offset."""
        start = self.offset(node.lineno, node.col_offset)
        end = self.offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
        return self.text[start:end], self.base + start


MAX_VALUE_SIZE = 5_000
"""How many values a list or dictionary may hold, nested ones included."""


class KnownValue(msgspec.Struct, frozen=True):
    """A known value: texts it may be, list items, dictionary entries; items and entries may be unknown.

    One that is too large is unknown: a list that holds the same list twice doubles with each line of a program.
    """

    texts: PossibleTexts = UNKNOWN
    items: "tuple[KnownValue, ...] | None" = None
    entries: "Mapping[str, KnownValue] | None" = None
    size: int = 1

    def __post_init__(self) -> None:
        """Count the nested values."""
        if self.items or self.entries:
            inside = (*(self.items or ()), *(self.entries or {}).values())
            size = 1 + sum([item.size for item in inside])
            msgspec.structs.force_setattr(self, "size", min(size, MAX_VALUE_SIZE))
            if size > MAX_VALUE_SIZE:
                msgspec.structs.force_setattr(self, "items", None)
                msgspec.structs.force_setattr(self, "entries", None)

    def under_choice(self, choice: tuple[int, int]) -> "KnownValue":
        """Return the value under a choice."""
        items = None if self.items is None else tuple(item.under_choice(choice) for item in self.items)
        entries = (
            None if self.entries is None else {key: item.under_choice(choice) for key, item in self.entries.items()}
        )
        return KnownValue(mark_choice(self.texts, choice), items, entries)


UNKNOWN_VALUE = KnownValue()


def choose_value(values: Sequence[KnownValue], number: int) -> KnownValue:
    """Return a value that is one of several; `number` identifies the choice, so that it is made consistently."""
    if not values:
        return UNKNOWN_VALUE
    first = values[0]
    if all(value is first or value == first for value in values):
        return first
    return _union_values([value.under_choice((number, place)) for place, value in enumerate(values)])


def _union_values(values: Sequence[KnownValue]) -> KnownValue:
    """Return the union of values that are marked with their choices."""
    lists = [value.items for value in values if value.items is not None]
    tables = [value.entries for value in values if value.entries is not None]
    items, entries = None, None
    if len(lists) == len(values) and len({len(items) for items in lists}) == 1:
        items = tuple(_union_values(column) for column in zip(*lists, strict=True))
    if len(tables) == len(values):
        keys = dict.fromkeys(key for table in tables for key in table)
        entries = {key: _union_values([table[key] for table in tables if key in table]) for key in keys}
    texts = union_texts(*(value.texts for value in values))
    return KnownValue(UNKNOWN if is_unknown_text(texts) else texts, items, entries)


def flatten_texts(known: KnownValue) -> list[TextValue]:
    """Return the texts of a list, and of lists in it."""
    return [text for item in known.items or () for text in (flatten_texts(item) or item.texts)]


def _longest_list(values: Sequence[KnownValue]) -> KnownValue | None:
    """Return the longest list if the others are prefixes of it: items added under a condition may be there."""
    lists = [value.items for value in values]
    if len(lists) < 2 or any(items is None for items in lists):
        return None
    longest = max(values, key=lambda value: len(value.items or ()))
    fits = all((longest.items or ())[: len(items or ())] == items for items in lists)
    return longest if fits else None


def variable_name(node: ast.expr) -> str:
    """Return the name of a variable, `self.x` included, or an empty text."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{'self' if node.value.id in ('self', 'cls') else node.value.id}.{node.attr}"
    return ""


class ProgramFunction(msgspec.Struct, frozen=True):
    """A function of the program, its source, and whether its first argument is the instance."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    source: ProgramSource
    bound: bool = False

    def parameters(self) -> list[str]:
        """Return the names of positional parameters."""
        arguments = self.node.args
        names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        return names[1:] if self.bound else names

    def defaults(self) -> Iterator[tuple[str, ast.expr]]:
        """Yield the parameters with default values."""
        arguments = self.node.args
        placed = [*arguments.posonlyargs, *arguments.args]
        for argument, value in zip(placed[::-1], arguments.defaults[::-1], strict=False):
            yield argument.arg, value
        for argument, given in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if given is not None:
                yield argument.arg, given

    def all_parameters(self) -> list[str]:
        """Return the names of all parameters."""
        arguments = self.node.args
        rest = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
        return [item.arg for item in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest)]


class ProgramScope(msgspec.Struct):
    """Names and functions known at a point of the program; `depth` counts nested calls.

    `imported` names are known by their module, the dots before it, and their name there.
    """

    known: dict[str, KnownValue] = {}
    functions: dict[str, ProgramFunction] = {}
    numbers: Iterator[int] = msgspec.field(default_factory=count)
    depth: int = 0
    imported: dict[str, tuple[str, int, str]] = {}

    def copy(self) -> "ProgramScope":
        """Return a copy for a branch."""
        return ProgramScope(
            known=dict(self.known),
            functions=self.functions,
            numbers=self.numbers,
            depth=self.depth,
            imported=self.imported,
        )

    def new_choice(self) -> int:
        """Return the number of a new choice."""
        return next(self.numbers)


def join_branches(before: ProgramScope, ends: Sequence[ProgramScope]) -> None:
    """Merge the values of names at the ends of alternative branches."""
    number = before.new_choice()
    known = before.known
    changed = [name for end in ends for name, value in end.known.items() if known.get(name) is not value]
    for name in dict.fromkeys(changed):
        values = [end.known[name] for end in ends if name in end.known]
        known[name] = _longest_list(values) or choose_value(values, number)


class DeferredFunction(msgspec.Struct, frozen=True):
    """A function whose body is still to be read, with the scope it sees."""

    function: ProgramFunction
    scope: ProgramScope
    members: Mapping[str, KnownValue] = {}
    methods: Mapping[str, ProgramFunction] = {}


def order_callers_first(functions: Sequence[DeferredFunction]) -> list[DeferredFunction]:
    """Order functions so that callers come before the functions they call, as far as possible."""
    by_node: dict[ast.AST, DeferredFunction] = {later.function.node: later for later in functions}
    done: list[DeferredFunction] = []
    seen: set[ast.AST] = set()
    for function in reversed(functions):
        waiting = [(function, iter([function]))]  # without recursion: there may be thousands that call each other
        while waiting:
            later, called = waiting[-1]
            other = next((one for one in called if one.function.node not in seen), None)
            if other is not None:
                seen.add(other.function.node)
                waiting.append((other, _called_functions(other, by_node)))
                continue
            waiting.pop()
            if waiting:
                done.append(later)
    return done[::-1]


def _called_functions(
    later: DeferredFunction, by_node: Mapping[ast.AST, DeferredFunction]
) -> Iterator[DeferredFunction]:
    """Yield the deferred functions that a function calls."""
    for inner in iter_nodes(later.function.node, (ast.Call,)):
        name = variable_name(inner.func) if isinstance(inner, ast.Call) else ""
        called = later.methods.get(name) or later.scope.functions.get(name)
        if called is not None and called.node in by_node:
            yield by_node[called.node]
