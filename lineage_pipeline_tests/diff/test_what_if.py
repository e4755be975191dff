"""What if: a hypothetical edit gives the changes that the real edit would give."""

import json
from pathlib import Path

import pytest

from lineage_pipeline.cli import main
from lineage_pipeline.engine.diff.compare import diff
from lineage_pipeline.model.analysis import InputFile, Options, SchemaColumn, TableSchema
from lineage_pipeline.model.enums import ObjectKind, Origin
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.pipeline import AnalysisResult, analyze_files, reconcile_imports
from lineage_pipeline.what_if import EditAction, apply_edits, resolve_edit
from lineage_pipeline_tests.cli.test_check import commit, git

SHOP = """
create table raw.orders (id int not null, customer int, amount decimal(10,2), note text, primary key (id));
create table raw.customers (id int, name text);
create table core.facts (id int, total decimal(10,2), constraint one unique (id, total));
insert into core.facts (id, total) select id, amount from raw.orders;
create view core.orders as select o.id, o.amount as total, c.name, o.note
from raw.orders as o join raw.customers as c on c.id = o.customer where o.note is not null;
create view core.listed (a, b) as select id, total from core.orders;
create view core.united as select id, note as text from raw.orders union all select id, name from raw.customers;
create view core.starred as select * from core.orders;
create view mart.daily as select name, sum(total) as total from core.starred group by name;
create view mart.first as select a, b from core.listed;
create view mart.texts as select text from core.united;
alter table raw.customers add region text;
create view mart.regions as select region from raw.customers;
"""

UNITED = " from raw.orders union all select id"

CASES = [
    ("drop", "raw.orders.note", " note text,", ""),
    ("drop", "raw.orders.amount", " amount decimal(10,2),", ""),
    ("drop", "core.facts.total", ", total decimal(10,2), constraint one unique (id, total)", ""),
    ("drop", "core.orders.total", " o.amount as total,", ""),
    ("drop", "core.listed.b", "(a, b) as select id, total", "(a) as select id"),
    ("drop", "core.united.text", ", note as text from raw.orders union all select id, name", UNITED),
    ("drop", "core.starred.name", "select * from core.orders", "select * exclude (name) from core.orders"),
    ("drop", "raw.customers.region", "alter table raw.customers add region text;", "alter table raw.customers;"),
    ("rename", "raw.orders.note=remark", "note text", "remark text"),
    ("rename", "core.orders.total=gross", "as total, c", "as gross, c"),
    ("rename", "core.listed.b=c", "(a, b)", "(a, c)"),
    ("rename", "core.united.text=words", "as text", "as words"),
    ("rename", "core.starred.name=who", "select * from core.orders", "select * rename (name as who) from core.orders"),
    ("retype", "raw.orders.id=bigint", "raw.orders (id int", "raw.orders (id bigint"),
    ("retype", "raw.orders.amount=decimal(8,2)", "amount decimal(10,2)", "amount decimal(8,2)"),
    ("retype", "core.orders.total=int", "o.amount as total", "cast(o.amount as int) as total"),
    ("retype", "raw.customers.region=int", "add region text", "add region int"),
]  # fmt: skip


def analyze_hypothetical_base(text: str, imported: dict[str, TableSchema] | None = None) -> AnalysisResult:
    return analyze_files([InputFile("shop.sql", text, Options("duckdb"))], imported)


def render_changes(base: AnalysisResult, head: AnalysisResult) -> list[tuple[object, ...]]:
    before, after = reconcile_imports(base, head)
    changes = diff(before.lineage, after.lineage)
    return [
        (c.rule, c.object, c.column, c.intrinsic, c.effective, c.root, c.before, c.after, c.consumers, c.path, c.line)
        for c in changes
    ]


@pytest.mark.parametrize(("action", "words", "written", "instead"), CASES, ids=lambda item: str(item)[:30])
def test_a_hypothetical_edit_gives_the_changes_of_the_real_one(
    action: str, words: str, written: str, instead: str
) -> None:
    base = analyze_hypothetical_base(SHOP)
    assert SHOP.count(written) == 1
    expected = render_changes(base, analyze_hypothetical_base(SHOP.replace(written, instead)))
    assert render_changes(base, apply_edits(base, [resolve_edit(base, EditAction(action), words)])) == expected
    assert expected


