"""The migration guide: every command and option of another tool has a counterpart or a reason."""

import re

import pytest

from lineage_pipeline.cli.command_tree import CommandInfo, iterate_commands
from lineage_pipeline.export.formats.lineage_formats import FORMATS
from lineage_pipeline_tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "migration.md").read_text(encoding="utf-8")

THEIRS = {
    "InfoTracker": """--config --log-level --format --version --help; extract --sql-dir --out-dir --adapter --dbt
        --catalog --fail-on-warn --include --exclude --encoding; impact --selector --max-depth --out --graph-dir --dbt;
        diff --base --head --format --threshold --dbt; viz --graph-dir --out --focus --depth --direction --open""",
    "FlowScope": """--dialect --schema --metadata-url --metadata-schema --output --project-name --export-schema --view
        --quiet --compact --template --template-var --serve --port --watch --open --lint --fix --fix-only --unsafe-fixes
        --legacy-ast-fixes --show-fixes --exclude-rules --rule-configs --jobs --no-respect-gitignore""",
    "SQL Glider": """lineage --level --dialect --column --source-column --table --output-format --output-file
        --templater --var --vars-file --no-star --strict-lineage --provide-schema; template --list --var --templater;
        dissect --var --dialect --output-format --output-file; tables~overview --table;
        tables~pull --catalog-type --ddl-folder --list; tables~scrape --recursive --glob --manifest --strict-schema
        --output-format; graph~build --output --recursive --glob --manifest --node-format --no-star --resolve-schema
        --catalog-type --dump-schema --dump-schema-format --provide-schema --strict-schema --strict-lineage;
        graph~merge --output --glob; graph~query --upstream --downstream --level --output-format;
        graph~visualize --output --output-format""",
}


OTHER = {
    "InfoTracker": ("infotracker.yml", ".infotrackerignore", "column_graph.json"),
    "FlowScope": (
        *(f"GET /api/{word}" for word in ("health", "files", "schema", "config")),
        *(f"POST /api/{word}" for word in ("analyze", "split", "completion", "export/:format")),
        *("analyzeSql", "splitStatements", "completionItems", "options.hideCtes", "schema.searchPath"),
        *(f"--format {word}" for word in ("table", "json", "mermaid", "html", "sql", "csv", "xlsx", "duckdb", "dali")),
    ),
    "SQL Glider": ("sqlglider.toml", "SQLGLIDER_VAR_*", "sqlglider.templaters", "sqlglider.catalogs"),
}
"""What they have beside commands and options."""


def guide_rows(tool: str) -> list[list[str]]:
    section = PAGE.partition(f"\n## {tool}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def known_commands() -> dict[str, CommandInfo]:
    return {command.title: command for command in iterate_commands()}


@pytest.mark.parametrize("tool", THEIRS)
def test_every_command_and_option_of_theirs_has_a_row(tool: str) -> None:
    named = {word for row in guide_rows(tool) for word in re.findall(r"`([^`]+)`", row[0])}
    wanted = set()
    for part in THEIRS[tool].split(";"):
        first, *others = part.split()
        verb = "" if first.startswith("--") else first.replace("~", " ")
        flags = [first, *others] if first.startswith("--") else others
        wanted |= {verb} if verb else set()
        wanted |= {f"{verb} {flag}".strip() for flag in flags}
    assert (wanted | set(OTHER[tool])) - named == set()


@pytest.mark.parametrize("tool", THEIRS)
def test_what_is_named_here_exists(tool: str) -> None:
    titles = known_commands()
    for theirs, ours, reason in guide_rows(tool):
        assert ours != "—" or reason, theirs
        for text in re.findall(r"`lineage ([^`]+)`", f"{ours} {reason}"):
            words = text.split()
            if words[0] in ("--version", "--help", "COMMAND"):
                continue
            title = next((" ".join(words[:end]) for end in (2, 1) if " ".join(words[:end]) in titles), "")
            assert title, text
            flags = {name for flag in titles[title].flags for name in flag.names}
            assert {word for word in words if word.startswith("-")} <= flags | {"-", "--help"}, text
            if title == "export" and len(words) > 1 and words[1].islower() and not words[1].startswith("-"):
                assert words[1] in FORMATS, text


def test_a_missing_counterpart_has_a_reason() -> None:
    dashes = [row for tool in THEIRS for row in guide_rows(tool) if row[1] == "—"]
    assert len(dashes) > 5
    assert [row[0] for row in dashes if len(row[2]) < 15] == []
