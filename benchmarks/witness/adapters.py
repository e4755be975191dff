"""Other tools in the witness's protocol: `python -P adapters.py TOOL`, in an environment that has the tool.

Nothing of ours is imported here.
"""

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

Asked = dict[str, Any]
Edge = tuple[str, str, str, str, str]


def ask_sqlglot(asked: Asked) -> Iterator[Edge]:
    """The leaves of `sqlglot.lineage` for every output of every query."""
    sqlglot, lineage = importlib.import_module("sqlglot"), importlib.import_module("sqlglot.lineage").lineage
    schema = dict(asked["tables"])
    for text in asked["script"]:
        tree = sqlglot.parse_one(text, read=asked["dialect"])
        query = tree.expression if isinstance(tree, sqlglot.exp.Create) else None
        if not isinstance(query, sqlglot.exp.Query):
            continue
        target = tree.this.name
        made = lineage(None, query, schema=schema, dialect=asked["dialect"], trim_selects=False)
        schema[target] = dict.fromkeys(made, "unknown")
        for output, node in made.items():
            for leaf in node.walk():
                if isinstance(leaf.expression, sqlglot.exp.Table) and not leaf.downstream:
                    yield leaf.expression.name, leaf.name.rpartition(".")[2].strip('"`'), target, output, "DIRECT"


def ask_sqllineage(asked: Asked) -> Iterator[Edge]:
    """The end-to-end column lineage of sqllineage, told the tables by its metadata provider."""
    runner = importlib.import_module("sqllineage.runner").LineageRunner
    provider = importlib.import_module("sqllineage.core.metadata.dummy").DummyMetaDataProvider
    known = {f"main.{name}": list(columns) for name, columns in asked["tables"].items()}
    dialect = {"spark": "sparksql"}.get(asked["dialect"], asked["dialect"])
    with importlib.import_module("sqllineage.config").SQLLineageConfig(DEFAULT_SCHEMA="main"):
        found = runner(";\n".join(asked["script"]), dialect=dialect, metadata_provider=provider(known))
        paths = found.get_column_lineage()
    for path in paths:
        source, target = path[0], path[-1]
        if source.parent is not None and target.parent is not None:
            yield (
                str(source.parent).rpartition(".")[2],
                source.raw_name,
                str(target.parent).rpartition(".")[2],
                target.raw_name,
                "DIRECT",
            )


def ask_polyglot(asked: Asked) -> Iterator[Edge]:
    """The column lineage of polyglot-sql's analysis of each query."""
    analyze = importlib.import_module("polyglot_sql").analyze_query
    for text in asked["script"]:
        head, _, query = text.partition(" as ")
        if not head.startswith("create "):
            continue
        made = analyze(query, dialect=asked["dialect"])
        for output in made["projections"]:
            for source in output.get("lineage") or output.get("upstream") or ():
                yield str(source["table"]), str(source["column"]), head.split()[-1], str(output["name"]), "DIRECT"


TOOLS: dict[str, Callable[[Asked], Iterator[Edge]]] = {
    "sqlglot": ask_sqlglot,
    "sqllineage": ask_sqllineage,
    "polyglot-sql": ask_polyglot,
}


def answer(tool: Callable[[Asked], Iterator[Edge]], line: str) -> dict[str, Any]:
    """The answer to one line; a tool that fails says nothing of that program."""
    try:
        return {"edges": sorted(set(tool(json.loads(line))))}
    except Exception as failure:  # noqa: BLE001 - whatever another tool raises counts as giving up
        return {"edges": [], "failure": f"{type(failure).__name__}: {failure}"[:200]}


if __name__ == "__main__":
    for asked_line in sys.stdin:
        print(json.dumps(answer(TOOLS[sys.argv[1]], asked_line)), flush=True)
