"""Modules that are called in another way than before."""

from collections.abc import Iterator, Sequence

import msgspec

from lineage_pipeline.engine.diff.finding import Finding, Rule
from lineage_pipeline.engine.diff.index import Index
from lineage_pipeline.engine.diff.lattice import compare
from lineage_pipeline.engine.diff.pair import Pair
from lineage_pipeline.vocabulary.sets import Scope, Severity


class Parameter(msgspec.Struct, frozen=True):
    """One parameter: its name, its type, and what it is where a caller leaves it out."""

    name: str
    type: str | None
    default: str | None

    def __str__(self) -> str:
        """Spell it as a header does."""
        words = (self.name, self.type, f"= {self.default}" if self.default is not None else "")
        return " ".join(filter(None, words))


def parameters_changed(pair: Pair) -> Iterator[Finding]:
    """Callers hand over what the module no longer takes, or leave out what it needs."""
    for name in pair.common:
        old, new = parameters(pair.base, name), parameters(pair.head, name)
        if old != new:
            for severity, before, after in differences(old, new):
                yield Finding("OBJ006", name, None, severity, before, after)


def parameters(side: Index, name: str) -> list[Parameter]:
    """List the parameters of a module in order."""
    constraints = side.constraints.get(name, ())
    defaults = {one.columns[0]: one.expression for one in constraints if one.kind == "default" and one.columns}
    return [Parameter(one.name, one.type, defaults.get(one.name)) for one in side.parameters.get(name, ())]


def differences(
    old: Sequence[Parameter], new: Sequence[Parameter]
) -> Iterator[tuple[Severity, str | None, str | None]]:
    """Tell two lists of parameters apart: how serious, before, after."""
    before, after = {one.name: one for one in old}, {one.name: one for one in new}
    shared = [one.name for one in old if one.name in after]
    for one in old:
        if one.name not in after:
            yield Severity.BREAKING, str(one), None
    for position, one in enumerate(new):
        if one.name not in before:
            optional = one.default is not None and not any(later.name in before for later in new[position + 1 :])
            yield (Severity.NON_BREAKING if optional else Severity.BREAKING), None, str(one)
    for name in shared:
        if before[name] != after[name]:
            yield _severity(before[name], after[name]), str(before[name]), str(after[name])
    order = [one.name for one in new if one.name in before]
    if shared != order:
        yield Severity.BREAKING, ", ".join(shared), ", ".join(order)


def _severity(old: Parameter, new: Parameter) -> Severity:
    """A parameter that must now be given, or takes less, breaks; another default gives other results."""
    if old.default is not None and new.default is None:
        return Severity.BREAKING
    if old.type == new.type:
        return Severity.NON_BREAKING if old.default is None else Severity.POTENTIALLY_BREAKING
    if not (old.type and new.type):
        return Severity.POTENTIALLY_BREAKING
    verdict = compare(old.type, new.type)
    return Severity.NON_BREAKING if verdict is None or verdict[1] is Severity.NON_BREAKING else Severity.BREAKING


RULES: tuple[Rule, ...] = (
    Rule(
        "OBJ006",
        "parameters changed",
        Scope.INTERFACE,
        parameters_changed,
        "A parameter went, came, moved or has another type: callers that were not changed along with it fail.",
        "Put new parameters last and give them a default; change the callers that are listed.",
    ),
)
