"""Sniffing: whether the first bytes of a file look like SQL, and unpacking within a limit."""

import gzip
import io
import re
import zlib

from lineage_pipeline.files.encoding import BYTE_ORDER_MARKS, CONTROL_BYTES, detect_wide_encoding
from lineage_pipeline.files.sql_endings import GZIP_ENDING, SHEBANG_DIALECTS

HEAD_BYTES = 4096
"""How many bytes of a file are looked at."""

GZIP_MAGIC = b"\x1f\x8b"
GZIP_FORMAT = 31
"""`wbits` of zlib for gzip with its header (zlib manual, inflateInit2)."""

SHEBANG_MARK = "#!"
"""How a script begins that names the program that runs it."""

SHEBANG = re.compile(r"#![^\n]*")
SHEBANG_WORD = re.compile(r"[\w.-]+")

COMMENT = re.compile(r"--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z)", re.DOTALL)
"""A comment of SQL; the head of a file may end in it."""

NOISE = re.compile(
    "|".join(
        (
            r"[\s;(]+",
            r"\#[^\n]*",  # MySQL: a comment
            r"\{\{.*?\}\}|\{%.*?%\}|\{\#.*?\#\}",  # Jinja
            r"/(?=\s*$)|@[^\n]*",  # SQL*Plus, as are the words of the next line
            r"(?:REM|REMARK|PROMPT|SPOOL|WHENEVER|DEF|DEFINE|COLUMN|CONN|CONNECT)\b[^\n]*",
            r"\\[A-Za-z!?][^\n]*|\.[A-Za-z]+[^\n]*|DELIMITER\b[^\n]*",  # psql, BTEQ, mysql
            r"GO\b|(?:SET|USE|DATABASE|PRAGMA|ALTER\s+SESSION)\b[^;\n]*",
            r"SELECT\s+pg_catalog\.set_config\b[^;\n]*",  # the third statement of every pg_dump
            r"(?:BEGIN|START)(?:\s+(?:WORK|TRAN|TRANSACTION))?\s*(?=;)",
        )
    ),
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
"""What may stand before the first statement and says little: lines for a client, settings, tags of a template."""

MODIFIERS = (
    "OR REPLACE ALTER TEMP TEMPORARY GLOBAL LOCAL PRIVATE PUBLIC UNIQUE EDITIONABLE NONEDITIONABLE FORCE NO "
    "MATERIALIZED EXTERNAL FOREIGN VOLATILE MULTISET SET TRANSIENT RECURSIVE SECURE CLUSTERED NONCLUSTERED COLUMNSTORE "
    "BITMAP UNLOGGED VIRTUAL LIVE STREAMING DYNAMIC AGGREGATE IF NOT EXISTS CONSTRAINT INDEXED REFRESH"
)
"""Words between CREATE and the kind of object."""

OBJECT_WORDS = (
    "TABLE VIEW PROC PROCEDURE FUNCTION PACKAGE TYPE BODY TRIGGER SYNONYM SEQUENCE SCHEMA DATABASE INDEX MACRO DOMAIN "
    "EXTENSION STAGE STREAM TASK PIPE MODEL CATALOG ROLE USER SNAPSHOT"
)
"""Kinds of objects that statements define."""

WORDS_AFTER_NAMES = (
    "AS IS ON FOR FROM TO OF IN LIKE USING WITH BEFORE AFTER INSTEAD UNDER FORCE RETURN RETURNS ADD DROP MODIFY "
    "CHANGE RENAME ALTER SET OWNER COMPILE ENABLE DISABLE WRAPPED AUTHID IDENTIFIED ENGINE PARTITION CLUSTER COMMENT "
    "NO NOT GO START INCREMENT BUILD REFRESH SHARING AUTHORIZATION INHERITS CASCADE"
)
"""Words that may follow the name of an object that is defined; in a sentence, others do."""


def _match_any(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"


NAME = r"[\w\"`\[{$&:<@#][^\s(;]*"

STATEMENT = re.compile(
    "|".join(
        (
            rf"(?:CREATE|ALTER|DROP|REPLACE)\s+(?:{_match_any(MODIFIERS)}\s+|(?:ALGORITHM|DEFINER|SQL)\s*=?\s*\S+\s+)*+"
            rf"(?:{_match_any(OBJECT_WORDS)}\s+)++(?:IF\s+(?:NOT\s+)?EXISTS\s+)?{NAME}\s*"
            rf"(?:[(;.,@/]|\Z|{_match_any(WORDS_AFTER_NAMES)}\b)",
            r"SEL(?:ECT)?\s+[^;]*?\bFROM\s+[\w\"`\[{($&:@#]",
            r"SELECT\s+[^;\s]+(?:\s+AS\s+\w+)?\s*;",
            r"WITH\s+(?:RECURSIVE\s+)?[\w\"`\[\]]+\s*(?:\([^)]*\)\s*)?AS\s*(?:(?:NOT\s+)?MATERIALIZED\s*)?\(",
            rf"INSERT\s+(?:(?:INTO|OVERWRITE|IGNORE|ALL|FIRST|TABLE|OR\s+\w+|/\*.*?\*/)\s+)++{NAME}\s*[(\w]",
            r"(?:MERGE|UPSERT|COPY)\s+INTO\s+\S|TRUNCATE\s+TABLE\s+\S",
            r"UPDATE\s+\S+(?:\s+(?:AS\s+)?\w+)?\s+SET\s+\S+\s*=",
            r"DELETE\s+FROM\s+\S+\s*(?:WHERE\b|USING\b|;|\Z)",
            r"GRANT\s+[\w, ()]+\s+(?:ON|TO)\s+\S|COMMENT\s+ON\s+(?:TABLE|COLUMN|VIEW|FUNCTION|TYPE)\s+\S",
            r"COPY\s+\S+\s*(?:\([^)]*\)\s*)?FROM\s+\S",
            r"LOCK(?:ING)?\s+(?:TABLE|ROW|VIEW)\s|USING\s+CHARACTER\s+SET\b|DEFINE\s+JOB\b",  # Teradata
            r"DECLARE\s+@\w|EXEC\s+[\w.\[]+|IF\s+(?:NOT\s+)?(?:EXISTS\s*\(\s*SELECT\b|OBJECT_ID\s*\()",  # T-SQL
            r"DECLARE\s+[^;]*;.*\bBEGIN\b",
        )
    ),
    re.IGNORECASE | re.DOTALL,
)
"""A statement that can hardly be anything but SQL."""

FIRST_WORDS = (
    "CREATE ALTER DROP REPLACE SELECT SEL WITH INSERT INS UPDATE UPD DELETE DEL MERGE TRUNCATE GRANT REVOKE COMMENT "
    "DECLARE BEGIN CALL EXEC EXECUTE COPY LOCK LOCKING ANALYZE COLLECT VALUES PACKAGE PROCEDURE FUNCTION TRIGGER TYPE "
    "IF USING EXPLAIN FROM"
)
EXPECTED_STATEMENT = re.compile(rf"{_match_any(FIRST_WORDS)}\b", re.IGNORECASE)
"""The start of a statement, where the ending of the file says that SQL is to be expected."""

DETERMINERS = "(?:the|your|our|this|that|these|those|any|some|each|every|an?|one|of|all|it|them)"
PROSE = re.compile(
    rf"\w+\s+(?:(?:TABLE|VIEW|INTO|FROM)\s+)?{DETERMINERS}\s+(?!FROM\b|AS\b)\w"
    rf"|SELECT\s+[^;,*=().\n]*\bFROM\s+{DETERMINERS}\s+\w",
    re.IGNORECASE,
)
"""An English sentence that starts like SQL: `Create a table of contents`."""


def looks_like_sql(head: bytes, *, expected: bool = False) -> bool:
    """Return whether the first bytes of a file look like SQL; where it is `expected`, less is enough."""
    text = decode_head(head)
    if not text or (text.startswith(SHEBANG_MARK) and find_shebang_dialect(text) is None):
        return False
    start, commented, finished = _skip_noise(text)
    if finished:
        return expected and commented
    if expected:
        return EXPECTED_STATEMENT.match(text, start) is not None
    return STATEMENT.match(text, start) is not None and PROSE.match(text, start) is None


def _skip_noise(text: str) -> tuple[int, bool, bool]:
    """Return where the first statement starts, whether a comment of SQL stands before it, and whether there is none."""
    at, commented = 0, False
    while at < len(text):
        comment = COMMENT.match(text, at)
        skipped = comment or NOISE.match(text, at)
        if skipped is None or skipped.end() == at:
            return at, commented, False
        commented = commented or comment is not None
        at = skipped.end()
    return at, commented, True


def decode_head(head: bytes) -> str:
    """Return the first bytes of a text well enough to find words of SQL in it; empty where they are binary."""
    encoding = next((name for mark, name in BYTE_ORDER_MARKS if head.startswith(mark)), "")
    if not encoding and b"\0" in head:
        encoding = detect_wide_encoding(head[: len(head) - len(head) % 4])
        if not encoding:
            return ""
    if not encoding and CONTROL_BYTES.search(head):
        return ""
    return head.decode(encoding or "latin-1", "ignore").lstrip("\ufeff")


def find_shebang_dialect(head: str) -> str | None:
    """Return the dialect of the client that runs a script, by its first line: `#!/usr/bin/env psql`."""
    line = SHEBANG.match(head)
    words = SHEBANG_WORD.findall(line[0]) if line is not None else []
    return next((SHEBANG_DIALECTS[word] for word in words if word in SHEBANG_DIALECTS), None)


def unpack_head(path: str, head: bytes) -> bytes:
    """Return the first bytes of a file as they are after unpacking."""
    if not is_gzip(path, head):
        return head
    try:
        return zlib.decompressobj(GZIP_FORMAT).decompress(head, HEAD_BYTES)
    except zlib.error:
        return b""


def is_gzip(path: str, content: bytes) -> bool:
    """Return whether a file is compressed with gzip, by its name and its first bytes."""
    return path.lower().endswith(GZIP_ENDING) and content.startswith(GZIP_MAGIC)


def unpack_gzip(content: bytes, most: int) -> bytes | None:
    """Return the unpacked content, or None where it has more than `most` bytes; a broken file is an `OSError`.

    No more than `most` bytes are ever unpacked: a megabyte of gzip may stand for a gigabyte of blanks.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:  # which may be several, one behind the other
            unpacked = stream.read(most + 1)
    except EOFError:
        raise OSError("it ends too early") from None
    except zlib.error:
        raise OSError("it is damaged") from None
    return unpacked if len(unpacked) <= most else None
