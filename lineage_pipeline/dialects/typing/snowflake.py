"""Snowflake: what its functions give, as rows and the few functions behind them."""

from lineage_pipeline.dialects.counting import whole_number
from lineage_pipeline.dialects.typing.arithmetic import Rule, Texts, Types, arithmetic
from lineage_pipeline.dialects.typing.family import Family
from lineage_pipeline.dialects.typing.results import argument, exactly, words
from lineage_pipeline.dialects.typing.shapes import shape_of
from lineage_pipeline.dialects.typing.widening import common_type, digits_of

DATE_PARTS = frozenset(
    "DAY DAYS DD D WEEK WEEKS WK W MONTH MONTHS MON MM QUARTER QUARTERS QTR YEAR YEARS YY YYYY".split()
)
"""Units by which a date is moved without becoming a moment."""


def _digits(types: Types, family: Family) -> tuple[int, int] | None:
    return digits_of(shape_of(types[0] or ""), family) if types else None


def moved(family: Family, types: Types, texts: Texts) -> str | None:
    """DATEADD: what is moved; a date becomes a moment where hours or less are added, a string is one."""
    kind = types[0] if types else None
    name = shape_of(kind or "").name
    if name == family.date:
        return kind if texts and texts[-1].strip("'").upper() in DATE_PARTS else family.timestamp
    return family.timestamp if name in family.strings else kind


def total(family: Family, types: Types, texts: Texts) -> str | None:
    """SUM: decimals as long as they can be."""
    digits = _digits(types, family)
    return family.numeric(38, digits[1]) if digits is not None else family.double if types and types[0] else None


def average(family: Family, types: Types, texts: Texts) -> str | None:
    """AVG: a quotient, of a total by a count."""
    digits = _digits(types, family)
    if digits is None:
        return family.double if types and types[0] else None
    return family.numeric(38, max(digits[1], min(digits[1] + 6, 12)))


def median(family: Family, types: Types, texts: Texts) -> str | None:
    """MEDIAN: three digits more behind the point."""
    digits = _digits(types, family)
    if digits is None:
        return types[0] if types else None
    return family.numeric(min(digits[0] + 3, 38), min(digits[1] + 3, 37))


def variance(family: Family, types: Types, texts: Texts) -> str | None:
    """VARIANCE: six digits behind the point for integers, at least twelve for decimals."""
    digits = _digits(types, family)
    if digits is None:
        return family.double if types and types[0] else None
    return family.numeric(38, 6 if digits[1] == 0 else max(12, digits[1]))


def percentile(family: Family, types: Types, texts: Texts) -> str | None:
    """An aggregate over an order: a percentile has the type of what is ordered."""
    return types[1] if len(types) > 1 and types[0] == PERCENTILE else types[0] if types else None


PERCENTILE = "PERCENTILE"
"""The type of a percentile before it is known what is ordered."""


def number(family: Family, types: Types, texts: Texts) -> str | None:
    """TO_NUMBER: as many digits as it says, else 38 and none behind the point."""
    stated = [text for text in texts[1:] if text.isdigit()][-2:]
    if len(stated) == 2:
        return family.numeric(whole_number(stated[0]), whole_number(stated[1]))
    return family.numeric(whole_number(stated[0]), 0) if stated else family.integer


def whole(family: Family, types: Types, texts: Texts) -> str | None:
    """FLOOR and CEIL: no digits behind the point unless some are asked for."""
    digits = _digits(types, family)
    if digits is None:
        return family.double if types and types[0] else None
    if len(types) > 1:
        return types[0]
    return family.numeric(min(digits[0] - digits[1] + 1, 38), 0) if digits[1] else types[0]


def truncated(family: Family, types: Types, texts: Texts) -> str | None:
    """DATE_TRUNC and the like: what is cut, and a moment of a string."""
    kind = types[0] if types else None
    return family.timestamp if shape_of(kind or "").name in family.strings else kind


def zoned(family: Family, types: Types, texts: Texts) -> str | None:
    """CONVERT_TIMEZONE: with both zones a moment without one, else a moment with it."""
    return family.timestamp if len(types) > 2 else "TIMESTAMP_TZ"


def built(family: Family, types: Types, texts: Texts) -> str | None:
    """TIMESTAMP_FROM_PARTS: with a zone where one is given behind all parts."""
    return "TIMESTAMP_TZ" if len(types) > 7 else family.timestamp


def part(family: Family, types: Types, texts: Texts) -> str | None:
    """A part of a document is one; what is taken apart as rows as well."""
    return "VARIANT"


