"""The registry of change rules: what `lineage explain` prints and `diff` applies. An id is never reused."""

from lineage_pipeline.engine.diff.finding import Rule
from lineage_pipeline.engine.diff.rules import (
    analyzability,
    column_definitions,
    column_order,
    column_spelling,
    columns,
    expressions,
    governance,
    objects,
    parameters,
    relocation,
    row_set,
    source_objects,
    struct_fields,
    write_mode,
)
from lineage_pipeline.model.enums import Severity

RULE_FAMILIES = "OBJ COL POS TYP NUL EXP ROW SRC CON PII ANL".split()

_RULE_MODULES = (
    *(objects, relocation, parameters, columns, column_spelling, struct_fields, column_order, column_definitions),
    *(expressions, row_set, source_objects, write_mode, governance, analyzability),
)

RULES: tuple[Rule, ...] = tuple(
    sorted(
        (rule for module in _RULE_MODULES for rule in module.RULES),
        key=lambda rule: (RULE_FAMILIES.index(rule.id[:3]), rule.id),
    )
)

_SEVERITY_LETTERS = {
    "B": Severity.BREAKING,
    "P": Severity.POTENTIALLY_BREAKING,
    "N": Severity.NON_BREAKING,
    "I": Severity.INFO,
}

_INTRINSIC = """
    OBJ001 PB  OBJ002 NPB  OBJ003 NP  OBJ004 PB  OBJ005 P  OBJ006 NPB  OBJ007 I  OBJ008 PB  OBJ009 N
    COL001 PB  COL002 B  COL003 N  COL004 P  COL005 B  COL006 PB  COL007 NPB  COL008 P  POS001 P  POS002 P  POS003 B
    TYP001 N  TYP002 B  TYP003 B  TYP004 NB  TYP005 P  TYP006 NP  NUL001 P  NUL002 N  NUL003 B
    EXP001 P  EXP002 PB  EXP003 PB  EXP004 PB  EXP005 PB  EXP006 IP
    ROW001 PB  ROW002 PB  ROW003 IP  ROW004 P  ROW005 PB  ROW006 P  ROW007 P  ROW008 IP  ROW009 PB
    ROW010 P
    SRC001 IP SRC002 PB SRC003 IP  CON001 P  CON002 P  PII001 P  ANL001 P  ANL002 PB  ANL003 B  ANL004 P
    ANL005 IP
"""

INTRINSIC_SEVERITIES: dict[str, tuple[Severity, ...]] = {
    rule: tuple(_SEVERITY_LETTERS[letter] for letter in letters)
    for rule, letters in zip(*[iter(_INTRINSIC.split())] * 2, strict=True)
}
"""The possible severities of what a rule finds, before its impact is known; the mildest first."""
