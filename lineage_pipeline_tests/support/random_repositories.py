"""Random repositories: small files over a few names, and random edits of them."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from lineage_pipeline.model.analysis import InputFile, Options

OPTIONS = Options("tsql", default_schema="dbo", search_path=("other",))
ANALYSIS_SETTINGS = {"dialect": "tsql", "default_schema": "dbo", "search_path": ["other"]}
"""The same options as settings."""

FILE_PATHS = ("a.sql", "b.sql", "views/c.sql", "views/d.sql", "2_e.sql", "10_f.sql", "load/g.sql")
OBJECT_NAMES = ("t", "u", "v", "w", "other.t", "other.w", "nowhere")
"""Names that files define, read and write; `w` may be found in the schema `other`, too."""

FILE_TEMPLATES = (
    "create table {0} (id int not null, x varchar(10), y int);",
    "create table {0} (id bigint, z int);",
    "create view {0} as select * from {1};",
    "create view {0} as select a.id, a.x as y, b.* from {1} as a join {2} as b on a.id = b.id;",
    "create view {0} as with c as (select id, y from {1} union all select id, id from {2}) select * from c;",
    "insert into {0} (id, x) select id, max(x) from {1} group by id;",
    "insert into {0} select * from {1};",
    "alter table {0} add added int;\ngo\nalter table {0} drop column y;",
    "create procedure p_{3} as\nselect id, x into #a from {1};\ninsert into {0} (id, x) select id, x from #a;",
    "select id, y from {0};\nselect * from {1};",
    "select id, sum(y) as y into {0} from {1} group by id;",
    "update a set y = b.y from {0} as a join {1} as b on a.id = b.id;",
    "merge into {0} as a using {1} as b on a.id = b.id when matched then update set y = b.y;",
    "exec sp_rename '{0}', 'renamed';\ndrop table {1};",
    "select from;\ncreate view {0} as select nothing from {1};",
)

Repository = dict[str, str]


def draw_file_text(draw: Callable[..., Any]) -> str:
    """The text of one file."""
    names = [draw(st.sampled_from(OBJECT_NAMES)) for _ in range(3)]
    return str(draw(st.sampled_from(FILE_TEMPLATES))).format(*names, draw(st.integers(1, 3)))


def draw_repository(draw: Callable[..., Any]) -> Repository:
    """Some files by path."""
    return {path: draw_file_text(draw) for path in FILE_PATHS[: draw(st.integers(2, len(FILE_PATHS)))]}


def draw_edit(draw: Callable[..., Any], files: Repository) -> Repository:
    """The files after one random edit: rewritten, added, removed, moved, extended, or two of them swapped."""
    here, there = draw(st.sampled_from(FILE_PATHS)), draw(st.sampled_from(FILE_PATHS))
    kind = draw(st.sampled_from(("write", "remove", "move", "swap", "extend")))
    after = dict(files)
    if kind == "write" or here not in files:
        after[here] = draw_file_text(draw)
    elif kind == "remove":
        del after[here]
    elif kind == "move":
        after[there] = after.pop(here)
    elif kind == "extend":
        after[here] = f"{draw_file_text(draw)}\ngo\n{files[here]}"
    else:
        after[here], after[there] = files.get(there, draw_file_text(draw)), files[here]
    return after


def as_input_files(files: Repository) -> list[InputFile]:
    """The files as input of the engine."""
    return [InputFile(path, written, OPTIONS) for path, written in files.items()]
