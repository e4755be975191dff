"""Tasks of equal weight, and row groups that a reader can skip."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lineage_pipeline.spark.compilation import FILE_COST, balance_partitions
from lineage_pipeline.store.table_files import matching_row_groups


def test_a_huge_file_has_a_task_of_its_own() -> None:
    weights = [1_000] * 30 + [1_000_000] + [1_000] * 30
    parts = balance_partitions(weights, 4)
    assert parts[30] == 0  # tasks start in this order
    assert [part for index, part in enumerate(parts) if part == 0] == [0]
    assert sorted(parts.count(part) for part in (1, 2, 3)) == [20, 20, 20]


def test_tasks_weigh_about_the_same_whatever_the_order() -> None:
    weights = [(number * 7919) % 50_000 for number in range(1_000)]
    for given in (weights, weights[::-1], sorted(weights)):
        loads = [0] * 7
        for weight, part in zip(given, balance_partitions(given, 7), strict=True):
            loads[part] += weight + FILE_COST
        assert max(loads) - min(loads) <= max(weights) + FILE_COST
        assert max(loads) < 1.01 * sum(loads) / 7
    assert balance_partitions([], 3) == []


def test_groups_that_hold_none_of_the_names_are_skipped(tmp_path: Path) -> None:
    rows = pa.table({"span": [{"line": n} for n in range(100)], "object": [f"o{n:03}" for n in range(100)]})
    pq.write_table(rows, tmp_path / "t.parquet", row_group_size=10)
    file = pq.ParquetFile(tmp_path / "t.parquet")
    assert matching_row_groups(file, "object", ["o005", "o0055", "o042"]) == [0, 4]
    assert matching_row_groups(file, "object", ["a", "z"]) == []
    pq.write_table(rows, tmp_path / "blind.parquet", row_group_size=50, write_statistics=False)
    assert matching_row_groups(pq.ParquetFile(tmp_path / "blind.parquet"), "object", ["a"]) == [0, 1]
