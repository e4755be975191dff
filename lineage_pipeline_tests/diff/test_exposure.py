"""Who may read an object beyond the repository: settings, then tags, then layers; and what tests feel."""

import pytest

from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.engine.diff.policy import Policy, classify_exposure
from lineage_pipeline.model.analysis import InputFile, LineageTables, Options
from lineage_pipeline.model.tables import ObjectRow
from lineage_pipeline.pipeline import build_lineage

POSTGRES = Options(dialect="postgres")


def analyze_texts(texts: dict[str, str]) -> LineageTables:
    return build_lineage([InputFile(path, text, POSTGRES) for path, text in texts.items()], reach=False)


def find_row(path: str, name: str) -> ObjectRow:
    return next(row for row in analyze_texts({path: f"create table {name} (id int)"}).objects if row.object == name)


@pytest.mark.parametrize(
    ("path", "name", "tags", "said"),
    [
        ("models/marts/orders.sql", "shop.orders", (), "public (folder marts)"),
        ("models/marts/staging/orders.sql", "shop.orders", (), "private (folder staging)"),
        ("models/orders.sql", "stg_shop.orders", (), "private (schema stg_shop)"),
        ("models/orders.sql", "dbt_marts.orders", (), "public (schema dbt_marts)"),
        ("models/staging/orders.sql", "core.orders", (), "public (schema core)"),
        ("models/staging/orders.sql", "core.orders", ("access:private",), "public (schema core)"),
        ("models/staging/orders.sql", "core.orders", ("private",), "private (tag private)"),
        ("models/staging/orders.sql", "s.orders", ("private", "contract"), "public (tag contract)"),
        ("models/staging/orders.sql", "s.orders", ("public=false",), "private (folder staging)"),
        ("models/orders.sql", "hardcore.printing", (), "unknown (no setting, tag or layer says who reads it)"),
        ("marts.sql", "s.orders", (), "unknown (no setting, tag or layer says who reads it)"),
        ("models/orders.sql", "told.orders", ("private",), "public (diff.public)"),
        ("tests/marts/orders.sql", "core.orders", ("public",), "test (folder tests)"),
    ],
)
def test_the_first_that_says_who_reads_an_object_decides(
    path: str, name: str, tags: tuple[str, ...], said: str
) -> None:
    assert str(classify_exposure(Policy(public=("told.*",)), name, [find_row(path, name)], tags)) == said


def test_what_one_side_promises_holds_for_both() -> None:
    rows = [find_row("models/marts/t.sql", "s.t"), find_row("models/staging/t.sql", "s.t")]
    found = {str(classify_exposure(Policy(), "s.t", side)) for side in (rows, rows[::-1])}
    assert found == {"public (folder marts)"}


def test_layers_are_a_setting() -> None:
    row, policy = find_row("lake/silver/t.sql", "s.t"), Policy(public_layers=("silver",), private_layers=())
    assert str(classify_exposure(policy, "s.t", [row])) == "public (folder silver)"


TABLE = {"tests/t.sql": "create table s.t (id int, note text); create view s.v as select note from s.t;"}
SHORT = {"tests/t.sql": "create table s.t (id int); create view s.v as select note from s.t;"}


def list_severities(base: dict[str, str], head: dict[str, str], policy: Policy) -> set[tuple[str, str]]:
    return {(one.object, one.effective.value) for one in diff(analyze_texts(base), analyze_texts(head), policy)}


def test_what_only_tests_run_breaks_nobody_unless_asked() -> None:
    assert {severity for _, severity in list_severities(TABLE, SHORT, Policy())} == {"NON_BREAKING"}
    assert ("s.t", "BREAKING") in list_severities(TABLE, SHORT, Policy(tests=()))


def test_a_test_is_no_reader_that_counts() -> None:
    view = {"tests/v.sql": "create view s.v as select note from s.t;"}
    base, head = ({"t.sql": f"create table s.t (id int{column});"} | view for column in (", note text", ""))
    assert ("s.t", "POTENTIALLY_BREAKING") in list_severities(base, head, Policy())
    assert ("s.t", "BREAKING") in list_severities(base, head, Policy(tests=()))
