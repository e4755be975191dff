"""SQL in Scala, as in the other languages of braces."""

from lineage_pipeline.discover.hosts.braces import read_braces
from lineage_pipeline.discover.hosts.values import Extract


def read_scala(text: str) -> Extract:
    """Give the SQL of a program."""
    return read_braces(text, "scala")