def element(family: Family, types: Types, texts: Texts) -> str | None:
    """An element of an array or an object is a document."""
    return "VARIANT"


ALWAYS: dict[str, str] = {
    "NUMBER(38,0)": (
        "DATEDIFF EXTRACT DATE_PART REGEXPCOUNT REGEXPINSTR BITWISEANDAGG BITWISEORAGG BITWISEXORAGG BITWISEAND "
        "BITWISEOR BITWISEXOR BITWISENOT BITWISELEFTSHIFT BITWISERIGHTSHIFT GROUPING GROUPING_ID DAY HOUR "
        "CONDITIONAL_TRUE_EVENT CONDITIONAL_CHANGE_EVENT AS_INTEGER"
    ),
    "NUMBER(19,0)": "HASH HASHAGG HASH_AGG",
    "FLOAT": "RATIO_TO_REPORT AS_DOUBLE",
    "VARCHAR": "JSONFORMAT PAD LAST_QUERY_ID AS_VARCHAR AS_CHAR COLLATE BASE64ENCODE TO_JSON",
    "BOOLEAN": "ARRAYCONTAINS ARRAYOVERLAPS AS_BOOLEAN IS_ARRAY IS_OBJECT IS_INTEGER IS_VARCHAR IS_DATE ISNULLVALUE",
    "DATE": "AS_DATE",
    "TIMESTAMP_NTZ": (
        "TO_TIMESTAMP TRY_TO_TIMESTAMP TO_TIMESTAMP_NTZ TRY_TO_TIMESTAMP_NTZ STRTOTIME UNIXTOTIME TSORDSTOTIMESTAMP "
        "CURRENTTIMESTAMP:sysdate SYSDATE"
    ),
    "TIMESTAMP_LTZ": "TO_TIMESTAMP_LTZ TRY_TO_TIMESTAMP_LTZ",
    "TIMESTAMP_TZ": "TO_TIMESTAMP_TZ TRY_TO_TIMESTAMP_TZ",
    "VARIANT": "TOVARIANT TO_VARIANT JSONEXTRACT GETEXTRACT GET_PATH GET PARSEJSON TRY_PARSE_JSON XMLGET",
    "OBJECT": (
        "TO_OBJECT OBJECT_CONSTRUCT OBJECT_CONSTRUCT_KEEP_NULL OBJECTINSERT OBJECT_INSERT OBJECT_DELETE OBJECT_PICK "
        "OBJECTAGG AS_OBJECT"
    ),
    "ARRAY": (
        "ARRAY ARRAYAGG ARRAYUNIQUEAGG TOARRAY TO_ARRAY JSONKEYS OBJECT_KEYS ARRAYDISTINCT ARRAYSLICE ARRAYCAT "
        "ARRAYCONCAT ARRAYINTERSECT ARRAYINTERSECTION ARRAYEXCEPT ARRAYFLATTEN ARRAY_FLATTEN SORTARRAY "
        "ARRAYSORT ARRAY_INSERT AS_ARRAY SPLIT STRTOKTOARRAY REGEXPEXTRACTALL ARRAYREVERSE "
        "ARRAY_GENERATE_RANGE TRANSFORM FILTER()"
    ),
}
"""Types, and the functions that always give them."""

ROWS: dict[str, Rule] = {
    **{op: exactly(kind) for kind, names in ALWAYS.items() for op in names.split()},
    **dict.fromkeys(words("ADDMONTHS TIMESLICE TIMESTAMPTRUNC DATETRUNC"), truncated),
    **dict.fromkeys(words("DATEADD TIMESTAMPADD TSORDSADD DATESUB"), moved),
    **dict.fromkeys(words("VARIANCE VARIANCEPOP"), variance),
    **dict.fromkeys(words("PERCENTILECONT PERCENTILEDISC"), exactly(PERCENTILE)),
    **dict.fromkeys(words("FLOOR CEIL TRUNC"), whole),
    **dict.fromkeys(words("SUBSTRING REVERSE"), argument(0)),
    "AVG": average,
    "SUM": total,
    "MEDIAN": median,
    "MOD": arithmetic("MOD"),
    "WITHINGROUP": percentile,
    "TONUMBER": number,
    "CONVERTTIMEZONE": zoned,
    "TIMESTAMPFROMPARTS": built,
    "ELEMENT": element,
    "EXPLODE": part,
    "UNIFORM": lambda family, types, texts: common_type(types[:2], family),
}
"""What Snowflake's functions give; the common rows hold for the rest."""

CONSTANTS = words("DATEADD TIMESTAMPADD TSORDSADD DATESUB TONUMBER")
"""Operators whose type depends on the values of constants, too."""
