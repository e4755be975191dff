"""Type inference of one dialect family: the common rules and its own, with a cache."""

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.types.arithmetic import ArgumentTypes, ConstantTexts, TypeRule
from lineage_pipeline.dialects.types.coercion import strip_size
from lineage_pipeline.dialects.types.common_rules import COMMON_RULES, CONSTANT_DEPENDENT_OPERATORS
from lineage_pipeline.dialects.types.families import TypeFamily, normalize_type

MAX_CACHED_RESULTS = 20_000
"""How many results are cached."""


class TypeInference:
    """Result types of operators and functions in one family."""

    def __init__(self, traits: DialectTraits) -> None:
        """Collect the rules of a dialect's family."""
        own = traits.type_rules
        self.family: TypeFamily = traits.types
        self.rules: dict[str, TypeRule] = {**COMMON_RULES, **own.functions}
        self.nulls = own.nulls
        self.lenient = traits.types.null_on_failure
        self.constants = CONSTANT_DEPENDENT_OPERATORS | own.constants
        self.unknown = own.unknown
        self.keeps_size = own.keeps_size
        self.conversions = traits.types.conversions
        self.known: dict[tuple[str, ArgumentTypes, ConstantTexts], str | None] = {}

    def infer_result(self, op: str, types: ArgumentTypes, texts: ConstantTexts, otherwise: str) -> str | None:
        """Return the result type of an operator; without a rule it is the parser's."""
        rule = self.rules.get(op)
        if rule is None and self.unknown is not None:
            return self.unknown(types, otherwise)
        if rule is None:
            return self.family.results.get(otherwise, otherwise) or None
        key = (op, types, texts)
        if key in self.known:
            return self.known[key]
        if len(self.known) > MAX_CACHED_RESULTS:
            self.known.clear()
        spelled = tuple([normalize_type(kind, self.family) if kind is not None else None for kind in types])
        found = rule(self.family, spelled, texts)
        if found is not None and not self.family.sized and op not in self.keeps_size:
            found = strip_size(found)
        self.known[key] = found
        return found


_INFERENCES: dict[str, TypeInference] = {}


def inference_for(traits: DialectTraits) -> TypeInference:
    """Return the type inference of a dialect's family, cached."""
    known = _INFERENCES.get(traits.family)
    if known is None:
        known = _INFERENCES[traits.family] = TypeInference(traits)
    return known
