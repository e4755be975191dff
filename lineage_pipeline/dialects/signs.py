"""Dialect signs: words and characters that only some dialects have, with weights.

A sign that several dialects share is defined here once; each of them lists it with its own weight.
"""

import re

import msgspec

_WORD = re.compile(r"\w+")


class SignNeed(msgspec.Struct, frozen=True):
    """What a text must have for one of the ways to match a pattern: all of these."""

    words: frozenset[str]
    """Words that it has."""
    beginnings: tuple[str, ...] = ()
    """Words begin with these."""
    parts: tuple[str, ...] = ()
    """Other characters, and words in a row with one blank between them."""


class DialectSign(msgspec.Struct, frozen=True):
    """One sign of a dialect in a text."""

    name: str
    """What it is called in the reasons for a detected dialect; signs of one name are one sign."""
    pattern: re.Pattern[str]
    """The expression that finds it."""
    worth: int = 1
    """Its weight; 3 is as good as certain."""
    needs: tuple[SignNeed, ...] = ()
    """A text that meets none of these cannot match, which is quicker to test; empty: always try."""

    def with_worth(self, worth: int) -> "DialectSign":
        """Return the same sign with the weight that it has in another dialect."""
        return msgspec.structs.replace(self, worth=worth)


def _parse_need(written: str) -> SignNeed:
    words, beginnings, parts = set(), [], []
    for piece in written.split("&"):
        *row, last = piece.split("~")
        words |= {word for word in row if _WORD.fullmatch(word)}
        part = " ".join((*row, last.removesuffix("*")))
        if _WORD.fullmatch(last):
            words.add(last)
        elif _WORD.fullmatch(last[:-1]) and last[-1] == "*":
            beginnings.append(last[:-1])
        else:
            part = " ".join((*row, last))
            row.append(last)
        if row:
            parts.append(part)
    return SignNeed(frozenset(words), tuple(beginnings), tuple(parts))


def build_sign(name: str, pattern: str, worth: int = 1, words: str = "") -> DialectSign:
    """Build a sign of a pattern that ignores case.

    `words` says what a text must have to match: alternatives between blanks, `&` between what is needed together, `~`
    between words in a row, `*` after a part of a word. `select~top* date&@` is the word `select` before a word that
    begins with `top`, or the word `date` with the character `@`. A word that is written in lower case is found in any.
    """
    needs = tuple(_parse_need(written) for written in words.split())
    return DialectSign(name, re.compile(pattern, re.IGNORECASE | re.MULTILINE), worth, needs)


def build_driver_sign(name: str, *, modules: str, operators: str, scheme: str, worth: int = 4) -> DialectSign:
    """Build a sign of the modules, operators and addresses by which a program reaches a database."""
    imported = rf"\b(?:import|from)\s+(?:{modules})\b"
    tasks = rf"\b(?:{operators})\w*(?:Operator|Hook|Sensor)\b"
    said = re.sub(r"\w\?|\\s\+import", " ", f"{modules} {operators} {scheme}".lower())
    words = " ".join(f"{word}*" for word in dict.fromkeys(re.findall(r"[a-z0-9_]{4,}", said)))
    return build_sign(f"a connector for {name}", rf"{imported}|{tasks}|['\"](?:{scheme})(?:\+\w+)?://", worth, words)


# ── signs that several dialects share ─────────────────────────────────────────────────────────────────────────────────

