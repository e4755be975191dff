"""Which changes are reported and whom they break: readable cases in `fixtures/diff`, and claims about all of them."""

import random
from collections.abc import Iterator

import msgspec
import pytest

from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.engine.diff.policy import Policy
from lineage_pipeline.engine.diff.rules.registry import INTRINSIC_SEVERITIES, RULES
from lineage_pipeline.engine.diff.type_comparison import compare_types
from lineage_pipeline.model.analysis import LineageTables
from lineage_pipeline.model.enums import Confidence, Scope, Severity
from lineage_pipeline.model.tables import Change
from lineage_pipeline_tests.fixtures.diff.notation import lineage
from lineage_pipeline_tests.support.change_cases import SqlChangeCase, accept_changes, load_change_cases
from lineage_pipeline_tests.support.diff_extent import reduce_to_extent
from lineage_pipeline_tests.support.paths import TESTS

FIXTURES = TESTS / "fixtures" / "diff"

MIRRORED = {
    "OBJ001": ("OBJ003",),
    "OBJ003": ("OBJ001", "ANL002"),
    "COL001": ("COL003", "COL004"),
    "COL003": ("COL001",),
    "COL004": ("COL001",),
    "TYP001": ("TYP002",),
    "TYP002": ("TYP001", "TYP002"),
    "NUL001": ("NUL002", "NUL003"),
    "NUL002": ("NUL001",),
    "NUL003": ("NUL001", "COL001"),
    "EXP001": ("EXP001", "NUL001"),
    "EXP002": ("EXP002", "EXP004"),
    "EXP004": ("EXP002", "EXP004"),
    "EXP006": ("EXP001", "EXP006"),
    "SRC001": ("SRC001", "SRC002"),
    "SRC002": ("SRC001", "SRC002", "ROW003", "ROW006"),
}
"""Rules that turn into others when base and head change places; the rest turn into themselves."""


OF_FILES = frozenset({"ANL005"})
"""Rules about files, which two lineages do not know; `test_file_accounts` has their cases."""


class DiffCase(msgspec.Struct, frozen=True):
    title: str
    base: LineageTables
    head: LineageTables
    policy: Policy
    changes: list[str]
    absent: tuple[str, ...] = ()


def load_diff_cases() -> Iterator[DiffCase]:
    for path in sorted(FIXTURES.glob("*.txt")):
        for text in path.read_text().split("=== ")[1:]:
            title, _, rest = text.partition("\n")
            parts = {name: body for name, _, body in (part.partition("\n") for part in rest.split("--- ")[1:])}
            both = parts.get("both", "")
            leaf = parts.get("leaf", "unknown").strip()
            yield DiffCase(
                title=title,
                base=lineage(both + parts["base"]),
                head=lineage(both + parts["head"]),
                policy=msgspec.convert({"leaf": leaf}, Policy),
                changes=sorted(line for line in parts["changes"].splitlines() if line),
                absent=tuple(parts.get("absent", "").split()),
            )


CASES: list[DiffCase | SqlChangeCase] = [*load_diff_cases(), *load_change_cases()]


def render_change(change: Change) -> str:
    place = f"{change.object}.{change.column}" if change.column else change.object
    return f"{change.rule} {place} {change.effective}" + ("" if change.root else " derived")


def shuffle_rows(one: LineageTables, seed: int) -> LineageTables:
    chance = random.Random(seed)
    tables = {name: getattr(one, name) for name in one.__struct_fields__}
    return msgspec.structs.replace(
        one, **{name: tuple(chance.sample(rows, len(rows))) for name, rows in tables.items()}
    )


def move_files(one: LineageTables) -> LineageTables:
    """The same lineage from files with other names."""
    tables = {name: getattr(one, name) for name in one.__struct_fields__}
    return msgspec.structs.replace(one, **{name: tuple(map(move_row, rows)) for name, rows in tables.items()})


