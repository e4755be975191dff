"""Discovery: folders, revisions and the example repository, with real files and real git."""

import shutil
from pathlib import Path

import pytest

from lineage_pipeline.config.load import Settings, load_settings
from lineage_pipeline.discover.discovery import build_input_files
from lineage_pipeline.discover.example.repository import build_example, merge_example_settings
from lineage_pipeline.discover.folder import discover_folder, discover_single_files, name_repository
from lineage_pipeline.discover.git.repository import (
    WORKTREE,
    discover_revision,
    find_merge_base,
    find_snapshot_base,
    find_toplevel,
    is_repository,
    list_first_parents,
    read_commit,
    resolve_commit,
)
from lineage_pipeline.discover.schemas.imported_tables import SchemaMapping
from lineage_pipeline.discover.schemas.normalize import normalize_tables, parse_schema_input
from lineage_pipeline.discover.schemas.schema_sources import read_schema_source
from lineage_pipeline.engine.graph.script_scopes import natural_path_key
from lineage_pipeline.files.encoding import decode_content
from lineage_pipeline.files.path_patterns import matches_path
from lineage_pipeline.model.analysis import Options
from lineage_pipeline.model.enums import Status
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline_tests.support.git_repositories import commit_folder, run_git, write_files
from lineage_pipeline_tests.support.paths import ROOT

RULES = Settings()
ASSETS = ROOT / "sql_assets"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    repo = tmp_path / "my repo"
    repo.mkdir()
    write_files(repo, a_sql="select 1", x__b_sql="select 'ü'".encode("utf-16"))
    commit_folder(repo)
    write_files(repo, a_sql="select 2")
    run_git(repo, "commit", "-q", "-a", "-m", "second")
    return repo


@pytest.mark.parametrize(
    ("pattern", "fits", "fits_not"),
    [
        ("*.sql", ("a.sql", "x/y/a.sql"), ("a.sqlx", "sql")),
        ("x/*.sql", ("x/a.sql",), ("x/y/a.sql", "a.sql")),
        ("x/**", ("x/a", "x/y/z"), ("x", "ax/a")),
        ("**/t/**", ("t/a", "x/t/a/b"), ("xt/a", "t")),
        ("old/", ("old/a", "old/b/c"), ("x/old/a",)),
        ("v[0-9]?.sql", ("v1a.sql",), ("va1.sql", "v1.sql")),
        ("[!a]*.sql", ("b.sql",), ("a.sql",)),
        ("/a+b.sql", ("a+b.sql",), ("aab.sql",)),
        ("[", ("[",), ("a",)),
    ],
)
def test_patterns(pattern: str, fits: tuple[str, ...], fits_not: tuple[str, ...]) -> None:
    assert [path for path in fits if not matches_path(path, [pattern])] == []
    assert [path for path in fits_not if matches_path(path, [pattern])] == []


@pytest.mark.parametrize(
    ("content", "text", "encoding"),
    [
        ("é\r\n".encode(), "é\r\n", "utf-8"),
        ("é".encode("utf-8-sig"), "é", "utf-8-sig"),
        ("é".encode("utf-16"), "é", "utf-16"),
        (b"\xfe\xff" + "é".encode("utf-16-be"), "é", "utf-16"),
        ("é".encode("utf-32"), "é", "utf-32"),
        ("é".encode("cp1252"), "é", "cp1252"),
        ("select 'Müller' -- naïve".encode("latin-1"), "select 'Müller' -- naïve", "cp1252"),
        ("select 'žluťoučký kůň'".encode("cp1250"), "select 'žluťoučký kůň'", "cp1250"),
        ("-- выбрать заказы\nselect 1".encode("cp1251"), "-- выбрать заказы\nselect 1", "cp1251"),
        ("select 'καλημέρα'".encode("cp1253"), "select 'καλημέρα'", "cp1253"),
        ("select 'ığdır şehir'".encode("cp1254"), "select 'ığdır şehir'", "cp1254"),
        ("select 1 -- © 20 ± 2 µm".encode("latin-1"), "select 1 -- © 20 ± 2 µm", "cp1252"),
        ("select имя, 顧客 from t".encode("utf-16-le"), "select имя, 顧客 from t", "utf-16-le"),
        ("select 1 from größe".encode("utf-32-be"), "select 1 from größe", "utf-32-be"),
        ("select 名前 -- これはテスト".encode("shift_jis"), "select 名前 -- これはテスト", "cp932"),
        ("select 名前 -- これはテスト".encode("euc_jp"), "select 名前 -- これはテスト", "euc_jp"),
        ("select 姓名 -- 这是一个测试的注释".encode("gbk"), "select 姓名 -- 这是一个测试的注释", "gb18030"),
        ("select 姓名 -- 這是一個測試的註釋".encode("big5"), "select 姓名 -- 這是一個測試的註釋", "big5"),
        ("select 이름 -- 이것은 테스트 주석".encode("euc_kr"), "select 이름 -- 이것은 테스트 주석", "cp949"),
        ("# coding: koi8-r\nx = 'да'".encode("koi8-r"), "# coding: koi8-r\nx = 'да'", "koi8-r"),
        ("select 'é'".encode("utf-16-le"), "select 'é'", "utf-16-le"),
        ("select 'é'".encode("utf-16-be"), "select 'é'", "utf-16-be"),
        (b"", "", "utf-8"),
    ],
)
def test_texts_are_decoded_and_their_line_ends_kept(content: bytes, text: str, encoding: str) -> None:
    decoded = decode_content(content)
    assert (decoded.text, decoded.encoding, decoded.problem) == (text, encoding, "")


