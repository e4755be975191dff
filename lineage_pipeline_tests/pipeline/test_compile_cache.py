"""The compile cache: the same rows from it, from several processes and without both."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.generate import edit, generate, write
from lineage_pipeline.cli import main
from lineage_pipeline.cli.lineage_cache import MIN_CACHED_BYTES, MIN_CACHED_FILES
from lineage_pipeline.compile_cache import CachingCompiler
from lineage_pipeline.config.load import load_settings
from lineage_pipeline.discover.discovery import build_input_files
from lineage_pipeline.discover.folder import discover_folder
from lineage_pipeline.model.analysis import InputFile
from lineage_pipeline.pipeline import AnalysisCache, analyze_files, build_lineage

pytestmark = pytest.mark.usefixtures("caching")
TEMPLATE = "create view t as select {{ c }}, x from {{ t }};\n"


def read_input_files(folder: Path) -> list[InputFile]:
    settings = load_settings(folder, {"analysis": {"dialect": "snowflake"}}, {})
    return list(build_input_files(discover_folder(folder, settings), settings))


@pytest.fixture
def caching(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINEAGE_CACHE", "true")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write({**generate(120, 0, "snowflake"), "t.sql": TEMPLATE, "bad.sql": "select ( from;"}, tmp_path)
    return tmp_path


def make_cache(folder: Path) -> CachingCompiler:
    return CachingCompiler(str(folder / ".lineage" / "warehouse"), worth=0)


def test_cached_scripts_give_the_same_rows_and_are_not_compiled_again(folder: Path) -> None:
    files = read_input_files(folder)
    expected = build_lineage(files)
    first, second = make_cache(folder), make_cache(folder)
    assert build_lineage(files, compile_all=first.compile) == expected
    assert first.made == len({file.source for file in files})
    assert build_lineage(files, compile_all=second.compile) == expected
    assert second.made == 0
    assert (folder / ".lineage/warehouse/_cache/.gitignore").read_text() == "*\n"
    assert read_input_files(folder) == files  # what is kept is no part of the repository


def test_only_new_contents_are_compiled_wherever_files_move(folder: Path) -> None:
    make_cache(folder).compile(read_input_files(folder))
    (folder / "t.sql").rename(folder / "u.sql")
    (folder / "new.sql").write_text("create view n as select 1 as one;\n", encoding="utf-8")
    files = read_input_files(folder)
    keeper = make_cache(folder)
    memory = AnalysisCache()
    assert analyze_files(files, memory=memory, compile_all=keeper.compile).lineage == analyze_files(files).lineage
    assert keeper.made == 1
    analyze_files(files, memory=memory, compile_all=keeper.compile)
    assert keeper.made == 1


def test_several_processes_give_what_one_gives(folder: Path) -> None:
    files = read_input_files(folder)
    keeper = CachingCompiler(processes=2, much=1)
    assert build_lineage(files, compile_all=keeper.compile) == build_lineage(files)
    assert keeper.made == len({file.source for file in files})


def test_a_damaged_batch_is_compiled_anew(folder: Path) -> None:
    files = read_input_files(folder)
    make_cache(folder).compile(files)
    (part,) = (folder / ".lineage").rglob("part-0.parquet")
    content = bytearray(part.read_bytes())
    middle = len(content) // 3
    content[middle : middle + 50] = bytes(50)
    part.write_bytes(content)
    keeper = make_cache(folder)
    assert build_lineage(files, compile_all=keeper.compile) == build_lineage(files)
    assert keeper.made > 0


def test_scripts_of_another_engine_version_are_compiled_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = read_input_files(folder)
    make_cache(folder).compile(files)
    same = make_cache(folder)
    same.compile(files)
    monkeypatch.setattr("lineage_pipeline.store.packed_script.engine_version", lambda: "another")
    other = make_cache(folder)
    other.compile(files)
    assert (same.made, other.made > 0) == (0, True)


def test_small_inputs_leave_no_cache_and_an_unusable_cache_is_no_error(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    small = tmp_path_factory.mktemp("small")
    (small / "a.sql").write_text("select 1 as one;", encoding="utf-8")
    build_lineage(read_input_files(small), compile_all=CachingCompiler(str(small / ".lineage")).compile)
    assert not (small / ".lineage").exists()
    (folder / ".lineage").write_text("a file where the folder should be", encoding="utf-8")
    files = read_input_files(folder)
    assert build_lineage(files, compile_all=make_cache(folder).compile) == build_lineage(files)


def test_a_scan_writes_the_cache_unless_disabled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(generate(600, 0, "snowflake"), folder)
    monkeypatch.chdir(folder)
    assert main(["scan", "--no-cache", "--dialect", "snowflake", "-o", "a.json"]) == 0
    assert not (folder / ".lineage").exists()
    assert main(["scan", "--dialect", "snowflake", "-o", "b.json"]) == 0
    assert (folder / ".lineage").is_dir()
    write(edit(generate(600, 0, "snowflake"), 1, 0), folder)
    assert main(["scan", "--dialect", "snowflake", "-o", "c.json"]) == 0
    assert main(["scan", "--no-cache", "--dialect", "snowflake", "-o", "d.json"]) == 0
    assert (folder / "a.json").read_bytes() == (folder / "b.json").read_bytes()
    assert (folder / "c.json").read_bytes() == (folder / "d.json").read_bytes() != (folder / "a.json").read_bytes()


@pytest.mark.parametrize(
    ("files", "remark"), [(MIN_CACHED_FILES, 0), (3, MIN_CACHED_BYTES // 3)], ids=["many", "large"]
)
def test_a_query_on_unchanged_files_is_answered_from_the_cache(
    files: int, remark: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    behind = f" -- {'x' * remark}"
    write({f"v{number}.sql": f"create view v{number} as select a from t;{behind}" for number in range(files)}, tmp_path)
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / ".lineage/warehouse/_cache/lineages"

    def ask() -> str:
        assert main(["impact", "t.a+", "--in", "."]) == 0
        return capsys.readouterr().out

    answer = ask()
    (file,) = kept.glob("*.kept")
    before = file.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(
            "lineage_pipeline.cli.lineage_cache._analyze_incrementally", None
        )  # who asks again works out nothing
        assert ask() == answer
    for damaged in (before[: len(before) // 2], before[:500] + bytes(20) + before[520:]):
        file.write_bytes(damaged)
        assert ask() == answer
    assert file.read_bytes() == before
    (tmp_path / "v0.sql").write_text(f"create view v0 as select b from t;{behind}", encoding="utf-8")
    assert ask() != answer
    assert len(list(kept.glob("*.kept"))) == 2


def test_a_script_that_does_not_guard_its_start_may_have_several_processes(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(
        "from lineage_pipeline.compile_cache import CachingCompiler\n"
        "from lineage_pipeline.model.analysis import InputFile, Options\n"
        "files = [InputFile(f'{n}.sql', f'select {n} as a', Options()) for n in range(3)]\n"
        "print(len(CachingCompiler(processes=2, much=1).compile(files)), flush=True)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("3\n", 0), done.stderr


def test_no_question_imports_pandas(tmp_path: Path) -> None:
    """`pyarrow.array` does wherever it is installed, and every question would wait for it."""
    write(generate(600, 0, "snowflake"), tmp_path)
    script = (
        "import sys; from lineage_pipeline.cli import main\n"
        "for _ in range(2): main(['search', 'id', '--in', '.', '--dialect', 'snowflake'])\n"
        "sys.exit('pandas' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert list(tmp_path.rglob("*.kept")) and list(tmp_path.rglob("part-0.parquet"))
