"""Column lineage for SQL repositories, computed from the SQL itself.

    from lineage_pipeline import analyze
    analyze("create view v as select a + b as c from t", dialect="postgres").to_dict()

The rooms, in the order in which data passes through them:

* `discover`    folders and git revisions → sources
* `engine`      pure functions: `compile` (text → IR), `graph` (who defines, who reads), `link` (columns, types,
                edges), `trace` (reach, paths), `diff` (what changed, whom it breaks)
* `pipeline`    the stages in reading order, in one process: start here
* `spark`       the same stages over DataFrames; `defs` and `definitions` put them into Dagster
* `store`       Parquet tables and manifests; `quality` checks them; `export` and `cli` show them
* `questions`   what feeds what, over which ways: asked of rows, lineage files and snapshots

Everything is built from the nouns of `vocabulary` and the tables of traits in `dialects`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lineage_pipeline.api import Analysis, analyze, diff, dissect, scan
    from lineage_pipeline.questions.lineage import Lineage

__version__ = "0.1.0"

__all__ = ["Analysis", "Lineage", "analyze", "diff", "dissect", "scan"]

_HOMES = {"Lineage": "lineage_pipeline.questions.lineage"}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for, so that `lineage --version` stays quick."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "lineage_pipeline.api")), name)
