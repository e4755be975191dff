"""Parameters of procedures and functions."""

from collections.abc import Iterator, Sequence

import msgspec

from lineage_pipeline.engine.diff.finding import ChangeFinding, Rule
from lineage_pipeline.engine.diff.index import LineageIndex
from lineage_pipeline.engine.diff.match import LineagePair
from lineage_pipeline.engine.diff.type_comparison import compare_types
from lineage_pipeline.model.enums import Scope, Severity


class Parameter(msgspec.Struct, frozen=True):
    """One parameter: its name, its type, and its default."""

    name: str
    type: str | None
    default: str | None

    def __str__(self) -> str:
        """Spell it as a header does."""
        words = (self.name, self.type, f"= {self.default}" if self.default is not None else "")
        return " ".join(filter(None, words))


def parameters_changed(pair: LineagePair) -> Iterator[ChangeFinding]:
    """Callers pass what the module no longer takes, or omit what it needs."""
    for name in pair.common:
        old, new = list_parameters(pair.base, name), list_parameters(pair.head, name)
        if old != new:
            for severity, before, after in compare_parameters(old, new):
                yield ChangeFinding(
                    rule="OBJ006", object=name, column=None, severity=severity, before=before, after=after
                )


def list_parameters(side: LineageIndex, name: str) -> list[Parameter]:
    """The parameters of a module in order."""
    constraints = side.constraints.get(name, ())
    defaults = {one.columns[0]: one.expression for one in constraints if one.kind == "default" and one.columns}
    return [Parameter(one.name, one.type, defaults.get(one.name)) for one in side.parameters.get(name, ())]


def compare_parameters(
    old: Sequence[Parameter], new: Sequence[Parameter]
) -> Iterator[tuple[Severity, str | None, str | None]]:
    """The differences of two parameter lists: severity, before, after."""
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
            yield _parameter_severity(before[name], after[name]), str(before[name]), str(after[name])
    order = [one.name for one in new if one.name in before]
    if shared != order:
        yield Severity.BREAKING, ", ".join(shared), ", ".join(order)


def _parameter_severity(old: Parameter, new: Parameter) -> Severity:
    """A parameter that is now required, or takes less, breaks; another default gives other results."""
    if old.default is not None and new.default is None:
        return Severity.BREAKING
    if old.type == new.type:
        return Severity.NON_BREAKING if old.default is None else Severity.POTENTIALLY_BREAKING
    if not (old.type and new.type):
        return Severity.POTENTIALLY_BREAKING
    verdict = compare_types(old.type, new.type)
    return Severity.NON_BREAKING if verdict is None or verdict[1] is Severity.NON_BREAKING else Severity.BREAKING


RULES: tuple[Rule, ...] = (
    Rule(
        id="OBJ006",
        title="parameters changed",
        scope=Scope.INTERFACE,
        find=parameters_changed,
        meaning="A parameter went, came, moved or has another type: callers that were not changed along with it fail.",
        remedy="Put new parameters last and give them a default; change the callers that are listed.",
    ),
)
