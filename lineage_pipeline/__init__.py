"""Column lineage for SQL repositories, computed from the SQL itself.

    from lineage_pipeline import analyze
    analyze("create view v as select a + b as c from t", dialect="postgres").to_dict()

The packages, in the order in which data passes through them:

* `discover`     folders and git revisions → sources
* `engine`       pure functions: `compile` (text → IR), `graph` (who defines, who reads), `link` (columns, types,
                 edges), `trace` (reach, paths), `diff` (what changed, whom it breaks)
* `pipeline`     the stages in reading order, in one process: start here
* `incremental`  the same for a folder that was analyzed before
* `spark`        the same stages over DataFrames; `defs` and `definitions` put them into Dagster
* `store`        Parquet tables and manifests; `quality` checks them; `export`, `cli` and `web` show them
* `queries`      upstream, downstream and paths: asked of rows, lineage files and snapshots

Everything is built from the structs of `model` and the tables of `dialects`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lineage_pipeline.api import Analysis, analyze, diff, dissect, scan
    from lineage_pipeline.queries.lineage import Lineage

__version__ = "0.1.0"

__all__ = ["Analysis", "Lineage", "analyze", "diff", "dissect", "scan"]

_PUBLIC_MODULES = {"Lineage": "lineage_pipeline.queries.lineage"}


def __getattr__(name: str) -> Any:
    """Import a public name on first access, so that `lineage --version` stays quick."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PUBLIC_MODULES.get(name, "lineage_pipeline.api")), name)
