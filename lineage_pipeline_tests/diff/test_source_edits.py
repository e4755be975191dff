"""Changes quote the lines that their author edited, stand at them, and suggest a repair where one is plain."""

from pathlib import Path

import pytest

from lineage_pipeline.cli.revisions import discover_sides
from lineage_pipeline.cli.side_comparison import compare_sides
from lineage_pipeline.engine.diff.source_edits import MOST_QUOTED_LINES, compare_lines
from lineage_pipeline.export.reports.headlines import write_headline
from lineage_pipeline.model.tables import Change

Files = dict[str, str]

TABLES = "create table t (id int, k int, d date, s text);\ncreate table u (id int, k int);\n"


def compare(tmp_path: Path, base: Files, head: Files, dialect: str = "duckdb") -> list[Change]:
    """Compare two folders, and give the root changes."""
    for side, files in (("base", base), ("head", head)):
        for name, text in {"tables.sql": TABLES, **files}.items():
            path = tmp_path / side / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    sides = discover_sides(str(tmp_path / "base"), str(tmp_path / "head"), {"analysis": {"dialect": dialect}})
    return [change for change in compare_sides(*sides, "2026-01-01").changes if change.root]


def compare_view(tmp_path: Path, before: str, after: str) -> Change:
    """Compare two versions of a view, and give the only root change."""
    (change,) = compare(tmp_path, {"v.sql": f"create view v as\n{before}"}, {"v.sql": f"create view v as\n{after}"})
    return change


QUERIES = {
    "filter tightened": ("select id\nfrom t\nwhere k > 1", "select id\nfrom t\nwhere k > 2", 4),
    "filter loosened": ("select id\nfrom t\nwhere k > 1\n  and s = 'x'", "select id\nfrom t\nwhere k > 1", 4),
    "filter added": ("select id\nfrom t", "select id\nfrom t\nwhere k > 1", 4),
    "filter removed": ("select id\nfrom t\nwhere k > 1\n", "select id\nfrom t\n", 3),
    "QUALIFY filter removed": (
        "select id\nfrom t\nqualify row_number() over (partition by k order by d) = 1\n",
        "select id\nfrom t\n",
        3,
    ),
    "LEFT JOIN became INNER JOIN": (
        "select t.id\nfrom t\nleft join u on t.k = u.k",
        "select t.id\nfrom t\njoin u on t.k = u.k",
        4,
    ),
    "LEFT JOIN added": ("select t.id\nfrom t", "select t.id\nfrom t\nleft join u on t.k = u.k", 4),
    "sides of the LEFT JOIN swapped": (
        "select t.k\nfrom t left join u on t.id = u.id",
        "select t.k\nfrom u left join t on t.id = u.id",
        3,
    ),
    "UNION branch added": (
        "select id from t\nunion all\nselect id from u",
        "select id from t\nunion all\nselect id from u\nunion all\nselect k from u",
        5,
    ),
    "UNION ALL became UNION": (
        "select id from t\nunion all\nselect id from u",
        "select id from t\nunion\nselect id from u",
        3,
    ),
    "DISTINCT removed": ("select distinct\n  k\nfrom t", "select\n  k\nfrom t", 2),
    "limit changed": ("select k\nfrom t\norder by d\nlimit 10", "select k\nfrom t\norder by d\nlimit 20", 5),
}
"""What happened: the query before and after, and the line of the edit."""


@pytest.mark.parametrize("what", QUERIES)
def test_a_change_is_named_by_what_happened_and_stands_at_the_edited_line(what: str, tmp_path: Path) -> None:
    before, after, line = QUERIES[what]
    change = compare_view(tmp_path, before, after)
    assert (write_headline(change), change.line) == (what, line)
    assert change.sql_before or change.sql_after


def test_both_sides_are_quoted_as_written(tmp_path: Path) -> None:
    before = "select\n    ID,\n    Coalesce(k, 0)  as   Total\nfrom t"
    change = compare_view(tmp_path, before, before.replace("0", "1"))
    assert (change.sql_before, change.sql_after) == ("Coalesce(k, 0)  as   Total", "Coalesce(k, 1)  as   Total")


