"""sp_rename of T-SQL: a procedure that renames a table or a column, both named in strings."""

import re
from collections.abc import Sequence
from typing import Any

from sqlglot.tokens import Token

from lineage_pipeline.dialects.folding import fold
from lineage_pipeline.dialects.traits import Traits
from lineage_pipeline.engine.compile.cursor import STRINGS
from lineage_pipeline.vocabulary import ir

_PART = re.compile(r'\[([^\]]*)\]|"([^"]*)"|([^.]+)')


def renamed(tokens: Sequence[Token], traits: Traits) -> tuple[tuple[str, Any], ...]:
    """What a call of sp_rename alters, if its arguments are written out."""
    given = [token for token in tokens if token.token_type in STRINGS]
    if len(given) < 2:
        return ()
    parts = tuple("".join(match) for match in _PART.findall(given[0].text))
    place = given[0].start - tokens[0].start, given[0].end + 1 - tokens[0].start
    new = given[1].text
    if len(given) > 2 and given[2].text.upper() == "COLUMN":
        table = ir.Name(tuple(fold(part, True, traits.tables) for part in parts[:-1]), parts[-2], *place)
        column = ir.ColumnDef(fold(new, True, traits.columns), new, "")
        change = ir.Alteration(table, "rename", fold(parts[-1], True, traits.columns), column)
    elif len(given) > 2 and given[2].text.upper() != "OBJECT":
        return ()
    else:
        name = ir.Name(tuple(fold(part, True, traits.tables) for part in parts), parts[-1], *place)
        change = ir.Alteration(name, "rename table", to=ir.Name((fold(new, True, traits.tables),), new))
    return (("alterations", (change,)),)
