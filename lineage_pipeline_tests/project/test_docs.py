"""The pages match the code: generated pages are regenerated, commands are run, links lead somewhere."""

import contextlib
import doctest
import io
import os
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from msgspec import inspect

from benchmarks.walk import PACKAGE, VIEW, recorded
from benchmarks.witness.report import write_page
from lineage_pipeline import __version__
from lineage_pipeline.api import analyze
from lineage_pipeline.cli import command_tree, main
from lineage_pipeline.cli.app import VERBS
from lineage_pipeline.config.load import Settings
from lineage_pipeline.discover.waiver_file import parse_waivers
from lineage_pipeline.engine.compile.statements.registry import STATEMENT_KINDS, ReadAs
from lineage_pipeline.engine.diff.rules.registry import INTRINSIC_SEVERITIES, RULES
from lineage_pipeline.engine.diff.waivers import read_inline_waivers
from lineage_pipeline.files.sql_endings import SQL_FILE_KINDS
from lineage_pipeline.model.enums import GraphEdgeType, NodeType, Operation
from lineage_pipeline.model.findings import CODES
from lineage_pipeline.model.graph import Graph, GraphEdge, GraphNode, NodeRef
from lineage_pipeline.model.tables import TABLES, Table
from lineage_pipeline.store.table_schemas import address_columns
from lineage_pipeline_tests.support.paths import ROOT

PAGES = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/bi.md",
    "docs/changes.md",
    "docs/ci.md",
    "docs/cli.md",
    "docs/cluster.md",
    "docs/explorer.md",
    "docs/exports.md",
    "docs/findings.md",
    "docs/formats.md",
    "docs/glossary.md",
    "docs/graphs.md",
    "docs/migration.md",
    "docs/openlineage.md",
    "docs/operating.md",
    "docs/performance.md",
    "docs/python.md",
    "docs/schemas.md",
    "docs/tables.md",
    "docs/truth.md",
    "docs/waivers.md",
)
MADE = "Made from the code by `make accept`; do not edit.\n"