def move_row(row: msgspec.Struct) -> msgspec.Struct:
    path = getattr(row, "path", None)
    return msgspec.structs.replace(row, path=f"elsewhere/{path}") if path else row


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_changes_are_what_the_case_says(case: DiffCase | SqlChangeCase, request: pytest.FixtureRequest) -> None:
    found = sorted(render_change(change) for change in diff(case.base, case.head, case.policy))
    if isinstance(case, SqlChangeCase) and request.config.getoption("--accept"):
        accept_changes(case, found)
    else:
        assert found == case.changes


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_nothing_changes_between_a_lineage_and_itself(case: DiffCase | SqlChangeCase) -> None:
    assert diff(case.head, case.head) == ()
    assert diff(case.base, case.base) == ()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_moving_every_file_changes_nothing(case: DiffCase | SqlChangeCase) -> None:
    assert diff(case.head, move_files(case.head)) == ()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_the_order_of_rows_does_not_matter(case: DiffCase | SqlChangeCase) -> None:
    expected = diff(case.base, case.head, case.policy)
    assert diff(shuffle_rows(case.base, 1), shuffle_rows(case.head, 2), case.policy) == expected


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_rows_outside_of_the_diff_extent_change_nothing(case: DiffCase | SqlChangeCase) -> None:
    assert diff(*reduce_to_extent(case.base, case.head), case.policy) == diff(case.base, case.head, case.policy)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_ids_are_unique_and_every_root_is_there(case: DiffCase | SqlChangeCase) -> None:
    changes = diff(case.base, case.head, case.policy)
    ids = {change.id: change for change in changes}
    assert len(ids) == len(changes)
    assert all(ids[change.root_id].root for change in changes)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_every_change_is_reported_in_reverse(case: DiffCase | SqlChangeCase) -> None:
    back = diff(case.head, case.base)
    assert [render_change(change) for change in diff(case.base, case.head) if not is_reversed(change, back)] == []


def is_reversed(change: Change, back: tuple[Change, ...]) -> bool:
    """Whether a change is told when it is taken back, as what it is then.

    What the analysis learns is no change, and neither is the first writer of a table, nor a promise or a secret that is
    kept again; what fits in number again, and a name that needs no view any more, are told as edits.
    """
    mended = (change.rule in ("POS003", "SRC002") and change.before is None) or "and a view of" in (change.after or "")
    if not change.root or mended or change.rule.startswith(("ANL", "OBJ005", "CON002", "PII001")):
        return True
    found = {(one.rule, one.object, one.column) for one in back}
    if change.rule.startswith("EXP") and ("SRC002", change.object, None) in found:  # what is repaired was broken
        return True
    return bool(found & {(rule, *_place_at_head(change)) for rule in MIRRORED.get(change.rule, (change.rule,))})


def _place_at_head(change: Change) -> tuple[str, str | None]:
    if change.rule in ("OBJ002", "OBJ008"):
        lasting = not (change.after or "").startswith("temporary ")
        return (change.after or "").removeprefix("written into ") if lasting else change.object, None
    if change.rule == "COL006" and change.intrinsic is Severity.POTENTIALLY_BREAKING:
        return change.object, change.column
    return change.object, change.after if change.rule in ("COL002", "COL006") else change.column


def test_every_rule_has_a_case_where_it_fires() -> None:
    fired = {line.split()[0] for case in CASES for line in case.changes}
    assert fired == {rule.id for rule in RULES} - OF_FILES


def test_every_rule_has_a_case_where_it_does_not_apply() -> None:
    for case in CASES:
        assert not set(case.absent) & {line.split()[0] for line in case.changes}, case.title
    assert {rule for case in CASES for rule in case.absent} == {rule.id for rule in RULES} - OF_FILES


