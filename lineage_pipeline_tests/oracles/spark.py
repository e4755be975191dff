"""The analyser of the real Spark, asked about queries on empty tables; nothing is ever executed."""

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from lineage_pipeline_tests.oracles.answers import Answer, Answered, tables
from lineage_pipeline_tests.oracles.plans import outputs

SETTINGS = {"spark.sql.ansi.enabled": "true", "spark.sql.caseSensitive": "false"}


@cache
def _session() -> Any:
    """The session of all questions."""
    return start_session()


def start_session() -> Any:
    """A session with temporary views of its own, on the Spark that all tests of a process share."""
    from lineage_pipeline.config.load import load_settings
    from lineage_pipeline.spark.session import get_session

    own = get_session(load_settings(Path(tempfile.gettempdir()), {}, {}).spark).newSession()._jsparkSession
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
    """The session once the tables of the fixtures are there."""
    create(tables("spark"))
    return _session()


def create(wanted: Mapping[str, str]) -> None:
    """Make empty tables: by name, their columns as a list of definitions."""
    own = _session()
    for name, columns in wanted.items():
        schema = _jvm().org.apache.spark.sql.types.StructType.fromDDL(columns)
        own.createDataFrame(_jvm().java.util.ArrayList(), schema).createOrReplaceTempView(name)


class _Field(msgspec.Struct):
    name: str
    nullable: bool


class _Schema(msgspec.Struct):
    fields: list[_Field]


def ask(sql: str) -> Answer:
    """What Spark says about a query."""
    frame = _ground().sql(sql)
    found = outputs(frame.queryExecution().analyzed().toJSON(), tables("spark").keys())
    columns = _columns(frame)
    return tuple(replace(column, sources=sources) for column, sources in zip(columns, found, strict=True))


def describe(sql: str) -> Answer | str:
    """What Spark says about the columns of a query without their sources, or why it refuses it."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException
    from pyspark.logger import PySparkLogger

    # It prints every refusal with its trace. One that `logging` makes would not understand how Spark calls it.
    PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True
    try:
        return _columns(_session().sql(sql))
    except (PySparkException, Py4JJavaError) as refusal:  # some refusals are errors inside of Spark
        return str(refusal).partition("\n")[0]


def _columns(frame: Any) -> Answer:
    schema = frame.schema()
    fields = msgspec.json.decode(schema.json(), type=_Schema).fields
    types = [field.dataType().catalogString() for field in schema.fields()]
    return tuple(
        Answered(field.name, kind, field.nullable, frozenset()) for field, kind in zip(fields, types, strict=True)
    )
