"""Cases of changes in SQL: a base and a head, what follows from one to the other, and what does not.

-- title: a parameter that callers do not know breaks their calls
-- dialect: tsql
-- both                     statements of both sides; `-- base` and `-- head` are those of one
-- absent: OBJ007           rules that one might expect here and that rightly keep silent
--> OBJ006 dbo.p BREAKING   what is found, ` derived` where it follows from something else
"""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from lineage_pipeline.engine.diff.policy import Policy
from lineage_pipeline.model.analysis import InputFile, Label, LineageTables, Options
from lineage_pipeline.pipeline import build_lineage

FIXTURES = Path(__file__).parent / "fixtures" / "changes"

SIDES = ("both", "base", "head")


class SqlCase(msgspec.Struct, frozen=True):
    title: str
    base: LineageTables
    head: LineageTables
    policy: Policy
    changes: list[str]
    absent: tuple[str, ...]
    file: str


def sql_cases() -> Iterator[SqlCase]:
    return (_case(text, file) for file, text in _texts())


def revisions(side: int) -> Iterator[InputFile]:
    """Give the files of all cases on one side, each case in a system of its own."""
    for number, (_, text) in enumerate(_texts()):
        yield from _files(sections_of(text), options_of(text), side, f"s{number:03}")


def _texts() -> Iterator[tuple[str, str]]:
    for file in sorted(FIXTURES.glob("*.sql")):
        for text in re.split(r"^(?=-- title: )", file.read_text(), flags=re.MULTILINE):
            if text.startswith("-- title: "):
                yield file.name, text


def _files(sections: dict[str, str], options: Options, side: int, system: str) -> list[InputFile]:
    texts = {"a": sections["both"], "b": sections[SIDES[side + 1]]}
    own = msgspec.structs.replace(options, system=system)
    return [InputFile(f"{system}/{name}.sql", text, own) for name, text in texts.items()]


def options_of(text: str) -> Options:
    """Read how a case is analysed."""
    dialect = re.search(r"^-- dialect: (.*)$", text, flags=re.MULTILINE)
    labels = [line.split() for line in re.findall(r"^-- label: (.*)$", text, flags=re.MULTILINE)]
    named = tuple(Label((objects,), (columns,), (tag,)) for objects, columns, tag in labels)
    return Options(dialect[1] if dialect else "postgres", labels=named)


def _case(text: str, file: str) -> SqlCase:
    said = dict(re.findall(r"^-- (title|absent|leaf|public|levels): (.*)$", text, flags=re.MULTILINE))
    options, sections = options_of(text), sections_of(text)
    levels = dict(word.split("=") for word in said.get("levels", "").split())
    policy = {"leaf": said.get("leaf", "unknown"), "public": said.get("public", "").split(), "levels": levels}
    return SqlCase(
        title=said["title"],
        base=_lineage([sections["both"], sections["base"]], options),
        head=_lineage([sections["both"], sections["head"]], options),
        policy=msgspec.convert(policy, Policy),
        changes=sorted(re.findall(r"^--> (.*)$", text, flags=re.MULTILINE)),
        absent=tuple(said.get("absent", "").split()),
        file=file,
    )


def sections_of(text: str) -> dict[str, str]:
    found, current = dict.fromkeys(SIDES, ""), ""
    for line in text.splitlines(keepends=True):
        word = line[3:].strip() if line.startswith("-- ") else ""
        if word in SIDES:
            current = word
        elif current and not line.startswith(("-->", "-- absent:")):
            found[current] += line
    return found


def _lineage(texts: list[str], options: Options) -> LineageTables:
    files = [InputFile(f"{name}.sql", text, options) for name, text in zip("ab", texts, strict=True)]
    return build_lineage(files, reach=False)


def accept(case: SqlCase, changes: list[str]) -> None:
    """Write what is found below a case."""
    path = FIXTURES / case.file
    text = path.read_text()
    begin = text.index(f"-- title: {case.title}\n")
    end = text.find("-- title: ", begin + 1)
    end = len(text) if end < 0 else end
    lines = [line for line in text[begin:end].rstrip().splitlines() if not line.startswith("-->")]
    body = "\n".join([*lines, *(f"--> {change}" for change in changes)])
    path.write_text(f"{text[:begin]}{body}\n{chr(10) if text[end:] else ''}{text[end:]}")