def test_every_rule_is_as_serious_as_the_table_says() -> None:
    found = {(one.rule, one.intrinsic) for case in CASES for one in diff(case.base, case.head, case.policy) if one.root}
    told = {(rule, severity) for rule, severities in INTRINSIC_SEVERITIES.items() for severity in severities}
    assert found <= told, sorted(found - told)
    assert set(INTRINSIC_SEVERITIES) == {rule.id for rule in RULES}


def test_every_rule_says_what_it_means_and_what_to_do() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    assert all(rule.title and rule.meaning.endswith(".") and rule.remedy.endswith(".") for rule in RULES)


ORDERS = """
table raw.orders
  id INT not null
  note TEXT
"""
READER = """
view core.orders
  id INT not null = raw.orders.id
  from raw.orders
  filter (raw.orders.note is null)
"""
SHORT = """
table raw.orders
  id INT not null
"""


def find_only(changes: tuple[Change, ...], rule: str, *, root: bool = True) -> Change:
    [change] = [change for change in changes if change.rule == rule and change.root is root]
    return change


def test_a_broken_reader_is_named_with_file_and_line() -> None:
    removed = find_only(diff(lineage(ORDERS + READER), lineage(SHORT + READER)), "COL001")
    [consumer] = removed.consumers
    assert (consumer.object, consumer.path, consumer.line) == ("core.orders", "core.orders.sql", 4)
    assert consumer.owners == ("team",)
    assert removed.effective is Severity.BREAKING


def test_a_derived_change_is_at_the_consumer_and_names_its_root() -> None:
    changes = diff(lineage(ORDERS + READER), lineage(SHORT + READER))
    derived = find_only(changes, "COL001", root=False)
    assert (derived.object, derived.path, derived.line) == ("core.orders", "core.orders.sql", 4)
    assert derived.before == "raw.orders.note"
    assert derived.root_id == find_only(changes, "COL001").id


@pytest.mark.parametrize(
    ("policy", "severity"),
    [
        (Policy(), Severity.POTENTIALLY_BREAKING),
        (Policy(leaf="public"), Severity.BREAKING),
        (Policy(leaf="private"), Severity.NON_BREAKING),
        (Policy(public=("raw.*",)), Severity.BREAKING),
        (Policy(leaf="public", private=("raw.*",)), Severity.NON_BREAKING),
        (Policy(levels={"COL001": "info"}), Severity.INFO),
    ],
)
def test_the_policy_decides_the_severity_where_no_reader_is_known(policy: Policy, severity: Severity) -> None:
    assert find_only(diff(lineage(ORDERS), lineage(SHORT), policy), "COL001").effective is severity


EXPOSURES = pytest.mark.parametrize(
    ("tags", "severity"), [((), Severity.POTENTIALLY_BREAKING), (("exposure",), Severity.BREAKING)]
)


@EXPOSURES
def test_renaming_a_table_breaks_external_readers(tags: tuple[str, ...], severity: Severity) -> None:
    text = ORDERS + "view exposure.board\n  id INT = raw.orders.id\n  from raw.orders\n"
    base, head = (
        _tag_exposure(lineage(text.replace("raw.orders", name)), tags) for name in ("raw.orders", "raw.sales")
    )
    assert find_only(diff(base, head), "OBJ002").effective is severity


@EXPOSURES
def test_removing_a_column_breaks_external_readers(tags: tuple[str, ...], severity: Severity) -> None:
    text = "view exposure.board\n  id INT = raw.orders.id\n  from raw.orders\n"
    base, head = (_tag_exposure(lineage(table + text), tags) for table in (ORDERS, SHORT))
    assert find_only(diff(base, head), "COL001").effective is severity


def _tag_exposure(side: LineageTables, tags: tuple[str, ...]) -> LineageTables:
    rows = (msgspec.structs.replace(row, tags=tags) if row.schema == "exposure" else row for row in side.objects)
    return msgspec.structs.replace(side, objects=tuple(rows))


def test_a_rule_that_is_off_says_nothing() -> None:
    assert diff(lineage(ORDERS), lineage(SHORT), Policy(levels={"COL001": "off"})) == ()