def test_several_hypothetical_edits_are_applied_together() -> None:
    base = analyze_hypothetical_base(SHOP)
    edits = [
        resolve_edit(base, EditAction.DROP, "raw.orders.note"),
        resolve_edit(base, EditAction.RETYPE, "raw.orders.id=bigint"),
    ]
    real = analyze_hypothetical_base(
        SHOP.replace(" note text,", "").replace("raw.orders (id int", "raw.orders (id bigint")
    )
    assert render_changes(base, apply_edits(base, edits)) == render_changes(base, real)


def test_a_column_of_an_imported_schema_is_changed_there() -> None:
    columns = (SchemaColumn("id", "id", "INTEGER"), SchemaColumn("x", "x", "VARCHAR"))
    schema = TableSchema("ext.t", ObjectKind.TABLE, Origin.IMPORTED, columns)
    text = "create view core.v as select id, x from ext.t;"
    base = analyze_hypothetical_base(text, {"ext.t": schema})
    short = TableSchema("ext.t", ObjectKind.TABLE, Origin.IMPORTED, columns[:1])
    supposed = apply_edits(base, [resolve_edit(base, EditAction.DROP, "ext.t.x")])
    assert render_changes(base, supposed) == render_changes(base, analyze_hypothetical_base(text, {"ext.t": short}))


@pytest.mark.parametrize(
    ("action", "words", "said"),
    [
        (EditAction.DROP, "ext.t.x", ("COL001", "BREAKING", ["core.v"])),
        (EditAction.DROP, "ext.t.unread", ("COL001", "POTENTIALLY_BREAKING", [])),
        (EditAction.RENAME, "ext.t.x=y", ("COL002", "BREAKING", ["core.v"])),
        (EditAction.RETYPE, "ext.t.x=int", ("TYP003", "BREAKING", ["core.v"])),
    ],
)
def test_a_dropped_column_of_a_partly_described_source_points_to_its_description(
    action: EditAction, words: str, said: tuple[str, str, list[str]]
) -> None:
    columns = tuple(SchemaColumn(name, name, "VARCHAR") for name in ("unread", "id", "x"))
    schema = TableSchema("ext.t", ObjectKind.TABLE, Origin.IMPORTED, columns, open=True)
    base = analyze_hypothetical_base("create view core.v as select id, x, other from ext.t;", {"ext.t": schema})
    before, after = reconcile_imports(base, apply_edits(base, [resolve_edit(base, action, words)]))
    [cause] = [one for one in diff(before.lineage, after.lineage) if one.root]
    assert cause.object == "ext.t"
    assert (cause.rule, cause.effective, [reader.object for reader in cause.consumers]) == said


@pytest.mark.parametrize(
    ("action", "words", "said"),
    [
        (EditAction.DROP, "raw.ordres.note", "there is no object raw.ordres"),
        (EditAction.DROP, "raw.orders.nothing", "there is no column of raw.orders nothing"),
        (EditAction.DROP, "raw.orders.note=x", "write --drop t.column"),
        (EditAction.RENAME, "raw.orders.note", "write --rename t.column=new_name"),
        (EditAction.RENAME, "raw.orders.note=ID", "raw.orders has a column id already"),
        (EditAction.RETYPE, "raw.orders.note=bigin", "there is no type bigin; did you mean bigint"),
        (EditAction.DROP, "note", "name the table as well; did you mean .*raw.orders.note"),
        (EditAction.DROP, "nope", "name the table as well, as in t.column"),
        (EditAction.DROP, "raw.ordres.note", "did you mean raw.orders"),
    ],
)
def test_an_invalid_edit_is_refused_with_a_reason(action: EditAction, words: str, said: str) -> None:
    with pytest.raises(LineageError, match=said):
        resolve_edit(analyze_hypothetical_base(SHOP), action, words)


