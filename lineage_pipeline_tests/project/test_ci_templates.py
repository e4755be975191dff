"""Ready-made CI: the steps of the action, the template and the hook, run as the services run them, on a real clone."""

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from lineage_pipeline import __version__
from lineage_pipeline.cli import main
from lineage_pipeline.export.reports.comment import COMMENT_MARKER
from lineage_pipeline_tests.support.light_install import light_dependencies, link_packages, resolve_dependencies
from lineage_pipeline_tests.support.paths import ROOT

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
GITLAB = yaml.safe_load((ROOT / "ci/gitlab.yml").read_text())["lineage"]
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
HEAVY = "pyarrow pyspark dagster dbt duckdb pandas numpy great_expectations psycopg starlette openlineage".split()

ORDERS = "create table raw.orders (id int not null, note varchar(20));\n"
VIEW = "create view core.orders as\nselect id, note from raw.orders;\n"
SHORT = "create table raw.orders (id int not null);\n"


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def commit(folder: Path, files: Mapping[str, str], message: str) -> None:
    for name, text in files.items():
        (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """A repository with two branches: one breaks a reader, one changes nothing that anybody could feel."""
    folder = tmp_path / "origin"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, {"orders.sql": ORDERS, "view.sql": VIEW, "CODEOWNERS": "*.sql @data/core\n"}, "base")
    git(folder, "checkout", "-q", "-b", "harmless")
    commit(folder, {"view.sql": VIEW.replace("\n", "  -- as before\n", 1)}, "say so")
    git(folder, "checkout", "-q", "-b", "breaking", "main")
    commit(folder, {"orders.sql": SHORT}, "drop the note")
    git(folder, "checkout", "-q", "main")
    commit(folder, {"README": "other work\n"}, "meanwhile")
    return folder


def clone_shallow(origin: Path, branch: str) -> Path:
    """Clone as CI does: the last commit of a branch, and nothing else."""
    clone = origin.parent / f"clone-{branch}"
    git(origin.parent, "clone", "-q", "--depth", "1", "--branch", branch, origin.as_uri(), str(clone))
    assert git(clone, "rev-list", "--count", "HEAD") == "1"
    return clone


# ── the light install ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the light install brings, and what pip needs to build ours; nothing of the extras."""
    folder = tmp_path_factory.mktemp("light")
    return link_packages(light_dependencies() | resolve_dependencies("hatchling"), folder / "site")


@pytest.fixture
def machine(tmp_path: Path, packages: Path) -> dict[str, str]:
    """The environment of a runner that has python and git, and gets packages from a folder instead of a network."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "python").symlink_to(sys.executable)
    path = [str(programs), *(part for part in os.environ["PATH"].split(os.pathsep) if ".venv" not in part)]
    (tmp_path / "home").mkdir()
    return {
        "PATH": os.pathsep.join(path),
        "HOME": str(tmp_path / "home"),
        "PYTHONPATH": str(packages),
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip's word for "no isolation"
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "LANG": "C.UTF-8",
    }


def test_the_light_install_has_none_of_the_heavy_packages(packages: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import importlib.util as u; print([n for n in {HEAVY} if u.find_spec(n)])"],
        env={"PYTHONPATH": str(packages)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "[]\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["analyze", "view.sql"], 0),
        (["scan", ".", "--format", "json"], 0),
        (["diff", "origin/main", "origin/breaking"], 0),
        (["check", "--base", "origin/main", "--head", "origin/breaking"], 1),
        (["check", "--base", "origin/main", "--head", "origin/harmless", "--format", "html"], 0),
        (["schema", "changes"], 0),
        (["rules"], 0),
        (["doctor"], 0),
        (["run"], 2),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_the_light_install_is_enough(origin: Path, packages: Path, arguments: list[str], code: int) -> None:
    clone = origin.parent / "whole"
    git(origin.parent, "clone", "-q", str(origin), str(clone))
    environ = {"PYTHONPATH": f"{packages}{os.pathsep}{ROOT}", "PATH": os.environ["PATH"], "HOME": str(clone)}
    done = subprocess.run(
        [sys.executable, "-S", "-m", "lineage_pipeline.cli", *arguments], cwd=clone, env=environ, capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert done.stdout or done.stderr == "lineage: this needs dagster: pip install 'lineage-pipeline[pipeline]'\n"


# ── GitHub ───────────────────────────────────────────────────────────────────────────────────────────────────────

GH = """\
import json, os, sys
from pathlib import Path
state = Path(os.environ["GH_STATE"])
comments = json.loads(state.read_text())
words = sys.argv[1:]
assert words[0] == "api" and os.environ["GH_TOKEN"] == "secret", words
method = words[words.index("--method") + 1] if "--method" in words else "GET"
if method in os.environ.get("GH_REFUSES", "").split():
    sys.exit("HTTP 403: Resource not accessible by integration")