def test_the_fingerprint_stays_when_the_same_column_changes_in_another_way() -> None:
    texts = [ORDERS.replace("note TEXT", f"note {kind}") for kind in ("VARCHAR(5)", "VARCHAR(9)", "VARCHAR(12)")]
    one, two = (find_only(diff(lineage(texts[0]), lineage(text)), "TYP001") for text in texts[1:])
    assert one.fingerprint == two.fingerprint
    assert one.id != two.id


def test_a_column_that_only_decides_about_rows_has_an_effect_on_rows() -> None:
    changes = diff(lineage(ORDERS + READER), lineage(ORDERS.replace("note TEXT", "note INT") + READER))
    derived = find_only(changes, "TYP003", root=False)
    assert (derived.object, derived.column, derived.scope) == ("core.orders", None, Scope.ROW_SET)


def test_a_possible_reader_counts_and_makes_the_finding_approximate() -> None:
    approximate = READER + "  approximate\n"
    removed = find_only(diff(lineage(ORDERS + approximate), lineage(SHORT + approximate)), "COL001")
    assert removed.effective is Severity.BREAKING
    assert removed.confidence is Confidence.APPROXIMATE


def test_candidates_of_an_ambiguous_rename_are_listed() -> None:
    before = "table raw.t\n  id INT\nview core.v\n  a INT = raw.t.id\n  b INT = raw.t.id\n  from raw.t\n"
    after = before.replace("a INT", "c INT").replace("b INT", "d INT")
    changes = diff(lineage(before), lineage(after))
    assert {c.column: c.after for c in changes if c.rule == "COL001"} == {
        "a": "candidates: c, d",
        "b": "candidates: c, d",
    }


@pytest.mark.parametrize(
    ("before", "after", "rule"),
    [
        ("INT", "INTEGER", None),
        ("NUMERIC(10, 2)", "DECIMAL(10,2)", None),
        ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ", None),
        ("SMALLINT", "BIGINT", "TYP001"),
        ("VARCHAR(10)", "VARCHAR(MAX)", "TYP001"),
        ("DECIMAL(10,2)", "DECIMAL(18,2)", "TYP001"),
        ("DATETIME", "DATETIME2(7)", "TYP001"),
        ("REAL", "DOUBLE PRECISION", "TYP001"),
        ("BIGINT", "INT", "TYP002"),
        ("TEXT", "VARCHAR(20)", "TYP002"),
        ("VARBINARY(8)", "VARBINARY(4)", "TYP002"),
        ("NVARCHAR(20)", "VARCHAR(10)", "TYP002"),
        ("INT", "VARCHAR(10)", "TYP003"),
        ("DATE", "TIMESTAMP", "TYP003"),
        ("BOOLEAN", "INT", "TYP003"),
        ("ARRAY<INT>", "ARRAY<TEXT>", "TYP003"),
        ("DECIMAL(10,2)", "DECIMAL(10,4)", "TYP004"),
        ("DECIMAL(10,2)", "DECIMAL(12,4)", "TYP004"),
        ("TIMESTAMP", "TIMESTAMPTZ", "TYP005"),
        ("VARCHAR(10)", "NVARCHAR(10)", "TYP005"),
        ("INT", "INT UNSIGNED", "TYP005"),
        ("FLOAT", "DECIMAL(10,2)", "TYP005"),
    ],
)
def test_types_compare_by_family(before: str, after: str, rule: str | None) -> None:
    verdict = compare_types(before, after)
    assert (verdict and verdict[0]) == rule


def test_a_larger_scale_that_costs_digits_before_the_point_breaks() -> None:
    assert compare_types("DECIMAL(10,2)", "DECIMAL(10,4)") == ("TYP004", Severity.BREAKING)
    assert compare_types("DECIMAL(10,2)", "DECIMAL(12,4)") == ("TYP004", Severity.NON_BREAKING)