@pytest.mark.parametrize(
    ("action", "words"),
    [(EditAction.RETYPE, "raw.orders.amount=DECIMAL(10, 2)"), (EditAction.RENAME, "raw.orders.amount=amount")],
)
def test_an_edit_that_already_holds_changes_nothing(action: EditAction, words: str) -> None:
    base = analyze_hypothetical_base(SHOP)
    after = apply_edits(base, [resolve_edit(base, action, words)])
    assert diff(base.lineage, after.lineage) == ()


def test_a_schema_of_the_search_path_may_be_omitted_in_an_edit() -> None:
    options = Options("postgres", search_path=("public",))
    base = analyze_files([InputFile("t.sql", "create table t (a int, c int);", options)])
    assert {resolve_edit(base, EditAction.DROP, words).object for words in ("t.c", "public.t.c")} == {"t"}
    with pytest.raises(LineageError, match="there is no object other.t"):
        resolve_edit(base, EditAction.DROP, "other.t.c")


def test_a_star_is_a_direct_reader_of_a_column() -> None:
    base = analyze_hypothetical_base(SHOP)
    before, after = reconcile_imports(
        base, apply_edits(base, [resolve_edit(base, EditAction.DROP, "core.orders.name")])
    )
    [root] = [change for change in diff(before.lineage, after.lineage) if change.root]
    assert [(one.object, one.column) for one in root.consumers] == [("core.starred", "name")]


def test_a_column_of_an_inferred_schema_cannot_be_edited() -> None:
    base = analyze_hypothetical_base("create view v as select a from nowhere;")
    with pytest.raises(LineageError, match="import the schema of nowhere"):
        apply_edits(base, [resolve_edit(base, EditAction.DROP, "nowhere.a")])


def test_the_command_answers_without_a_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.sql").write_text(SHOP)
    assert main(["impact", "--drop", "RAW.orders.note", "--dialect", "duckdb", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["head"].endswith("; drop raw.orders.note")
    roots = [change for change in document["changes"] if change["root"]]
    assert [(root["rule"], root["effective"]) for root in roots] == [("COL001", "BREAKING")]
    assert main(["impact"]) == 2
    assert "say what would change: --drop" in capsys.readouterr().err


def test_variables_of_templates_are_given_to_every_comparison(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for side, column in (("base", "a"), ("head", "b")):
        (tmp_path / side).mkdir()
        table, view = "create table raw.t (a int, b int);", "create view v as select {} as x from {{{{ source }}}}.t;"
        (tmp_path / side / "v.sql").write_text(f"{table}\n{view.format(column)}\n")
    monkeypatch.chdir(tmp_path)
    assert main(["diff", "base", "head", "--var", "source=raw", "-f", "json"]) == 0
    assert "raw.t.b" in capsys.readouterr().out
    assert main(["impact", "--drop", "raw.t.a", "base", "--var", "source=raw"]) == 0
    assert "v.x" in capsys.readouterr().out
    assert main(["impact", "raw.t.a", "--in", "base", "--var", "source=raw"]) == 0
    assert "v.x" in capsys.readouterr().out
    assert main(["diff", "base", "head", "--var", "source"]) == 2
    assert "--var takes NAME=VALUE" in capsys.readouterr().err


def test_the_command_asks_a_revision(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    git("init", "-q", "-b", "main")
    commit({"shop.sql": SHOP}, "shop")
    Path("shop.sql").write_text("select 1")
    arguments = ["impact", "--drop", "raw.orders.note", "--dialect", "duckdb", "--in"]
    assert main([*arguments, ".@main", "-f", "json"]) == 0
    assert "raw.orders" in {change["object"] for change in json.loads(capsys.readouterr().out)["changes"]}
    assert main([*arguments, "."]) == 2


def test_a_schema_of_the_search_path_may_be_given_in_a_selector(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lineage.toml").write_text('analysis = {dialect = "postgres", search_path = ["public"]}\n')
    Path("s.sql").write_text("create table t (c int);\ncreate view v as select c from t;\n")
    assert main(["impact", "+public.v.c"]) == 0
    assert "t.c" in capsys.readouterr().out
    assert main(["impact", "other.v.c"]) == 1
    assert "there is no" in capsys.readouterr().err