if method == "GET":
    assert words[2] == "repos/shop/sql/issues/7/comments?per_page=100" or words[2].startswith("repos/"), words
    assert '.body | startswith("{marker}")' in words[words.index("--jq") + 1]
    print(*(key for key, body in comments.items() if body.startswith("{marker}")), sep="\\n")
else:
    name, _, file = words[words.index("--field") + 1].partition("=@")
    key = next(word for word in words if word.startswith("repos/")).rpartition("/")[2]
    comments[key if method == "PATCH" else str(len(comments) + 1)] = Path(file).read_text()
    state.write_text(json.dumps(comments))
"""


class Runner:
    """Runs the shell steps of the action as GitHub's runner does, with a `gh` that keeps comments in a file."""

    def __init__(self, folder: Path, machine: Mapping[str, str], workspace: Path) -> None:
        self.workspace, self.folder = workspace, folder
        self.inputs = {name: str(row.get("default", "")) for name, row in ACTION["inputs"].items()}
        self.outputs: dict[str, str] = {}
        self.printed = ""
        self.summary, self.comments = folder / "summary.md", folder / "comments.json"
        self.summary.write_text("")
        self.comments.write_text(json.dumps({"1": "looks good"}))
        program = folder / "bin" / "gh"
        program.with_suffix(".py").write_text(GH.format(marker=COMMENT_MARKER))
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{program.with_suffix(".py")}" "$@"\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        (folder / "temp").mkdir()
        self.environ = {
            **machine,
            "RUNNER_TEMP": str(folder / "temp"),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_BASE_REF": "main",
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_SERVER_URL": "https://github.example",
            "GITHUB_REPOSITORY": "shop/sql",
            "GH_STATE": str(self.comments),
        }

    def known(self) -> dict[str, str]:
        """The expressions that the action uses."""
        return {
            **{f"inputs.{name}": value for name, value in self.inputs.items()},
            **{f"steps.check.outputs.{name}": value for name, value in self.outputs.items()},
            "inputs.token": "secret",
            "runner.temp": self.environ["RUNNER_TEMP"],
            "github.event.pull_request.number": "7",
            "github.event.pull_request.head.sha || github.sha": "abc",
        }

    def run(self) -> int:
        """Run the steps until one fails; give its code."""
        for step in ACTION["runs"]["steps"]:
            if "run" not in step or not self.wanted(step.get("if", "")):
                continue
            (self.folder / "output").write_text("")
            environ = {key: self.filled(value) for key, value in step.get("env", {}).items()}
            folder = self.workspace / self.filled(step.get("working-directory", "."))
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], cwd=folder,
                env={**self.environ, **environ}, capture_output=True, text=True,
            )  # fmt: skip
            self.printed += done.stdout + done.stderr
            self.outputs |= dict(line.split("=", 1) for line in (self.folder / "output").read_text().splitlines())
            if done.returncode:
                return done.returncode
        return 0

    def filled(self, text: str) -> str:
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda match: self.known()[match[1]], text)

    def wanted(self, condition: str) -> bool:
        known = self.known()
        for part in condition.split(" && ") if condition else ():
            name, operator, value = (*part.split(" ", 2), "", "")[:3]
            held = known[name] if not operator else str((known[name] == value.strip("'")) is (operator == "=="))
            if held in ("", "False"):
                return False
        return True

    def comment(self) -> list[str]:
        found: dict[str, str] = json.loads(self.comments.read_text())
        return [body for body in found.values() if body.startswith(COMMENT_MARKER)]


