"""Hive: two-part names, regular expressions as columns, virtual columns, beeline, signs; most types as in Spark."""

import re

import msgspec

from lineage_pipeline.dialects.client_commands import COMMAND_KINDS, ClientCommands
from lineage_pipeline.dialects.dialect import TWO_PARTS, DialectTraits, UnaliasedNaming
from lineage_pipeline.dialects.signs import (
    ANGLE_TYPES,
    BACKTICKS,
    COLLECT_FUNCTIONS,
    INSERT_OVERWRITE,
    LATERAL_VIEW,
    NVL,
    PARTITIONED_BY,
    ROW_FORMAT,
    STORED_AS,
    build_driver_sign,
    build_sign,
)
from lineage_pipeline.dialects.spark import SPARK_RULES, SPARK_TABLE_FUNCTIONS, SPARK_TYPES
from lineage_pipeline.dialects.types.coercion import widen_to_string
from lineage_pipeline.dialects.types.type_rules import TypeRules

HIVE_TYPES = msgspec.structs.replace(
    SPARK_TYPES,
    name="hive",
    null=None,
    double_quotients=False,
    reads_whole_strings=False,
    unit_intervals=False,
    scale_yields=False,
    scale_yields_to_integers=False,
    widening=(widen_to_string,),
    conversions=None,
)


HIVE = DialectTraits(
    name="hive",
    family="hive",
    naming=UnaliasedNaming.C0,
    parts=TWO_PARTS,
    alias_in_having=True,
    row_names="col{1}",
    generator_names=True,
    dotted_tables=True,
    pattern_columns=True,
    one_way_exchange=True,
    fixes_views=True,
    value_keywords=frozenset("GROUPING__ID CURRENT_DATE CURRENT_TIMESTAMP".split()),
    reserved_values=frozenset({"GROUPING__ID"}),
    table_pseudo_columns=frozenset("INPUT__FILE__NAME BLOCK__OFFSET__INSIDE__FILE ROW__ID".split()),
    pseudo_column_types={"INPUT__FILE__NAME": "STRING", "BLOCK__OFFSET__INSIDE__FILE": "BIGINT"},
    client_commands=ClientCommands(
        re.compile(r"(?P<word>dfs(?=\s+-)|source(?=\s)|!(?=\w))", re.IGNORECASE), COMMAND_KINDS
    ),
    types=HIVE_TYPES,
    type_rules=TypeRules(
        functions=SPARK_RULES,
        table_functions=SPARK_TABLE_FUNCTIONS,
        counting_functions=frozenset({"RANGE"}),
    ),
    signs=(
        STORED_AS,
        ROW_FORMAT,
        build_sign(
            "settings of Hive",
            r"^[ \t]*SET\s+(?:hive|mapred\w*|tez)\.|\$\{hive(conf|var):",
            4,
            "set&hive set&mapred* set&tez hive&${hive hiveconf&${hive hivevar&${hive",
        ),
        build_sign(
            "LOAD DATA INPATH", r"\bLOAD\s+DATA\s+(?:LOCAL\s+)?INPATH\b|\bMSCK\s+REPAIR\b", 3, "load&inpath msck&repair"
        ),
        LATERAL_VIEW,
        INSERT_OVERWRITE.with_worth(1),
        COLLECT_FUNCTIONS,
        PARTITIONED_BY,
        ANGLE_TYPES,
        BACKTICKS,
        NVL,
    ),
    path_words=frozenset({"hive", "hql", "impala"}),
    host_signs=(build_driver_sign("Hive", modules="pyhive", operators="Hive", scheme="hive"),),
)
