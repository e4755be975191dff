"""Statements wrapped in procedures: families of procedural SQL as rows, each with its own noise and blocks."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st


@dataclass(frozen=True)
class ProcedureBlock:
    """A block around statements; `guarded` where they may not run, `repeated` where they may run again."""

    opening: str
    closing: str
    guarded: bool = False
    repeated: bool = False


@dataclass(frozen=True)
class ProcedureFamily:
    """One family: how a procedure begins and ends, which statements are noise, and what cannot stand in one."""

    dialect: str
    separator: str
    opening: str
    closing: str
    noise: tuple[str, ...]
    blocks: tuple[ProcedureBlock, ...]
    banned: re.Pattern[str]


TSQL = ProcedureFamily(
    "tsql",
    "\ngo\n",
    "create procedure dbo.wrapped_{number} (@p int = 1, @q varchar(10) = 'as select') with recompile as\n",
    "",
    (
        "declare @noise{number} int = 0, @words{number} nvarchar(50) = N'insert into x select y from z';",
        "print 'select * from nowhere'",
        "set nocount on",
        "set @p = @p + 1;",
        "raiserror('update t set x = 1', 10, 1) with nowait;",
        "/* delete from nowhere; begin */",
        "begin transaction; commit transaction;",
        "if @p > 1 print 'yes' else print 'no'",
        "if @p is null return;",
        "exec dbo.log_something @p, 'insert into nowhere';",
        "waitfor delay '00:00:01'",
        "label{number}:",
        "if @p > 5 begin print 'x'; print 'y' end else if @p > 6 begin print 'z' end",
    ),
    (
        ProcedureBlock("", ""),
        ProcedureBlock("begin\n", "\nend"),
        ProcedureBlock("begin try\n", "\nend try\nbegin catch\nif @@trancount > 0 rollback;\nthrow;\nend catch"),
        ProcedureBlock("if @p = 1\nbegin\n", "\nend", guarded=True),
        ProcedureBlock("if exists (select 1 where @p = 2)\nprint 'x'\nelse\nbegin\n", "\nend", guarded=True),
        ProcedureBlock("while @p < 10\nbegin\n", "\nset @p += 1\nend", guarded=True, repeated=True),
    ),
    re.compile(
        r"\b(?:(?:create|alter)\s+(?:or\s+alter\s+)?(?:view|proc(?:edure)?|function|trigger|schema)|use|go)\b",
        re.IGNORECASE,
    ),
)

PROCEDURE_FAMILIES: dict[str, ProcedureFamily] = {family.dialect: family for family in (TSQL,)}
"""Families of procedural SQL by dialect."""


@dataclass(frozen=True)
class WrappedScript:
    """A script whose statements have been put into procedures."""

    text: str
    guarded: bool
    repeated: bool


def wrap_in_procedures(draw: Callable[..., Any], script: str, family: ProcedureFamily) -> WrappedScript:
    """A script with every batch that a procedure can hold put into one, with noise around it."""
    written, guarded, repeated = [], False, False
    for number, batch in enumerate(script.split(family.separator)):
        if not batch.strip() or family.banned.search(batch):
            written.append(batch)
            continue
        blocks = [draw(st.sampled_from(family.blocks)) for _ in range(draw(st.integers(1, 2)))]
        noise = [draw(st.sampled_from(family.noise)) for _ in range(2)]
        before, after = (f"\n{text.format(number=f'{number}{side}')}\n" for side, text in zip("ab", noise, strict=True))
        text = f";{batch.strip()}" if batch.lstrip().lower().startswith("with") else batch.strip()
        for block in blocks:
            text = f"{block.opening}{before}{text}{after}{block.closing}"
            before = after = "\n"
        written.append(family.opening.format(number=number) + text + family.closing)
        guarded, repeated = (
            guarded or any(block.guarded for block in blocks),
            repeated or any(block.repeated for block in blocks),
        )
    return WrappedScript(family.separator.join(written), guarded, repeated)
