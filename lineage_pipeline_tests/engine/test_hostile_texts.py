"""Any bytes as a SQL file: each file ends in rows or in a finding, and affects no other file."""

import random
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from lineage_pipeline.api import scan
from lineage_pipeline.model.enums import Status
from lineage_pipeline.model.tables import StatementRow

GOOD = b"create table t (a int);\ncreate view good as select a from t;\n"
LONG = "n" * 10_000
CONTROL = "".join(map(chr, range(1, 32))) + "\x7f\x85\u2028\u202e"


def _nested(count: int, opening: str, inner: str, closing: str) -> str:
    return opening * count + inner + closing * count


TEXTS: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "chance": lambda: random.Random(0).randbytes(50_000),
    "zeros": lambda: bytes(10_000),
    "a program": lambda: Path(sys.executable).read_bytes()[:100_000],
    "half of UTF-16": lambda: "create view v as select ä from t;".encode("utf-16")[:-1],
    "UTF-16 without its mark, torn": lambda: "create view v as select a from t;".encode("utf-16-le")[1:],
    "NULs between words": lambda: b"create\0view\0v as\0select a\0from t;",
    "a NUL in a name": lambda: b'create view "a\0b" as select 1 as c;',
    "50 MB in one line": lambda: b"select " + b"a, " * 16_700_000 + b"b from t",
    "9 MB in one line": lambda: b"select '" + b"x" * 9_000_000 + b"' as a from t",
    "9 MB of blanks": lambda: b"select a" + b" " * 9_000_000 + b"from t",
    "10,000 brackets": lambda: _nested(10_000, "(", "select 1", ")").encode(),
    "10,000 subqueries": lambda: _nested(10_000, "select * from (", "select 1 as a", ") x").encode(),
    "10,000 brackets that never close": lambda: b"select " + b"(" * 10_000,
    "a union of 5,000": lambda: " union all ".join(f"select {n} as a" for n in range(5_000)).encode(),
    "20,000 columns": lambda: (
        f"create table wide ({', '.join(f'c{n} int' for n in range(20_000))});\ncreate view w as select * from wide;"
    ).encode(),
    "names of 10,000 characters": lambda: (
        f"create view {LONG} as select {LONG}a as {LONG}b from {LONG}c.{LONG}d as {LONG}e;"
    ).encode(),
    "names with control characters": lambda: (
        f'create view "v{CONTROL}" as select "a{CONTROL}" as "b{CONTROL}" from "t{CONTROL}";'
    ).encode(),
    "names of one newline": lambda: b'create view "\n" as select "\r\n" from "\n\n";',
    "a quote that never closes": lambda: b"create view v as select 'a from t;\nselect 1;\n" * 100,
    "every quote that never closes": lambda: b'select "a from t; select `b; select [c; select $$d; select /* e; -- f',
    "10,000 statements": lambda: b"select a from t;\n" * 10_000,
    "100,000 semicolons": lambda: b";" * 100_000,
    "blanks before what may be a model": lambda: b"\n" * 60 + b"create view v as select model from t;",
    "comments before what may be a model": lambda: b"/**/" * 60 + b"create view v as select model from t;",
    "a mark of a waiver that goes on and on": lambda: b"select a from t; -- lineage" + b" " * 50_000 + b"x",
    "rows without an end": lambda: b"copy t from stdin\n" * 2_000 + b"\\echo\n",
}


@pytest.mark.parametrize("dialect", ["postgres", "tsql"])
def test_any_bytes_end_in_rows_or_in_a_finding(dialect: str, tmp_path: Path) -> None:
    for number, make in enumerate(TEXTS.values()):
        (tmp_path / f"{number:02}.sql").write_bytes(make())
    (tmp_path / "good.sql").write_bytes(GOOD)
    (tmp_path / "lineage.toml").write_text(f'cache = false\n[analysis]\ndialect = "{dialect}"\n')
    lineage = scan(tmp_path).lineage
    assert ("t", "good") in {(edge.from_object, edge.to_object) for edge in lineage.column_edges}
    told, read = {row.path for row in lineage.diagnostics}, {row.path for row in lineage.statements}
    silent = [name for number, name in enumerate(TEXTS) if f"{number:02}.sql" not in told | read]
    assert silent == ["nothing", "100,000 semicolons"], "there is nothing to say of these"
    assert [row.message for row in lineage.diagnostics if row.code == "INTERNAL_ERROR"] == []
    whole = {name for number, name in enumerate(TEXTS) if _is_whole(f"{number:02}.sql", lineage.statements)}
    assert {"a union of 5,000", "20,000 columns", "names of 10,000 characters", "10,000 statements"} <= whole
    assert {"names with control characters", "9 MB in one line"} <= whole


def _is_whole(path: str, statements: Iterable[StatementRow]) -> bool:
    own = [row for row in statements if row.path == path]
    return bool(own) and all(row.status is Status.ANALYSED for row in own)