@pytest.mark.parametrize(
    "content",
    ["-- проверка всех данных за год".encode("koi8-r"), b"\0\1\2", b"\x81\x8d", b"\xff\xfea", b"a\0b", b"\1\2\xe9"],
)
def test_binary_content_is_a_finding(content: bytes) -> None:
    assert decode_content(content).problem
    assert decode_content(content).text == ""


@pytest.mark.parametrize(
    "name", ["undefined", "raw_unicode_escape", "unicode-escape", "U7", "idna", "punycode", "nothing"]
)
def test_a_file_cannot_choose_a_python_codec_as_its_encoding(name: str) -> None:
    content = f"-- coding: {name}\nselect '\\ud800 +2AA-".encode() + b"\x81\x8d'"
    decoded = decode_content(content)
    assert (decoded.text, bool(decoded.problem)) == ("", True)
    plain = decode_content(f"-- coding: {name}\nselect '\\ud800', '\xe9'".encode("latin-1"))
    assert (plain.text[-3:], plain.encoding) == ("'é'", "cp1252")


def test_paths_are_in_natural_order() -> None:
    paths = ["10_a.sql", "2_b.sql", "a/10.sql", "a/9.sql", "01.sql", "1.sql", "b.sql", "a.sql"]
    ordered = ["01.sql", "1.sql", "2_b.sql", "10_a.sql", "a/9.sql", "a/10.sql", "a.sql", "b.sql"]
    assert sorted(paths, key=natural_path_key) == ordered


def test_a_folder_is_read_recursively_and_a_bad_file_affects_only_itself(tmp_path: Path) -> None:
    write_files(tmp_path, b_sql="select 1", x__a_sql="select 1", bad_sql=b"\0\0", note="no")
    found = discover_folder(tmp_path, RULES, name="shop", analysis_key="key")
    assert [file.path for file in found.files] == ["b.sql", "bad.sql", "x/a.sql"]
    assert [file.status for file in found.files] == [Status.ANALYSED, Status.FAILED, Status.ANALYSED]
    assert [(one.code, one.path) for one in found.diagnostics] == [("ENCODING_ERROR", "bad.sql")]
    assert [file.path for file in build_input_files(found, RULES)] == ["b.sql", "x/a.sql"]
    assert len(found.sources) == 2
    assert found.snapshot.files == 3
    assert found.snapshot.analysis_key == "key"


def test_a_folder_is_named_after_its_content_alone(tmp_path: Path) -> None:
    write_files(tmp_path, one__a_sql="select 1", two__a_sql="select 1", three__a_sql="select 2", four__b_sql="select 1")
    keys = [discover_folder(tmp_path / name, RULES, name="r").key for name in ("one", "two", "three", "four")]
    assert keys[0].startswith("r@tree-")
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3


def test_links_are_not_followed_out_of_the_tree(tmp_path: Path) -> None:
    write_files(tmp_path, tree__a_sql="select 1", secret__s_sql="select 2")
    tree = tmp_path / "tree"
    (tree / "out.sql").symlink_to(tmp_path / "secret" / "s.sql")
    (tree / "in.sql").symlink_to(tree / "a.sql")
    (tree / "folder").symlink_to(tmp_path / "secret")
    (tree / "loop").symlink_to(tree)
    (tree / "gone.sql").symlink_to(tree / "nothing.sql")
    assert [file.path for file in discover_folder(tree, RULES).files] == ["a.sql", "in.sql"]


def test_a_missing_folder_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(LineageError, match="is not a folder"):
        discover_folder(tmp_path / "none", RULES)


