"""The analyser of the real Spark, asked about queries on empty tables; nothing is ever executed."""

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from lineage_pipeline_tests.oracles.answers import Answer, Answered, tables
from lineage_pipeline_tests.oracles.plans import outputs

SETTINGS = {"spark.sql.ansi.enabled": "true", "spark.sql.caseSensitive": "false"}


@cache
def _session() -> Any:
    """A session with tables of its own, on the Spark that all tests of a process share."""
    from lineage_pipeline.settings import load_settings
    from lineage_pipeline.spark.session import session

    own = session(load_settings(Path(tempfile.gettempdir()), {}, {}).spark).newSession()._jsparkSession
    for name, value in SETTINGS.items():
        own.conf().set(name, value)
    return own


def _jvm() -> Any:
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    assert context is not None
    return context._jvm


@cache
def _ground() -> Any:
    """The session once the tables are there."""
    own = _session()
    for name, columns in tables().items():
        schema = _jvm().org.apache.spark.sql.types.StructType.fromDDL(columns)
        own.createDataFrame(_jvm().java.util.ArrayList(), schema).createOrReplaceTempView(name)
    return own


class _Field(msgspec.Struct):
    name: str
    nullable: bool


class _Schema(msgspec.Struct):
    fields: list[_Field]


def ask(sql: str) -> Answer:
    """What Spark says about a query."""
    frame = _ground().sql(sql)
    schema = frame.schema()
    found = outputs(frame.queryExecution().analyzed().toJSON(), tables().keys())
    fields = msgspec.json.decode(schema.json(), type=_Schema).fields
    types = [field.dataType().catalogString() for field in schema.fields()]
    return tuple(
        Answered(field.name, kind, field.nullable, sources)
        for field, kind, sources in zip(fields, types, found, strict=True)
    )