CASTS = build_sign("::casts", r"[\w)'\"\]]::\s*\"?[a-z]\w*", words="::")
BACKTICKS = build_sign("names in backticks", r"`\w+`", words="`")
QUALIFY = build_sign("QUALIFY", r"\bQUALIFY\b", words="qualify")
STAR_EXCEPT = build_sign("* EXCEPT (…)", r"\*\s*EXCEPT\s*\(\s*\w+\s*[,)]", words="except&*")
STAR_EXCLUDE = build_sign("* EXCLUDE", r"\*\s*EXCLUDE\s*\(?\s*\w+", 2, "exclude*&*")
DATE_PARTS_FIRST = build_sign(
    "DATEADD and DATEDIFF",
    r"\bDATE(?:ADD|DIFF)\s*\(\s*'?(?:year|quarter|month|week|day|hour|minute|second|[a-z]{1,4})'?\s*,",
    words="dateadd datediff",
)
CONVERT_TIMEZONE = build_sign("CONVERT_TIMEZONE", r"\bCONVERT_TIMEZONE\s*\(", 2, "convert_timezone")
NVL = build_sign("NVL", r"\bNVL\s*\(", words="nvl")
IFNULL = build_sign("IFNULL", r"\bIFNULL\s*\(", words="ifnull")
LATERAL_VIEW = build_sign("LATERAL VIEW", r"\bLATERAL\s+VIEW\b", 2, "lateral&view")
INSERT_OVERWRITE = build_sign("INSERT OVERWRITE", r"\bINSERT\s+OVERWRITE\b", 2, "insert&overwrite")
COLLECT_FUNCTIONS = build_sign(
    "COLLECT_SET and EXPLODE",
    r"\b(?:COLLECT_(?:SET|LIST)|(?:POS)?EXPLODE)\s*\(",
    2,
    "collect_set collect_list explode posexplode",
)
PARTITIONED_BY = build_sign("PARTITIONED BY", r"\bPARTITIONED\s+BY\b|\bTBLPROPERTIES\b", 1, "partitioned tblproperties")
USING_FORMAT = build_sign(
    "USING DELTA or PARQUET",
    r"\bUSING\s+(DELTA|PARQUET|ICEBERG|ORC|CSV|JSON)\b(?!\s*\()",
    3,
    "using&delta using&parquet using&iceberg using&orc using&csv using&json",
)
STORED_AS = build_sign("STORED AS", r"\bSTORED\s+AS\s+\w+", 3, "stored&as")
ROW_FORMAT = build_sign(
    "ROW FORMAT", r"\bROW\s+FORMAT\s+(SERDE|DELIMITED)\b", 3, "row~format~serde row~format~delimited"
)
PSQL_COMMANDS = build_sign(
    "psql commands",
    r"^\s*\\(?:i|ir|c|cd|connect|copy|echo|qecho|warn|set|gset|unset|if|elif|else|endif|timing|pset|o|t|x|q|d[a-z]*\+?"
    r"|prompt|watch|restrict|unrestrict|encoding|getenv|setenv|!|\.)(?=[\s;]|$)",
    4,
    "\\",
)
PLPGSQL_BODIES = build_sign("LANGUAGE plpgsql", r"\bLANGUAGE\s+'?plpgsql", 3, "plpgsql")
PG_CATALOG = build_sign(
    "the catalog pg_…",
    r"\bpg_(?:catalog|class|namespace|attribute|index|indexes|tables|proc|type|database|user|views|constraint)\b",
    2,
    "pg_*",
)
# Redshift is reached by the drivers of PostgreSQL as well.
POSTGRES_DRIVERS = build_driver_sign(
    "PostgreSQL", modules="psycopg2?|asyncpg|pg8000|aiopg", operators="Postgres", scheme="postgres(?:ql)?", worth=3
)
DOLLAR_QUOTES = build_sign("$$ bodies", r"\bAS\s*\$\w*\$", words="as~$ as&as$")
TIME_ZONE_TYPES = build_sign(
    "TIMESTAMPTZ", r"\bTIMESTAMPTZ\b|\bWITHOUT\s+TIME\s+ZONE\b", words="timestamptz without&time&zone"
)
ON_CONFLICT = build_sign("ON CONFLICT", r"\bON\s+CONFLICT\s*(\(|DO\b)", words="on&conflict*")
DISTINCT_ON = build_sign("DISTINCT ON", r"\bDISTINCT\s+ON\s*\(", 2, "distinct~on")
GENERATE_SERIES = build_sign("GENERATE_SERIES", r"\bGENERATE_SERIES\s*\(", words="generate_series")
ARRAY_BRACKETS = build_sign("ARRAY[…]", r"\bARRAY\s*\[", words="array&array[ array~[")
JSON_PATHS = build_sign("->> of JSON", r"\s*->>\s*'", words="->>")
JSON_EXTRACT_SCALAR = build_sign("JSON_EXTRACT_SCALAR", r"\bJSON_EXTRACT_SCALAR\s*\(", 2, "json_extract_scalar")
ANGLE_TYPES = build_sign(
    "STRUCT<…> and ARRAY<…>", r"\b(?:STRUCT|ARRAY)\s*<\s*\w+", words="struct&struct< struct~< array&array< array~<"
)
INSERT_OR = build_sign(
    "INSERT OR REPLACE", r"\bINSERT\s+OR\s+(?:IGNORE|REPLACE)\b", 3, "insert~or~ignore insert~or~replace"
)
PRAGMA = build_sign("PRAGMA", r"^\s*PRAGMA\s+\w+", 3, "pragma")
DOT_COMMANDS = build_sign(
    "dot commands",
    r"^\.(?:mode|headers?|import|read|output|separator|open|timer|print|tables|schema)\b",
    4,
    "mode&. header&. headers&. import&. read&. output&. separator&. open&. timer&. print&. tables&. schema&.",
)
IDENTITY_COLUMNS = build_sign("IDENTITY(1,1)", r"\bIDENTITY\s*\(\s*\d+\s*,\s*\d+\s*\)", 2, "identity")
SYSTEM_DATE = build_sign("GETDATE", r"\bGETDATE\s*\(\s*\)", words="getdate")
LIMIT_PAIR = build_sign("LIMIT n, m", r"\bLIMIT\s+\d+\s*,\s*\d+", words="limit")
GROUP_CONCAT = build_sign("GROUP_CONCAT", r"\bGROUP_CONCAT\s*\(", 2, "group_concat")