def test_blanks_and_case_are_no_edit() -> None:
    assert compare_lines(["select  A", "from t"], ["SELECT a ", "  FROM T"]).edits == ()


def test_the_edit_of_its_own_statement_is_quoted_where_all_lines_are_edited(tmp_path: Path) -> None:
    made = "create view a as select id from t where k > {0};\ncreate view b as select id from t where k < {0};\n"
    found = {one.object: one for one in compare(tmp_path, {"v.sql": made.format(1)}, {"v.sql": made.format(2)})}
    assert found["a"].sql_after == "create view a as select id from t where k > 2;"
    assert (found["b"].sql_before, found["b"].line) == ("create view b as select id from t where k < 1;", 2)


def test_remarks_do_not_stand_for_the_edit(tmp_path: Path) -> None:
    before = "select id,\n  s\nfrom t"
    after = "-- total: what k adds\nselect id,\n  s,\n  k + 1 as total\nfrom t"
    change = compare_view(tmp_path, before, after)
    assert (change.rule, change.line) == ("COL003", 5)


def test_of_a_long_edit_the_lines_that_say_it_are_quoted(tmp_path: Path) -> None:
    columns = [f"id + {number} as c{number}" for number in range(30)]
    other = [f"id + {number} as c{number} -- {number}" for number in range(30)]
    other[20] = "id + 99 as c20 -- 20"
    change = compare_view(
        tmp_path, "select\n" + ",\n".join(columns) + "\nfrom t", "select\n" + "\n,".join(other) + "\nfrom t"
    )
    assert change.column == "c20"
    assert "id + 99" in (change.sql_after or "")
    assert len((change.sql_after or "").splitlines()) <= MOST_QUOTED_LINES


def test_a_change_from_elsewhere_quotes_nothing(tmp_path: Path) -> None:
    view = {"v.sql": "create view v as select t.* from t"}
    wider = {"tables.sql": TABLES.replace("k int, d", "k int, n int, d")}
    found = compare(tmp_path, view, view | wider)
    assert {one.object: one.sql_after for one in found} == {
        "t": "create table t (id int, k int, n int, d date, s text);"
    }


def test_a_moved_file_is_compared_with_what_it_was(tmp_path: Path) -> None:
    view = "create view v as\nselect id\nfrom t\nwhere k > 1"
    (change,) = compare(tmp_path, {"old/v.sql": view}, {"new/v.sql": view.replace("k > 1", "k > 2")})
    assert (change.sql_before, change.path, change.line) == ("where k > 1", "new/v.sql", 4)


def test_a_renamed_column_suggests_the_edit_of_its_reader(tmp_path: Path) -> None:
    reader = {"r.sql": "create view r as\nselect\n  Price\nfrom c;"}
    found = compare(
        tmp_path,
        {"c.sql": "create view c as select id, k as price from t;", **reader},
        {"c.sql": "create view c as select id, k as price_eur from t;", **reader},
    )
    assert [one.suggestion for one in found if one.rule == "COL002"] == ["r.sql:3: Price → price_eur"]


def test_a_renamed_column_that_nobody_reads_here_suggests_to_keep_the_old_name(tmp_path: Path) -> None:
    change = compare_view(tmp_path, "select k as price from t", "select k as price_eur from t")
    assert change.suggestion == "keep the old name for its readers: … AS price"


def test_a_writer_of_a_column_that_is_missing_suggests_to_add_it(tmp_path: Path) -> None:
    load = "insert into u (id, k{0}) select id, k{0} from t;"
    found = compare(tmp_path, {"w.sql": load.format("")}, {"w.sql": load.format(", s")})
    assert [one.suggestion for one in found if one.rule == "SRC002"] == ["ALTER TABLE u ADD COLUMN s …"]