def test_nothing_of_a_pull_request_is_pasted_into_a_script() -> None:
    """An expression inside a script is code that a stranger can write; in the environment it is a text."""
    assert [step["name"] for step in ACTION["runs"]["steps"] if "${{" in step.get("run", "")] == []
    assert all(step.get("shell") == "bash" for step in ACTION["runs"]["steps"] if "run" in step)


@pytest.mark.slow
def test_the_action_installs_checks_comments_and_fails(origin: Path, machine: dict[str, str]) -> None:
    runner = Runner(origin.parent, machine, clone_shallow(origin, "breaking"))
    assert runner.run() == 1
    assert runner.outputs["result"] == "1"
    assert "COL001 column removed: raw.orders.note" in runner.printed
    assert "\n::error file=orders.sql,line=1,endLine=1,title=COL001 column removed::raw.orders.note" in runner.printed
    assert (runner.folder / "temp/lineage/lib").is_dir()
    (comment,) = runner.comment()
    assert "[`view.sql:2`](https://github.example/shop/sql/blob/abc/view.sql#L2) | `@data/core`" in comment
    assert runner.summary.read_text() == comment
    reports = sorted(file.name for file in Path(runner.outputs["reports"]).iterdir())
    assert reports == [f"changes.{suffix}" for suffix in ("html", "json", "md", "sarif", "txt", "xml")]

    # The next push mends it: the comment is written anew, not beside.
    commit(runner.workspace, {"orders.sql": ORDERS}, "keep the note")
    assert runner.run() == 0
    (comment,) = runner.comment()
    assert "## Lineage changes: nothing changed" in comment
    assert "looks good" in runner.comments.read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("branch", "inputs", "refuses", "code", "comments"),
    [
        ("breaking", {"exit-zero": "true"}, "", 0, 1),
        ("breaking", {"comment": "false", "annotations": "false"}, "", 1, 0),
        ("breaking", {"exit-zero": "true"}, "POST", 0, 0),
        ("breaking", {"exit-zero": "true"}, "GET", 0, 0),
        ("harmless", {"fail-on": "any"}, "", 0, 0),
        ("breaking", {"dialect": "$(touch pwned)"}, "", 2, 0),
        ("breaking", {"head": "$(touch pwned)"}, "", 2, 0),
        ("breaking", {"base": "nowhere"}, "", 2, 0),
    ],
)
def test_the_action_does_what_its_inputs_say(
    origin: Path, machine: dict[str, str], branch: str, inputs: dict[str, str], refuses: str, code: int, comments: int
) -> None:
    runner = Runner(origin.parent, machine, clone_shallow(origin, branch))
    ours = runner.folder / "temp/lineage/bin"
    ours.mkdir(parents=True)
    (ours / "lineage").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m lineage_pipeline.cli "$@"\n')
    (ours / "lineage").chmod(0o755)
    (ours / "python").write_text("#!/bin/sh\n")  # installed above; this one has nothing to install
    (ours / "python").chmod(0o755)
    (runner.folder / "bin/python").unlink()
    (runner.folder / "bin/python").symlink_to(ours / "python")
    runner.environ |= {"PYTHONPATH": str(ROOT), "GH_REFUSES": refuses}
    runner.inputs |= inputs
    assert runner.run() == code, runner.printed
    assert len(runner.comment()) == comments
    assert ("\n::error " in runner.printed) is (branch == "breaking" and code < 2 and "annotations" not in inputs)
    assert ("::warning::The comment could not be written" in runner.printed) is bool(refuses)
    assert not list(runner.folder.rglob("pwned"))


def test_the_next_run_finds_what_this_one_kept() -> None:
    steps = ACTION["runs"]["steps"]
    (cache,) = (step for step in steps if "actions/cache@" in step.get("uses", ""))
    (check,) = (step for step in steps if step.get("id") == "check")
    assert steps.index(cache) < steps.index(check)
    assert cache["with"]["path"] == f"{check['env']['LINEAGE_WAREHOUSE']}/_cache"
    # A key that is new for every run is saved every time, and the start of it finds the last one.
    assert cache["with"]["key"].startswith(cache["with"]["restore-keys"])
    assert "github.run_id" in cache["with"]["key"]
    (kept,) = GITLAB["cache"]["paths"]
    assert f"$CI_PROJECT_DIR/{kept}" == f"{GITLAB['variables']['LINEAGE_WAREHOUSE']}/_cache/"
    assert all("[cache]" in text for text in (str(steps), GITLAB["variables"]["LINEAGE_PACKAGE"]))


