"""Column lineage for SQL repositories, computed from the SQL itself.

The rooms, in the order in which data passes through them:

* `discover`    folders and git revisions → sources
* `engine`      pure functions: `compile` (text → IR), `graph` (who defines, who reads), `link` (columns, types,
                edges), `trace` (reach, paths), `diff` (what changed, whom it breaks)
* `pipeline`    the stages in reading order, in one process: start here
* `spark`       the same stages over DataFrames; `defs` and `definitions` put them into Dagster
* `store`       Parquet tables and manifests; `quality` checks them; `export`, `web`, `cli` and `alerts` show them

Everything is built from the nouns of `vocabulary` and the tables of traits in `dialects`.
"""

__version__ = "0.1.0"
