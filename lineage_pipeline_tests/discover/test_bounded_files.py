"""Settings, manifests and schemas that are too large, too deep or endless are one error message."""

import io
import json
from pathlib import Path

import pytest

from lineage_pipeline.api import scan
from lineage_pipeline.cli import main
from lineage_pipeline.discover.dbt.manifest import DbtManifest, _parse_document
from lineage_pipeline.discover.waiver_file import parse_waivers
from lineage_pipeline.files import bounded_files
from lineage_pipeline.model.errors import LineageError

DEEP = "[" * 200_000


@pytest.mark.parametrize(
    ("name", "content", "settings", "limit"),
    [
        ("lineage.toml", "# " + "x" * 2_000_000, "", "1 MB"),
        ("lineage.toml", f"a = {DEEP}", "", "nested too deeply"),
        ("lineage.toml", f"a = {'9' * 5_000}", "", "a number has too many digits"),
        ("lineage.toml", f"{'a.' * 50_000}a = 1", "", "a key has too many parts"),
        ("lineage.toml", f"[{'a.' * 50_000}a]", "", "a key has too many parts"),
        ("lineage.toml", f"x = {{{'a.' * 50_000}a = 1}}", "", "a key has too many parts"),
        ("v.toml", f"a = {'9' * 5_000}", '[templating]\nvariables_file = "v.toml"\n', "too many digits"),
        ("files.csv", "path\n" + "a.sql\n" * 400_000, 'manifest = "files.csv"\n', "2 MB"),
        ("files.csv", "path\n" + "x" * 200_000, 'manifest = "files.csv"\n', "larger than field limit"),
        ("files.csv", "path\ra.sql\r", 'manifest = "files.csv"\n', "new-line character"),
        ("files.csv", "", 'manifest = "files.csv"\n', "it lists no file"),
        ("s.csv", "table_name,column_name\n" + "x" * 200_000, '[analysis]\nschemas = ["s.csv"]\n', "larger than field"),
        ("s.csv", "x" * 200_000, '[analysis]\nschemas = ["s.csv"]\n', "larger than field"),
        ("s.yaml", "t: {a: 2001-99-99}", '[analysis]\nschemas = ["s.yaml"]\n', "not of its kind"),
        ("s.json", "[" + "0," * 2_000_000 + "0]", '[analysis]\nschemas = ["s.json"]\n', "3 MB"),
        ("s.json", DEEP, '[analysis]\nschemas = ["s.json"]\n', "nested too deeply"),
        ("s.yaml", DEEP[:2_000], '[analysis]\nschemas = ["s.yaml"]\n', "nested too deeply"),
        ("s.yaml", "a: &a [1]\nb: [*a, *a", '[analysis]\nschemas = ["s.yaml"]\n', "while parsing a flow sequence"),
        ("v.json", DEEP, '[templating]\nvariables_file = "v.json"\n', "nested too deeply"),
    ],
    ids=[
        "settings",
        "deep settings",
        "a long number",
        "a long key",
        "a long name of a table",
        "a long key inside",
        "a long number among variables",
        "listing",
        "long field",
        "ends of lines",
        "no file",
        "long field of a dump",
        "long heading",
        "no date",
        "schemas",
        "deep JSON",
        "deep YAML",
        "half of YAML",
        "variables",
    ],
)
def test_an_oversized_or_malformed_input_file_is_one_error_message(
    name: str,
    content: str,
    settings: str,
    limit: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for module, most in (("config.load", "LISTING"), ("discover.schemas.schema_sources", "DOCUMENT")):
        monkeypatch.setattr(f"lineage_pipeline.{module}.{most}", 2_000_000 if most == "LISTING" else 3_000_000)
    (tmp_path / "a.sql").write_text("create view v as select a from t;\n")
    (tmp_path / name).write_text(content)
    if settings:
        (tmp_path / "lineage.toml").write_text(settings)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["lineage", "scan", "."])
    assert main() == 2
    told = capsys.readouterr().err.strip()
    assert limit in told
    assert name in told
    assert "Traceback" not in told
    assert len(told) < 500


def test_an_endless_file_is_read_up_to_its_limit() -> None:
    with pytest.raises(LineageError, match="/dev/zero: it is over the limit of 1 MB for such a file"):
        bounded_files.read_bounded_file(Path("/dev/zero"), bounded_files.SETTINGS)


@pytest.mark.parametrize("opening", ["array<", "struct<a ", "decimal(", "int["])
def test_a_type_that_is_nested_too_deeply_is_unknown(opening: str, tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("create view v as select a, b from t;\n")
    (tmp_path / "s.json").write_text(json.dumps({"t": {"a": opening * 50_000, "b": "array<array<int>>"}}))
    (tmp_path / "lineage.toml").write_text('[analysis]\ndialect = "spark"\nschemas = ["s.json"]\n')
    found = {row.name: row.type for row in scan(tmp_path).lineage.columns if row.object == "t"}
    assert found == {"a": None, "b": "ARRAY<ARRAY<INT>>"}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("[1, 2]", "row 1 names no table and column"),
        ('[{"table_name": "t", "column_name": "a", "ordinal_position": "\u00b2"}]', ""),
        ('[{"table_name": "t", "column_name": "a", "ordinal_position": "' + "9" * 5_000 + '"}]', ""),
    ],
)
def test_invalid_rows_of_a_schema_dump_are_one_error_message(document: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("create view v as select a from t;\n")
    (tmp_path / "s.json").write_text(document)
    (tmp_path / "lineage.toml").write_text('[analysis]\nschemas = ["s.json"]\n')
    try:
        assert scan(tmp_path).lineage.columns
    except LineageError as error:
        assert said
        assert said in str(error)


def test_documents_that_are_nested_too_deeply_are_not_read() -> None:
    assert _parse_document(DEEP) is None
    assert _parse_document(DEEP.replace("[", '{"a":')) is None
    assert DbtManifest(_parse_document(DEEP), "no document").problem == "no document"
    with pytest.raises(LineageError, match="nested too deeply"):
        parse_waivers(f"a = {DEEP}")


def test_broken_settings_of_dataform_leave_names_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "workflow_settings.yaml").write_text("a: [")
    (tmp_path / "definitions").mkdir()
    (tmp_path / "definitions" / "a.sqlx").write_text('config { type: "table" }\nselect b from t\n')
    assert [row.object for row in scan(tmp_path).lineage.objects if row.path] != []


def test_yaml_aliases_are_not_expanded(tmp_path: Path) -> None:
    bomb = io.StringIO()
    bomb.write("a0: &a0 [x]\n")
    for level in range(1, 40):
        bomb.write(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n")
    (tmp_path / "a.sql").write_text("create view v as select a from t;\n")
    (tmp_path / "lineage.toml").write_text('[analysis]\nschemas = ["s.yaml"]\n')
    (tmp_path / "s.yaml").write_text(bomb.getvalue())
    with pytest.raises(LineageError):
        scan(tmp_path)
