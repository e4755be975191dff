"""What Spark's own books say of the jobs of a session: counted work, the same on every machine."""

from typing import Any

from pyspark.sql import SparkSession


def shuffled(spark: SparkSession) -> tuple[int, int]:
    """Count the rows and bytes that all stages handed on to others."""
    stages = list(_stages(spark))
    return sum(stage.shuffleWriteRecords() for stage in stages), sum(stage.shuffleWriteBytes() for stage in stages)


def _stages(spark: SparkSession) -> Any:
    context: Any = spark.sparkContext
    gateway = context._gateway
    quantiles = gateway.new_array(gateway.jvm.double, 0)
    found = context._jsc.sc().statusStore().stageList(None, False, False, quantiles, None)
    return (found.apply(index) for index in range(found.size()))