# ── GitLab and pre-commit ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize(("branch", "code"), [("breaking", 1), ("harmless", 0)])
def test_the_template_leaves_its_reports_where_gitlab_looks(
    origin: Path, machine: dict[str, str], branch: str, code: int
) -> None:
    clone = origin.parent / branch
    git(origin.parent, "clone", "-q", "--branch", branch, str(origin), str(clone))  # GIT_DEPTH: 0
    environ = {
        **machine,
        **GITLAB["variables"],
        "LINEAGE_PACKAGE": str(ROOT),
        "LINEAGE_ARGUMENTS": "--dialect postgres",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": git(clone, "merge-base", "origin/main", "HEAD"),
        "CI_PROJECT_URL": "https://gitlab.example/shop/sql",
        "CI_COMMIT_SHA": git(clone, "rev-parse", "HEAD"),
    }
    script = "\n".join([*GITLAB["before_script"], *GITLAB["script"]])
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script], cwd=clone, env=environ, capture_output=True, text=True
    )
    assert done.returncode == code, done.stderr
    artifacts = [*GITLAB["artifacts"]["paths"], *GITLAB["artifacts"]["reports"].values()]
    assert [file for file in artifacts if not (clone / file).is_file()] == []
    assert len(json.loads((clone / "lineage-reports/code-quality.json").read_text())) == code


@pytest.mark.parametrize(("text", "code"), [(SHORT, 1), (ORDERS + "-- a remark\n", 0)])
def test_the_hook_looks_at_what_is_about_to_be_committed(
    origin: Path, monkeypatch: pytest.MonkeyPatch, text: str, code: int
) -> None:
    (hook,) = HOOKS
    assert hook["language"] == "python"
    (origin / "orders.sql").write_text(text)
    git(origin, "add", "-A")
    monkeypatch.chdir(origin)
    command: list[str] = [*hook["entry"].split(), *hook["args"]]
    assert command[0] == "lineage"
    assert main(command[1:]) == code


# ── the page ─────────────────────────────────────────────────────────────────────────────────────────────────────


def page_blocks(language: str) -> Iterator[str]:
    page = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
    yield from re.findall(rf"^```{language}\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)


def test_the_page_shows_what_the_services_take() -> None:
    workflow, include, hooks = (yaml.safe_load(block) for block in page_blocks("yaml"))
    steps: list[dict[str, Any]] = workflow["jobs"]["lineage"]["steps"]
    ours = next(step for step in steps if "lineage-pipeline@" in step["uses"])
    assert ours["uses"].endswith(f"@v{__version__}")
    assert set(ours["with"]) <= set(ACTION["inputs"])
    assert workflow[True] == "pull_request"  # YAML takes `on` for a truth
    assert f"/v{__version__}/ci/gitlab.yml" in include["include"][0]["remote"]
    assert set(include["lineage"]["variables"]) <= set(GITLAB["variables"])
    (repo,) = hooks["repos"]
    assert repo["rev"] == f"v{__version__}"
    assert [hook["id"] for hook in repo["hooks"]] == [hook["id"] for hook in HOOKS]


def test_the_page_names_every_input_and_format() -> None:
    from lineage_pipeline.export import REPORTERS

    named = set(re.findall(r"`([\w-]+)`", (ROOT / "docs/ci.md").read_text(encoding="utf-8")))
    assert set(ACTION["inputs"]) <= named
    assert set(REPORTERS) <= named
    assert set(GITLAB["variables"]) - {"GIT_DEPTH"} <= named | {"LINEAGE_FAIL_ON"}


def test_the_commands_of_the_page_run(origin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone = origin.parent / "whole"
    git(origin.parent, "clone", "-q", "--branch", "breaking", str(origin), str(clone))
    monkeypatch.chdir(clone)
    commands = [line.split() for block in page_blocks("sh") for line in block.splitlines()]
    ours = [command[1:] for command in commands if command[0] == "lineage"]
    assert [main(arguments) for arguments in ours] == [1, 1]
    assert {"lineage.xml", "lineage.html", "lineage.md"} <= {file.name for file in clone.iterdir()}
