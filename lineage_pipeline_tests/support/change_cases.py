"""Cases of changes in SQL: a base and a head, what follows from one to the other, and what does not.

-- title: a parameter that callers do not know breaks their calls
-- dialect: tsql
-- both                     statements of both sides; `-- base` and `-- head` are those of one
-- absent: OBJ007           rules that one might expect here and that rightly keep silent
--> OBJ006 dbo.p BREAKING   what is found, ` derived` where it follows from something else
"""

import re
from collections.abc import Iterator

import msgspec

from lineage_pipeline.engine.diff.policy import Policy
from lineage_pipeline.model.analysis import InputFile, Label, LineageTables, Options
from lineage_pipeline.pipeline import build_lineage
from lineage_pipeline_tests.support.paths import TESTS

FIXTURES = TESTS / "fixtures" / "changes"

SECTION_NAMES = ("both", "base", "head")


class SqlChangeCase(msgspec.Struct, frozen=True):
    title: str
    base: LineageTables
    head: LineageTables
    policy: Policy
    changes: list[str]
    absent: tuple[str, ...]
    file: str


def load_change_cases() -> Iterator[SqlChangeCase]:
    return (_parse_change_case(text, file) for file, text in _iter_case_texts())


def iter_side_files(side: int) -> Iterator[InputFile]:
    """The files of all cases on one side, each case in a system of its own."""
    for number, (_, text) in enumerate(_iter_case_texts()):
        yield from _side_files(split_case_sections(text), parse_case_options(text), side, f"s{number:03}")


def _iter_case_texts() -> Iterator[tuple[str, str]]:
    for file in sorted(FIXTURES.glob("*.sql")):
        for text in re.split(r"^(?=-- title: )", file.read_text(), flags=re.MULTILINE):
            if text.startswith("-- title: "):
                yield file.name, text


def _side_files(sections: dict[str, str], options: Options, side: int, system: str) -> list[InputFile]:
    texts = {"a": sections["both"], "b": sections[SECTION_NAMES[side + 1]]}
    own = msgspec.structs.replace(options, system=system)
    return [InputFile(f"{system}/{name}.sql", text, own) for name, text in texts.items()]


def parse_case_options(text: str) -> Options:
    """The analysis options of a case."""
    dialect = re.search(r"^-- dialect: (.*)$", text, flags=re.MULTILINE)
    labels = [line.split() for line in re.findall(r"^-- label: (.*)$", text, flags=re.MULTILINE)]
    named = tuple(Label((objects,), (columns,), (tag,)) for objects, columns, tag in labels)
    return Options(dialect[1] if dialect else "postgres", labels=named)


def _parse_change_case(text: str, file: str) -> SqlChangeCase:
    said = dict(re.findall(r"^-- (title|absent|leaf|public|levels): (.*)$", text, flags=re.MULTILINE))
    options, sections = parse_case_options(text), split_case_sections(text)
    levels = dict(word.split("=") for word in said.get("levels", "").split())
    policy = {"leaf": said.get("leaf", "unknown"), "public": said.get("public", "").split(), "levels": levels}
    return SqlChangeCase(
        title=said["title"],
        base=_analyze_side([sections["both"], sections["base"]], options),
        head=_analyze_side([sections["both"], sections["head"]], options),
        policy=msgspec.convert(policy, Policy),
        changes=sorted(re.findall(r"^--> (.*)$", text, flags=re.MULTILINE)),
        absent=tuple(said.get("absent", "").split()),
        file=file,
    )


def split_case_sections(text: str) -> dict[str, str]:
    found, current = dict.fromkeys(SECTION_NAMES, ""), ""
    for line in text.splitlines(keepends=True):
        word = line[3:].strip() if line.startswith("-- ") else ""
        if word in SECTION_NAMES:
            current = word
        elif current and not line.startswith(("-->", "-- absent:")):
            found[current] += line
    return found


def _analyze_side(texts: list[str], options: Options) -> LineageTables:
    files = [InputFile(f"{name}.sql", text, options) for name, text in zip("ab", texts, strict=True)]
    return build_lineage(files, reach=False)


def accept_changes(case: SqlChangeCase, changes: list[str]) -> None:
    """Write the changes that were found below a case."""
    path = FIXTURES / case.file
    text = path.read_text()
    begin = text.index(f"-- title: {case.title}\n")
    end = text.find("-- title: ", begin + 1)
    end = len(text) if end < 0 else end
    lines = [line for line in text[begin:end].rstrip().splitlines() if not line.startswith("-->")]
    body = "\n".join([*lines, *(f"--> {change}" for change in changes)])
    path.write_text(f"{text[:begin]}{body}\n{chr(10) if text[end:] else ''}{text[end:]}")
