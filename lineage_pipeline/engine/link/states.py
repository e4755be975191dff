"""States: objects as one statement sees them, where other statements of the script change them."""

from collections.abc import Mapping, Sequence

import msgspec

from lineage_pipeline.engine.link.flows import Flows
from lineage_pipeline.engine.link.model import Input
from lineage_pipeline.engine.link.statement import LinkedStatement, Written
from lineage_pipeline.vocabulary.plan import Bound


class States:
    """The states that statements of one script see."""

    def __init__(self, bound: Sequence[Bound], inputs: Mapping[str, Input]) -> None:
        """Start with all of them; a script that changes no object twice has none."""
        self.of: dict[str, str] = {}
        self.inputs: dict[str, Input] = {}
        self.now: dict[str, str] = {}
        for names in bound:
            if names.states or names.made:
                for key in (*(key for _, key in names.states), names.made):
                    if key in inputs:
                        self.of[key] = inputs[key].object
                        self.inputs[key] = inputs[key]
        self.inputs |= {name: inputs[name] for name in self.of.values() if name in inputs}

    def shift(self, state: dict[str, Input], names: Bound) -> Bound:
        """The names of a statement; temporary objects go over into the state that they are in there."""
        keys = dict(names.states)
        for parts, name in names.names:
            key = keys.get(parts, name)
            if key in self.inputs and self.inputs[key].temporary:
                keys.pop(parts, None)
                if key != self.now.get(name, name):
                    state[name] = carried(state[name], self.inputs[key])
                    self.now[name] = key
        return msgspec.structs.replace(names, states=tuple(keys.items()))

    def fresh(self, state: dict[str, Input], names: Bound, target: str) -> None:
        """Take in that a statement makes a temporary object anew."""
        if target in self.inputs:
            self.now[target] = names.made or target
            state[target] = self.inputs[self.now[target]]

    def finally_named(self, result: LinkedStatement, names: Bound) -> LinkedStatement:
        """What a statement writes, under the names that the columns have in the end."""
        keys = [key for _, key in names.states]
        writes = tuple(self._finally(item, [names.made] if item.mode == "define" else keys) for item in result.writes)
        return msgspec.structs.replace(result, writes=writes)

    def _finally(self, written: Written, keys: Sequence[str]) -> Written:
        seen = (self.inputs[key] for key in keys if key in self.inputs)
        own = next((item for item in seen if item.object == written.target and item.renamed), None)
        if own is None:
            return written
        columns = tuple((own.final(name), out) for name, out in written.columns)
        return msgspec.structs.replace(written, columns=columns)


def carried(before: Input, now: Input) -> Input:
    """A temporary object in another state: columns that it had hold what they held, whatever they are called now."""
    held: dict[str, Flows | None] = {before.final(column.name): column.flows for column in before.columns}
    columns = tuple(
        msgspec.structs.replace(column, flows=held.get(now.final(column.name), column.flows)) for column in now.columns
    )
    return msgspec.structs.replace(now, columns=columns, indirect=before.indirect, passes=before.passes)