def test_names_of_repositories_fit_into_keys() -> None:
    assert name_repository(Path("/x/my repo@home")) == "my-repo-home"
    assert name_repository(Path("/x/shop.git")) == "shop"


def test_files_by_name_keep_the_paths_that_were_given(tmp_path: Path) -> None:
    write_files(tmp_path, a_sql="select 1")
    given = str(tmp_path / "a.sql")
    found = discover_single_files([given, "-", given], b"select 2", RULES)
    assert {file.path: file.text for file in build_input_files(found, RULES)} == {given: "select 1", "-": "select 2"}
    with pytest.raises(LineageError, match="No such file"):
        discover_single_files([str(tmp_path / "none.sql")], b"", RULES)


def test_imported_schemas_are_named_as_the_dialect_names_them() -> None:
    given: SchemaMapping = {'raw."Odd.Name"': ["id", '"Id"'], "db.raw.t": {"a": "decimal(10, 2)"}}
    found = normalize_tables(parse_schema_input(given).tables, Options("snowflake", default_catalog="db")).schemas
    assert list(found) == ['DB.RAW."Odd.Name"', "DB.RAW.T"]
    columns = [(column.name, column.type) for schema in found.values() for column in schema.columns]
    assert columns == [("ID", None), ("Id", None), ("A", "NUMBER(10,2)")]
    bracketed = parse_schema_input({"[Raw].[T]": ["a"]}).tables
    assert list(normalize_tables(bracketed, Options("tsql", default_catalog="Shop")).schemas) == ["shop.raw.t"]


def test_a_schema_file_of_another_shape_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"t": 3}')
    with pytest.raises(LineageError, match="s.json: Expected"):
        read_schema_source(str(tmp_path / "s.json"), Options())


def test_a_revision_is_read_without_touching_the_working_tree(repo: Path) -> None:
    write_files(repo, a_sql="select 3", new_sql="select 4")
    first, second, now = (discover_revision(repo, revision, RULES) for revision in ("HEAD~1", "main", WORKTREE))
    texts = [{file.path: file.text for file in build_input_files(found, RULES)} for found in (first, second, now)]
    assert texts[0] == {"a.sql": "select 1", "x/b.sql": "select 'ü'"}
    assert texts[1] == {"a.sql": "select 2", "x/b.sql": "select 'ü'"}
    assert texts[2] == {"a.sql": "select 3", "new.sql": "select 4", "x/b.sql": "select 'ü'"}
    assert second.key == f"my-repo@{resolve_commit(repo, 'main')}"
    assert (second.snapshot.base, second.snapshot.base_rule) == (first.snapshot.commit, "first-parent")
    assert (first.snapshot.base, first.snapshot.base_rule) == (None, "none")
    assert second.snapshot.refs == ("main",)
    assert second.snapshot.committed_at == "2026-01-02T01:04:05Z"
    assert now.snapshot.commit.startswith("tree-")


def test_the_same_content_is_the_same_source_in_git_and_on_the_disk(repo: Path) -> None:
    assert discover_revision(repo, "HEAD", RULES).sources == discover_folder(repo, RULES).sources


def test_the_base_is_the_merge_base_with_the_base_ref(repo: Path) -> None:
    run_git(repo, "checkout", "-q", "-b", "work", "HEAD~1")
    write_files(repo, c_sql="select 5")
    run_git(repo, "add", "-A")
    run_git(repo, "commit", "-q", "-m", "third")
    root = resolve_commit(repo, "main~1")
    found = discover_revision(repo, "work", RULES, base_ref="main")
    assert (found.snapshot.base, found.snapshot.base_rule) == (root, "merge-base:main")
    assert find_merge_base(repo, "main", "work") == root
    on_main = read_commit(repo, resolve_commit(repo, "main"))
    assert find_snapshot_base(repo, on_main, "main")[:2] == (root, "first-parent")
    missing = discover_revision(repo, "work", RULES, base_ref="release")
    assert [one.code for one in missing.diagnostics] == ["BASE_MISSING"]
    run_git(repo, "checkout", "-q", "--orphan", "alone")
    run_git(repo, "commit", "-q", "-m", "alone")
    assert find_merge_base(repo, "main", "alone") is None


def test_bare_repositories_and_subfolders_work(repo: Path, tmp_path: Path) -> None:
    run_git(tmp_path, "clone", "-q", "--bare", str(repo), "shop.git")
    assert discover_revision(tmp_path / "shop.git", "main", RULES).key == f"shop@{resolve_commit(repo, 'main')}"
    assert find_toplevel(repo / "x") == repo
    assert is_repository(repo)
    assert not is_repository(tmp_path)