def read_page(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")


# ── generated pages ──────────────────────────────────────────────────────────────────────────────────────────────


def findings_page() -> str:
    lines = ["# Findings", "", MADE, "`lineage explain CODE` prints the same.", "", "## Of the analysis", ""]
    for code in CODES.values():
        lines += [f"### {code.name}", "", f"{code.severity.value.capitalize()}: `{code.message}`", ""]
        lines += [code.meaning, "", f"What to do: {code.remedy}", ""]
    lines += ["## Of a comparison", ""]
    for rule in RULES:
        words = " or ".join(INTRINSIC_SEVERITIES[rule.id]) + f" in itself, scope: {rule.scope.value}"
        lines += [f"### {rule.id}: {rule.title}", "", f"{rule.meaning} ({words})", ""]
        lines += [f"What to do: {rule.remedy}", ""]
    return "\n".join(lines)


def statements_page() -> str:
    lines = ["# Statements", "", MADE, "Anything else is reported as UNSUPPORTED_SYNTAX or PARSE_ERROR.", ""]
    lines += ["## With lineage", "", "| statement | becomes | read from |", "|---|---|---|"]
    ignored: dict[str, set[str]] = {}
    for kind in STATEMENT_KINDS:
        if kind.compiler is None and kind.read_as is not ReadAs.SPLIT:
            ignored.setdefault(kind.meaning, set()).update(kind.words)
        else:
            begins = ", ".join(f"`{words}`" for words in kind.words)
            lines.append(f"| {begins} | {kind.meaning} | {kind.read_as.value} |")
    lines += ["", "## Ignored on purpose", ""]
    for meaning, words in ignored.items():
        verbs = {word.split(" ")[0] for word in words if " " in word}
        kinds = sorted({word.split(" ")[-1] for word in words})
        verb = f"{', '.join(sorted(verbs))} of " if verbs else ""
        lines.append(f"* {meaning}: {verb}{', '.join(kinds)}")
    return "\n".join(lines) + "\n"


def tables_page() -> str:
    descriptions = tomllib.loads(read_page("dbt_project/descriptions.toml"))
    lines = ["# Tables", "", MADE, "Each table is a Parquet dataset of the warehouse, an asset and a dbt source.", ""]
    nested: dict[str, type[msgspec.Struct]] = {}
    for table in TABLES.values():
        lines += [f"## {table.name}", "", *grain(table), "", "| column | type | meaning |", "|---|---|---|"]
        words = descriptions["common"] | descriptions.get(table.name, {})
        lines += [f"| `{name}` | text | {words[name]} |" for name in address_columns(table.name)]
        for field in fields(table.row):
            lines.append(f"| `{field.name}` | {render_type(field.type, nested)} | {words.get(field.name, '')} |")
        lines.append("")
    lines += ["## Structs inside columns", ""]
    for name, row in sorted(nested.items()):
        parts = ", ".join(f"`{field.name}` {render_type(field.type, {})}" for field in fields(row))
        lines += [f"* `{name}`: {row.__doc__} {parts}."]
    return "\n".join(lines) + "\n"


def grain(table: Table) -> list[str]:
    key = ", ".join(f"`{part}`" for part in (*address_columns(table.name), *table.key))
    return [
        f"{table.row.__doc__}".replace("\n    ", "\n"),
        "",
        f"Key: {key}. Written by the stage {table.stage.value}.",
    ]


def fields(row: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(row)
    assert isinstance(info, inspect.StructType)
    return info.fields


def render_type(kind: inspect.Type, nested: dict[str, type[msgspec.Struct]]) -> str:
    match kind:
        case inspect.UnionType(types=types):
            inner = next(item for item in types if not isinstance(item, inspect.NoneType))
            return f"{render_type(inner, nested)} or null"
        case inspect.VarTupleType(item_type=item):
            return f"list of {render_type(item, nested)}"
        case inspect.StructType(cls=row):
            nested[row.__name__] = row
            for field in fields(row):
                render_type(field.type, nested)
            return f"`{row.__name__}`"
        case inspect.EnumType(cls=words):
            return " / ".join(f"`{word.value}`" for word in words)
        case inspect.IntType():
            return "integer"
        case inspect.BoolType():
            return "boolean"
        case _:
            return "text"


def architecture_page() -> str:
    lines = ["| table | one row is | key | stage |", "|---|---|---|---|"]
    for table in TABLES.values():
        about = re.split("[.;]", table.row.__doc__ or "")[0]
        lines.append(f"| `{table.name}` | {about} | {', '.join(table.key)} | {table.stage.value} |")
    block = "\n".join(lines)
    text = read_page("ARCHITECTURE.md")
    return re.sub(r"(<!-- tables -->\n).*?(<!-- /tables -->)", rf"\1{block}\n\2", text, flags=re.DOTALL)


def discovery_page() -> str:
    lines = ["| ending | what it is | dialect it suggests | read |", "|---|---|---|---|"]
    for kind in SQL_FILE_KINDS:
        endings = ", ".join(f"`{ending}`" for ending in kind.endings)
        packed = ", also with `.gz`" if kind.zipped else ""
        about = f"{kind.holds} (templater `{kind.templater}`)" if kind.templater else kind.holds
        lines.append(
            f"| {endings} | {about} | {kind.dialect} | {'if it looks like SQL' if kind.sniffed else 'always'}{packed} |"
        )
    block = "\n".join(lines)
    text = read_page("docs/discovery.md")
    return re.sub(r"(<!-- endings -->\n).*?(<!-- /endings -->)", rf"\1{block}\n\2", text, flags=re.DOTALL)


def cli_page() -> str:
    lines = ["# Commands", "", MADE, "`lineage COMMAND --help` prints the same.", ""]
    listed = list(command_tree.iterate_commands())
    for command in listed:
        first = command.help.partition("\n")[0].rstrip(".")
        lines.append(f"* [`lineage {command.title}`](#lineage-{'-'.join(command.words)}): {first}")
    everywhere = {
        name for flag in listed[0].flags for name in flag.names if name in ("--quiet", "--verbose", "--color")
    }
    lines += ["", f"Every command takes {', '.join(f'`{name}`' for name in sorted(everywhere))} and `--debug`.", ""]
    for command in listed:
        lines += [f"## lineage {command.title}", "", command_text(command.help), ""]
        rows = [(name, told) for name, told in command.arguments]
        for flag in command.flags:
            if not everywhere & set(flag.names):
                takes = f" {flag.takes}" if flag.takes else ""
                required = " (needed)" if flag.required else ""
                rows.append((", ".join(flag.names) + takes, flag.help + required))
        if rows:
            lines += ["| | |", "|---|---|"]
            lines += [f"| `{name}` | {told} |" for name, told in map(escape_row, rows)]
            lines.append("")
    return "\n".join(lines)


def escape_row(row: tuple[str, str]) -> tuple[str, str]:
    return row[0].replace("|", "\\|"), row[1].replace("|", "\\|")


def command_text(text: str) -> str:
    """Paragraphs as they are, examples as code."""
    parts = [" ".join(part.split()) for part in text.split("\n\n")]
    told = [part for part in parts if not part.startswith("Example: ")]
    examples = [part.removeprefix("Example: ") for part in parts if part.startswith("Example: ")]
    return "\n\n".join([*told, *(["```sh\n" + "\n".join(examples) + "\n```"] if examples else [])])


@pytest.mark.parametrize(
    ("page", "make"),
    [
        ("docs/cli.md", cli_page),
        ("docs/discovery.md", discovery_page),
        ("docs/findings.md", findings_page),
        ("docs/statements.md", statements_page),
        ("docs/tables.md", tables_page),
        ("docs/truth.md", write_page),
        ("ARCHITECTURE.md", architecture_page),
    ],
)
def test_generated_pages_are_up_to_date(page: str, make: Any, request: pytest.FixtureRequest) -> None:
    text = make()
    if request.config.getoption("--accept"):
        (ROOT / page).write_text(text, encoding="utf-8")
    assert read_page(page) == text


# ── what pages name ──────────────────────────────────────────────────────────────────────────────────────────────


def find_blocks(page: str, language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", read_page(page), flags=re.DOTALL | re.MULTILINE)
    return [block for word, block in found if word == language]


def find_commands(page: str) -> list[list[str]]:
    lines = [line for block in (*find_blocks(page, "sh"), *find_blocks(page, "")) for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.startswith(("make ", ".venv/"))]


RUN = ("README.md", "docs/exports.md", "docs/formats.md", "docs/openlineage.md", "docs/operating.md")
"""The pages whose commands and settings are tried out."""

LINEAGE = [command[1:] for command in find_commands("README.md") if command[0] == ".venv/bin/lineage"]


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("sql_assets", "lineage.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name in [name for name in os.environ if name.startswith("LINEAGE_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("arguments", LINEAGE, ids=" ".join)
@pytest.mark.usefixtures("workshop")
def test_every_command_of_the_readme_runs(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    allowed = (0, 1) if arguments[0] == "doctor" else (0,)  # a machine may well lack something
    assert main(arguments) in allowed, capsys.readouterr().err


@pytest.mark.parametrize("page", RUN[1:])
@pytest.mark.usefixtures("workshop")
def test_the_commands_of_a_page_run_one_after_the_other(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in find_commands(page):
        assert main(command[1:]) == 0, capsys.readouterr().err


@pytest.mark.usefixtures("workshop")
def test_what_the_readme_shows_is_what_comes_out(capsys: pytest.CaptureFixture[str]) -> None:
    shown_commands = (["scan", "sql_assets/retail/base"], ["diff", "sql_assets/retail/base", "sql_assets/retail/head"])
    for block, arguments in zip(find_blocks("README.md", "text"), shown_commands, strict=True):
        main(arguments)
        lines = capsys.readouterr().out.splitlines()
        assert [line for line in block.splitlines() if line not in lines] == []


def test_the_python_of_the_readme_runs() -> None:
    for block in find_blocks("README.md", "python"):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(block, {})
        assert "'from_column': 'a'" in printed.getvalue()


@pytest.mark.usefixtures("workshop")
def test_the_examples_of_the_python_page_run() -> None:
    found = doctest.DocTestParser().get_doctest(
        "".join(find_blocks("docs/python.md", "python")), {}, "python.md", None, 0
    )
    told: list[str] = []
    outcome = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(found, out=told.append)
    assert outcome.attempted > 20
    assert told == []


def test_the_select_of_the_readme_fits_the_mart() -> None:
    duckdb = pytest.importorskip("duckdb")
    model = yaml.safe_load(read_page("dbt_project/models/marts/column_lineage.yml"))["models"][0]
    columns = ", ".join(f"{column['name']} {column['data_type']}" for column in model["columns"])
    with duckdb.connect() as connection:
        connection.execute(f"create schema marts; create table marts.column_lineage ({columns})")
        for select in find_blocks("README.md", "sql"):
            connection.execute(select)


def test_the_settings_of_a_page_are_settings() -> None:
    for block in (block for page in RUN for block in find_blocks(page, "toml")):
        Settings.model_validate(tomllib.loads(block))


def test_the_page_on_waivers_shows_waivers_levels_and_comments() -> None:
    own, levels = (tomllib.loads(block) for block in find_blocks("docs/waivers.md", "toml"))
    assert len(parse_waivers(find_blocks("docs/waivers.md", "toml")[0])) == len(own["waiver"]) == 1
    Settings.model_validate(levels)
    waivers, problems = read_inline_waivers({"a.sql": find_blocks("docs/waivers.md", "")[0]}, [], {})
    assert ([waiver.rule for waiver in waivers], problems) == (["COL001", "TYP001", "TYP004"], [])


def test_every_target_and_verb_that_a_page_names_exists() -> None:
    targets = re.findall(r"^([a-z]+):", read_page("Makefile"), flags=re.MULTILINE)
    for page in PAGES:
        text = read_page(page)
        assert set(re.findall(r"`make ([a-z]+)", text)) <= set(targets), page
        assert set(re.findall(r"`lineage ([a-z]+)", text)) <= set(VERBS), page
        assert {command[1] for command in find_commands(page) if command[0] == "make"} <= set(targets), page


def test_the_page_on_graphs_names_every_word_and_field_of_one() -> None:
    named = set(re.findall(r"(?<!`)`([^`\n]+)`(?!`)", read_page("docs/graphs.md")))
    words = [word.value for words in (NodeType, GraphEdgeType, Operation) for word in words]
    keys = [field.encode_name for row in (Graph, GraphNode, NodeRef, GraphEdge) for field in fields(row)]
    assert [word for word in (*words, *keys) if word not in named] == []


def test_every_link_leads_somewhere() -> None:
    for page in PAGES:
        text = read_page(page)
        links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
        assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == [], page


def test_the_changelog_knows_this_version() -> None:
    assert re.search(
        rf"^## \[{re.escape(__version__)}\] - \d{{4}}-\d\d-\d\d$", read_page("CHANGELOG.md"), flags=re.MULTILINE
    )


def table_rows(page: str, mark: str) -> list[list[str]]:
    """The rows of the tables between two marks of a page, cell by cell, without their heads."""
    text = read_page(page).partition(f"<!-- {mark} -->")[2].partition(f"<!-- /{mark} -->")[0]
    lines = text.splitlines()
    heads = {at + shift for at, line in enumerate(lines) if line.startswith("|---") for shift in (-1, 0)}
    rows = [line for at, line in enumerate(lines) if line.startswith("|") and at not in heads]
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in rows]


def test_the_architecture_names_files_and_tables_that_exist() -> None:
    rows = table_rows("ARCHITECTURE.md", "where")
    assert len(rows) > 100
    for wish, file, name in rows:
        assert (ROOT / file).is_file(), wish
        text = read_page(file)
        assert not name or re.search(rf"^{name}\b.*=", text, flags=re.MULTILINE), wish
        bracketed = " ".join(re.findall(r"\(([^()]*)\)", wish))
        assert [word for word in re.findall(r"`(\w+)`", bracketed) if word not in text] == [], wish


def test_the_architecture_mirrors_the_import_contract() -> None:
    contracts = tomllib.loads(read_page("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "packages")
    assert "\n".join(layers) + "\n" in find_blocks("ARCHITECTURE.md", "")


def test_the_architecture_names_every_package() -> None:
    package = ROOT / "lineage_pipeline"
    names = {place.stem for place in package.iterdir() if (place / "__init__.py").exists() or place.suffix == ".py"}
    section = read_page("ARCHITECTURE.md").partition("## Packages\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` ", section, flags=re.MULTILINE)) == names - {"__init__"}


def test_every_module_that_the_pages_for_developers_name_exists() -> None:
    for page in ("ARCHITECTURE.md", "CONTRIBUTING.md", "docs/glossary.md"):
        named = re.findall(r"`([a-z]\w*/[\w/]+(?:\.py)?)`", read_page(page))
        found = {name for name in named for top in (ROOT, ROOT / "lineage_pipeline") if (top / name).exists()}
        assert [name for name in named if name not in found] == [], page


def test_the_walks_of_the_architecture_are_those_of_the_tracer() -> None:
    view, procedure = find_blocks("ARCHITECTURE.md", "sql")
    stops = {stop for stop, _ in table_rows("ARCHITECTURE.md", "view")}
    others = {stop for stop, _ in table_rows("ARCHITECTURE.md", "procedure")}
    assert view.strip() == VIEW
    assert stops == walked_modules(view, "snowflake"), "python -m benchmarks.walk prints the stops"
    walked = walked_modules(procedure, "tsql")
    assert (others - walked, walked - stops - others) == (set(), set())


def walked_modules(text: str, dialect: str) -> set[str]:
    """The modules that a text passes through, as paths."""
    analyze(text, dialect=dialect)  # what is imported and made once does not count
    with recorded() as walk:
        analyze(text, dialect=dialect)
    return {name.removeprefix(PACKAGE).replace(".", "/") + ".py" for name in walk.modules}


def test_the_glossary_is_sorted_and_short_and_names_what_exists() -> None:
    lines = [line for line in read_page("docs/glossary.md").splitlines() if line.startswith("| ")][1:]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    terms = [term for term, _, _ in rows]
    assert terms == sorted(terms, key=str.lower)
    assert 30 <= len(terms) <= 60
    for term, _, where in rows:
        places = [name for name in re.findall(r"`([^`]+)`", where) if "/" in name or name.endswith(".py")]
        listed = re.search(r"\btables? (`.*)", where)
        tables = re.findall(r"`(\w+)`", listed[1]) if listed else []
        assert [name for name in tables if name not in TABLES] == [], term
        assert places or tables, term