def test_links_and_submodules_of_a_revision_are_left_out(repo: Path) -> None:
    (repo / "link.sql").symlink_to("/etc/passwd")
    run_git(repo, "add", "-A")
    run_git(repo, "update-index", "--add", "--cacheinfo", f"160000,{resolve_commit(repo, 'main')},module.sql")
    run_git(repo, "commit", "-q", "-m", "links")
    assert [file.path for file in discover_revision(repo, "HEAD", RULES).files] == ["a.sql", "x/b.sql"]


def test_nothing_that_a_repository_configures_is_run(repo: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    run_git(repo, "config", "filter.evil.smudge", f"touch '{trap}'; cat")
    run_git(repo, "config", "core.fsmonitor", f"touch '{trap}'")
    run_git(repo, "config", "diff.external", f"touch '{trap}'")
    write_files(repo, **{".gitattributes": "*.sql filter=evil"})
    run_git(repo, "add", ".gitattributes")
    run_git(repo, "-c", "core.fsmonitor=false", "commit", "-q", "-m", "trap")
    trap.unlink(missing_ok=True)
    assert len(discover_revision(repo, "HEAD", RULES).files) == 2
    assert not trap.exists()


@pytest.mark.parametrize("revision", ["nowhere", "--help", "HEAD:a.sql", ""])
def test_a_wrong_revision_is_one_sentence(repo: Path, revision: str) -> None:
    with pytest.raises(LineageError, match="is not a revision of"):
        discover_revision(repo, revision, RULES)


def test_git_variables_of_a_hook_are_ignored(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert resolve_commit(repo, "HEAD")


def test_the_example_is_the_same_repository_everywhere(tmp_path: Path) -> None:
    one = build_example(ASSETS, tmp_path / "a" / "example")
    other = build_example(ASSETS, tmp_path / "b c" / "example")
    assert (one.base, one.head) == (other.base, other.head)
    assert one.built
    assert not build_example(ASSETS, one.path).built
    settings = load_settings(one.path, {}, {})
    head = discover_revision(one.path, "main", settings)
    assert head.snapshot.base == one.base
    assert {file.dialect for file in head.files} == {"tsql", "snowflake"}
    assert {file.system for file in head.files} == {"mssql", "snowflake"}
    assert {owner for file in head.files for owner in file.owners} >= {"@shop/ingest", "@shop/campaigns"}


def test_the_example_has_a_history_of_dated_commits(tmp_path: Path) -> None:
    built = build_example(ASSETS, tmp_path / "example", history=True)
    commits = list_first_parents(built.path, "HEAD")
    assert (len(commits), commits[-2:]) == (10, [built.base, built.head])
    settings = load_settings(built.path, {}, {})
    found = [discover_revision(built.path, commit, settings) for commit in commits]
    paths = [{file.path for file in revision.files} for revision in found]
    assert [len(files) for files in paths] == [10, 20, 33, 48, 58, 64, 63, 66, 67, 68]
    gone = "retail/04_marts/channel_sales.sql"
    assert [gone in files for files in paths] == [False] * 3 + [True] * 3 + [False] * 4
    assert len({revision.snapshot.author for revision in found}) == 5
    alone = build_example(ASSETS, tmp_path / "alone")
    assert [one.source_hash for one in found[-1].files] == [
        one.source_hash for one in discover_revision(alone.path, alone.head, settings).files
    ]


def test_a_history_that_does_not_fit_the_base_is_one_sentence(tmp_path: Path) -> None:
    shutil.copytree(ASSETS, tmp_path / "assets")
    file = tmp_path / "assets/retail/base/04_marts/daily_sales.sql"
    file.write_text(file.read_text(encoding="utf-8").replace("SUM(f.quantity)", "MAX(f.quantity)"), encoding="utf-8")
    with pytest.raises(LineageError, match="must have 'SUM"):
        build_example(tmp_path / "assets", tmp_path / "example", history=True)


def test_a_damaged_example_is_rebuilt(tmp_path: Path) -> None:
    built = build_example(ASSETS, tmp_path / "example")
    (built.path / "lineage.toml").write_text("")
    again = build_example(ASSETS, tmp_path / "example")
    assert again.built
    assert (again.path / "lineage.toml").read_text() == merge_example_settings(ASSETS, ("marketing", "retail"))


def test_assets_without_an_example_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(LineageError, match="holds no example"):
        build_example(tmp_path / "none", tmp_path / "example")
