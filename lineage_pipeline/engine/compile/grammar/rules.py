"""Grammar rules: every construct that sqlglot does not read as its dialect means it, and what is done about it.

The first choice is to change the parser: a method, a flag, or an entry of its tables (`overrides.py`). Tokens stay as
they are. It reaches methods that sqlglot passes on as values or looks up by name, 183 of 486; its compiled code calls
the others directly. The other rules rewrite tokens; those keep their offsets, and an inserted token has the offset of
its neighbor.

Four steps are no rules, and `parser.py` calls them by name: OUTPUT clauses of T-SQL are parsed separately, `|>` is
rewritten step by step (`pipe_syntax.py`), two options on which sqlglot never returns are renamed, and a definition
that no rule could mend is reduced to its columns and its query (`ddl.py`).

A test takes out each rule in turn, and expects that its example and some fixture change.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Any

import msgspec
from sqlglot.parser import Parser
from sqlglot.tokens import Token, TokenType

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.registry import DIALECTS
from lineage_pipeline.engine.compile.grammar.ddl import (
    drop_masks,
    drop_storage,
    drop_table_options,
    rewrite_alter_view,
    rewrite_modify_query,
    rewrite_recursive_view,
    rewrite_table_from_source,
    shorten_format_class,
    shorten_type_names,
)
from lineage_pipeline.engine.compile.grammar.dml import (
    alias_last_source,
    bracket_assignments,
    bracket_value_rows,
    drop_bound_returning,
    drop_current_of,
    drop_error_log,
    drop_query_cache,
    drop_target_subscripts,
    expand_compound_assignments,
    merge_conflict_clauses,
    rewrite_apply_changes,
    rewrite_delete_stars,
    rewrite_directory,
    rewrite_druid_ingestion,
    rewrite_flow,
    rewrite_format_rows,
    rewrite_inline_deletion,
    rewrite_inline_insert_target,
    rewrite_inline_target,
    rewrite_merge_delete,
    rewrite_multiple_deletion,
    rewrite_mutation,
    rewrite_remote_target,
    rewrite_remove_duplicates,
    separate_rows,
    wrap_value_rows,
)
from lineage_pipeline.engine.compile.grammar.functions import (
    alias_struct_members,
    bracket_applied_functions,
    bracket_transformed_columns,
    drop_call_distinct,
    drop_json_clauses,
    drop_json_column_clauses,
    expand_column_lists,
    merge_call_parameters,
    parse_culture,
    parse_extract,
    parse_json_object,
    parse_translate,
    parse_xml_function,
    parse_xml_instruction,
    parse_xml_passing,
    parse_xml_root,
    rewrite_is_function,
    rewrite_json_row,
    rewrite_prediction,
    rewrite_ranking_arguments,
    rewrite_rows,
    rewrite_transform,
    rewrite_window_functions,
    unwrap_lambdas,
    unwrap_xml_constants,
)
from lineage_pipeline.engine.compile.grammar.names import (
    bracket_inline_aliases,
    drop_empty_qualifiers,
    insert_alias_keywords,
    normalize_join_words,
    read_keywords_as_names,
    rename_computed_casts,
)
from lineage_pipeline.engine.compile.grammar.overrides import (
    Override,
    parse_as_insert,
    parse_computed_aggregates,
    parse_group_order,
    parse_second_from,
    skip_phrase,
    skip_to_query,
    skip_top,
    skip_words,
)
from lineage_pipeline.engine.compile.grammar.pipe_syntax import rewrite_single_pipes
from lineage_pipeline.engine.compile.grammar.query_clauses import (
    alias_lateral_views,
    drop_argument_settings,
    drop_join_partitions,
    drop_order_operator,
    drop_portions,
    drop_system_time,
    drop_versions,
    drop_xml_namespaces,
    keep_first_search_key,
    rewrite_comma_joins,
    rewrite_nearest_joins,
    rewrite_unique_joins,
    shorten_limits,
    strip_join_aliases,
    strip_locking,
    unwrap_explained_queries,
)
from lineage_pipeline.engine.compile.grammar.table_sources import (
    bracket_ordered_pivots,
    drop_pattern_within,
    drop_search_language,
    drop_system_marks,
    rewrite_extern,
    rewrite_graph_match,
    rewrite_models,
    rewrite_nested_writes,
    rewrite_open_rowset,
    rewrite_open_xml,
    rewrite_partitioned_rows,
    rewrite_pivot_body,
    rewrite_sample_names,
    rewrite_table_arguments,
    unwrap_containers,
)
from lineage_pipeline.engine.compile.grammar.terms import (
    bracket_lambda_choices,
    bracket_negative_positions,
    drop_float_signs,
    drop_interval_precision,
    drop_negative_scale,
    drop_parameter_numbers,
    drop_union_members,
    insert_interval_keywords,
    join_comparisons,
    join_numbers,
    join_strings,
    merge_static_methods,
    parse_absolute,
    parse_sign_function,
    parse_unary_plus,
    qualify_object_types,
    read_bound_texts,
    read_cube_types,
    read_parameter_members,
    rewrite_custom_operators,
    rewrite_factorials,
    rewrite_intervals,
    rewrite_multisets,
    rewrite_teradata_formats,
    rewrite_typed_texts,
    unwrap_odbc_escapes,
)
from lineage_pipeline.engine.compile.placeholders import replace_placeholders
from lineage_pipeline.engine.compile.tokens import (
    OPERAND_END_TOKENS,
    STRING_TOKENS,
    TABLE_NAME_WORDS,
    defines_table,
    keyword,
    keywords_of,
    skip_brackets,
    synthetic_token,
)


class When(StrEnum):
    """The moment at which a rule is applied."""

    PARSER = "in the parser"
    """It overrides a method of sqlglot's parser."""
    DROPPED = "dropped before parsing"
    """Clauses without lineage; what is dropped is counted as not read."""
    BEFORE = "rewritten before parsing"
    """sqlglot would read another meaning, or a statement that it does not know at all."""
    FAILED = "rewritten if parsing failed"
    """Tried only if sqlglot could not parse the statement."""


class Sqlglot(StrEnum):
    """What sqlglot makes of a construct by itself."""

    FAILS = "raises an error"
    KEEPS = "keeps the text"
    """It returns `exp.Command`, which holds the statement as a text."""
    MISREADS = "reads it in another way"


class Phrase(msgspec.Struct, frozen=True):
    """Words, and the words that sqlglot understands instead."""

    words: tuple[str, ...]
    """The words as they are written, in upper case; two words may be one keyword of the tokenizer: `CLUSTER BY`."""
    instead: tuple[str, ...] = ()
    """The words that replace them; empty where they do not affect lineage."""
    brackets: bool = False
    """Parentheses follow the words and are dropped with them; without any, nothing is replaced."""
    values: int = 0
    """How many values after the words are dropped with them."""
    literal: bool = False
    """A text or a number follows and is dropped with the words; without one, the words are names."""
    modifies: bool = False
    """The words stand behind what they modify (a name, a type, a bracket); elsewhere they are names."""
    outside: bool = False
    """The words stand outside of all parentheses; inside, they mean something else."""


class GrammarRule(msgspec.Struct, frozen=True, kw_only=True):
    """A construct that sqlglot does not read as its dialect means it."""

    dialect: str
    """The dialect that has the construct: the rule is for the dialects of its family."""
    when: When
    """When it is applied."""
    example: str
    """A statement that needs the rule."""
    reason: str
    """What the construct means, with the page of the manual, and what the rule does about it."""
    sqlglot: Sqlglot = Sqlglot.FAILS
    """What sqlglot makes of the example by itself."""
    everywhere: bool = False
    """The rule is for all dialects: others share the construct, or a file is read without its dialect."""
    first: frozenset[str] = frozenset()
    """The first keywords of its statements, TABLE for one that defines a table; empty: any statement."""
    needs: tuple[str, ...] = ()
    """Keywords and signs that must all occur."""
    phrases: tuple[Phrase, ...] = ()
    """What is dropped or replaced word by word."""
    rewrite: Callable[[list[Token]], Sequence[Token]] | None = None
    """A function from tokens to tokens."""
    overrides: Mapping[str, Override] = {}
    """Overridden methods and flags of the parser."""
    tables: Mapping[str, Mapping[Any, Override]] = {}
    """Changed entries of the parser's tables: of functions and statements with a syntax of their own, of signs."""


def words(text: str) -> frozenset[str]:
    """Keywords as a set."""
    return frozenset(text.split())


def phrase(text: str, instead: str = "", **where: Any) -> Phrase:
    """A phrase of single words; `where` are the other fields of `Phrase`."""
    return Phrase(tuple(text.split()), tuple(instead.split()), **where)


_PRIORITIES = ("LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "QUICK")
_DEFINITIONS = words("CREATE REPLACE ALTER")
_TABLE = words("TABLE")
_TERADATA_QUERIES = words("SELECT SEL WITH INSERT INS CREATE REPLACE MERGE UPDATE UPD LOCKING LOCK")

RULES: tuple[GrammarRule, ...] = (
    # ── overrides of the parser ──────────────────────────────────────────────────────────────────────────────────
    GrammarRule(
        dialect="mysql",
        everywhere=True,
        when=When.PARSER,
        example="SELECT a, count(*) FROM t GROUP BY a DESC, b",
        reason="MySQL 5: the order is no part of the groups (docs: GROUP BY Modifiers). sqlglot stops at DESC.",
        overrides={"_parse_group": parse_group_order},
    ),
    GrammarRule(
        dialect="databricks",
        everywhere=True,
        when=When.PARSER,
        example="SELECT * FROM t PIVOT (sum(a) / 2 AS half FOR k IN (1, 2))",
        reason="Spark: an aggregation may be computed with (docs: PIVOT clause). sqlglot reads a function call alone.",
        overrides={"_parse_pivot_aggregation": parse_computed_aggregates},
    ),
    GrammarRule(
        dialect="mysql",
        when=When.PARSER,
        example="INSERT DELAYED INTO t (a) SELECT b FROM s",
        reason="Words that say when the statement is run (docs: INSERT, UPDATE and DELETE statements).",
        overrides={
            "_parse_insert": skip_words(*_PRIORITIES),
            "_parse_update": skip_words(*_PRIORITIES, "IGNORE"),
            "_parse_delete": skip_words(*_PRIORITIES, "IGNORE"),
        },
    ),
    GrammarRule(
        dialect="databricks",
        when=When.PARSER,
        example="MERGE WITH SCHEMA EVOLUTION INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *",
        reason="New columns of the source are added to the target (docs: MERGE INTO). sqlglot stops at WITH.",
        overrides={"_parse_merge": skip_phrase("WITH", "SCHEMA", "EVOLUTION")},
    ),
    GrammarRule(
        dialect="tsql",
        when=When.PARSER,
        example="UPDATE TOP (10) PERCENT t SET a = b",
        reason="How many rows are changed is no lineage (docs: TOP).",
        overrides={"_parse_insert": skip_top, "_parse_update": skip_top, "_parse_delete": skip_top},
    ),
    GrammarRule(
        dialect="tsql",
        when=When.PARSER,
        example="DELETE FROM x FROM t AS x WHERE x.a = 1",
        reason="A second FROM with the sources (docs: DELETE, FROM table_source).",
        overrides={"_parse_delete": parse_second_from},
    ),
    *(
        GrammarRule(
            dialect=dialect,
            when=When.PARSER,
            example="REPLACE INTO t (a) SELECT b FROM s",
            sqlglot=Sqlglot.KEEPS,
            reason="REPLACE writes as INSERT does (docs: REPLACE).",
            tables={"STATEMENT_PARSERS": {TokenType.REPLACE: parse_as_insert}},
        )
        for dialect in ("mysql", "sqlite")
    ),
    GrammarRule(
        dialect="athena",
        when=When.PARSER,
        example="USING EXTERNAL FUNCTION f(a varchar) RETURNS varchar LAMBDA 'fn' SELECT f(a) AS b FROM t",
        reason="A function for one query (docs: Query with user defined functions).",
        tables={"STATEMENT_PARSERS": {TokenType.USING: skip_to_query}},
    ),
    *(
        GrammarRule(
            dialect=dialect,
            when=When.PARSER,
            example="CREATE VIEW v AS TABLE t",
            sqlglot=Sqlglot.KEEPS,
            reason="A table as a query (docs: TABLE; of Snowflake, Querying data in tables).",
            overrides={"SUPPORTS_TABLE_QUERY": lambda _: True},
        )
        for dialect in ("spark", "snowflake")
    ),
    *(
        GrammarRule(
            dialect="",
            everywhere=True,
            when=When.PARSER,
            example=f"SELECT {function}({arguments}) AS x FROM t",
            reason="Words among the arguments (standard: SQL/XML). sqlglot reads names and values alone.",
            tables={"FUNCTION_PARSERS": {function: parse_xml_function(function)}},
        )
        for function, arguments in (
            ("XMLPARSE", "CONTENT a PRESERVE WHITESPACE"),
            ("XMLSERIALIZE", "DOCUMENT a AS varchar(9)"),
        )
    ),
    *(
        GrammarRule(
            dialect="",
            everywhere=True,
            when=When.PARSER,
            example=f"SELECT {function}('/a/b' {arguments}) AS x FROM t",
            reason="Documents behind PASSING (standard: SQL/XML). sqlglot reads names and values alone.",
            tables={"FUNCTION_PARSERS": {function: parse_xml_passing(function)}},
        )
        for function, arguments in (
            ("XMLQUERY", 'PASSING a AS "d" RETURNING CONTENT'),
            ("XMLEXISTS", "PASSING BY REF a"),
        )
    ),
    GrammarRule(
        dialect="oracle",
        when=When.PARSER,
        example="SELECT EXTRACT(doc, '/a/b') AS x FROM t",
        sqlglot=Sqlglot.MISREADS,
        reason="A part of a document (docs: EXTRACT (XML)). sqlglot takes the document for the field of a date.",
        tables={"FUNCTION_PARSERS": {"EXTRACT": parse_extract}},
    ),
    GrammarRule(
        dialect="oracle",
        when=When.PARSER,
        example="SELECT translate(a USING CHAR_CS) AS b FROM t",
        reason="A change of the character set (docs: TRANSLATE … USING). sqlglot expects three arguments.",
        tables={"FUNCTION_PARSERS": {"TRANSLATE": parse_translate}},
    ),
    GrammarRule(
        dialect="postgres",
        when=When.PARSER,
        example="SELECT json_object(keys, vals) AS d FROM t",
        sqlglot=Sqlglot.MISREADS,
        reason="Texts that hold keys and values (docs: JSON Functions). sqlglot reads pairs.",
        tables={"FUNCTION_PARSERS": {"JSON_OBJECT": parse_json_object}},
    ),
    GrammarRule(
        dialect="tsql",
        when=When.PARSER,
        example="CREATE VIEW v AS SELECT PARSE(a AS date USING 'en-US') AS b FROM t",
        reason="A cast with the culture of the text (docs: PARSE).",
        tables={"FUNCTION_PARSERS": dict.fromkeys(("PARSE", "TRY_PARSE"), parse_culture)},
    ),
    GrammarRule(
        dialect="spark",
        everywhere=True,
        when=When.PARSER,
        example="SELECT +a FROM t",
        sqlglot=Sqlglot.MISREADS,
        reason="Engines name the column after the sign. sqlglot drops it.",
        tables={"UNARY_PARSERS": {TokenType.PLUS: lambda _: parse_unary_plus}},
    ),
    *(
        GrammarRule(
            dialect=dialect,
            when=When.PARSER,
            example="SELECT @ -a AS x, |/ b AS y, ||/ c AS z FROM t",
            reason="Operators before their operand (docs: Mathematical Functions and Operators).",
            tables={
                "UNARY_PARSERS": {
                    TokenType.PARAMETER: lambda _: parse_absolute,
                    TokenType.PIPE_SLASH: parse_sign_function("DSQRT"),
                    TokenType.DPIPE_SLASH: parse_sign_function("DCBRT"),
                }
            },
        )
        for dialect in ("postgres", "redshift")
    ),
    *(
        GrammarRule(
            dialect="postgres",
            when=When.PARSER,
            example=example,
            reason="Words among the arguments (docs: XML Functions). sqlglot reads names and values alone.",
            tables={"FUNCTION_PARSERS": {function: parse}},
        )
        for function, parse, example in (
            ("XMLPI", parse_xml_instruction, "SELECT xmlpi(NAME php, a) AS x FROM t"),
            ("XMLROOT", parse_xml_root, "SELECT xmlroot(a, VERSION NO VALUE, STANDALONE YES) AS x FROM t"),
        )
    ),
    # ── clauses without lineage, dropped before parsing ──────────────────────────────────────────────────────────
    GrammarRule(
        dialect="tsql",
        when=When.DROPPED,
        example="SELECT a FROM t OPTION (USE HINT ('x'), MAXDOP 1)",
        reason="Hints for the optimizer (docs: OPTION clause). sqlglot knows only some of them.",
        phrases=(phrase("OPTION", brackets=True),),
    ),
    GrammarRule(
        dialect="tsql",
        when=When.DROPPED,
        example="CREATE TABLE t (a int IDENTITY(1, 1) PRIMARY KEY CLUSTERED, b varbinary(max) FILESTREAM)",
        reason="How a table is stored (docs: CREATE TABLE). sqlglot knows only some of these words, in some places.",
        first=_TABLE,
        phrases=(
            phrase("CLUSTERED COLUMNSTORE"),
            phrase("NONCLUSTERED HASH"),
            phrase("CLUSTERED"),
            phrase("NONCLUSTERED"),
            phrase("ROWGUIDCOL"),
            phrase("ASC"),
            phrase("DESC"),
            phrase("SPARSE", modifies=True),
            phrase("NOT FOR REPLICATION"),
            phrase("MASKED WITH", brackets=True),
            phrase("TEXTIMAGE_ON", values=1, modifies=True),
            phrase("FILESTREAM_ON", values=1, modifies=True),
            phrase("FILESTREAM", modifies=True),
            phrase("AS NODE", outside=True),
            phrase("AS EDGE", outside=True),
        ),
    ),
    GrammarRule(
        dialect="tsql",
        when=When.DROPPED,
        example="CREATE TABLE t (a int IDENTITY(1, 1) INDEX ix (a) WHERE a > 1, b AS a + 1) ON [PRIMARY]",
        reason="Inline indexes, options and file groups of a table (docs: CREATE TABLE).",
        first=_TABLE,
        rewrite=drop_storage,
    ),
    GrammarRule(
        dialect="tsql",
        when=When.DROPPED,
        example="SELECT a FROM t WITH (INDEX = ix)",
        reason="Table hints (docs: Table hints). sqlglot knows some of them, and none in an INSERT.",
        needs=("WITH", "("),
        rewrite=drop_storage,
    ),
    GrammarRule(
        dialect="tsql",
        when=When.DROPPED,
        example="WITH XMLNAMESPACES ('urn:a' AS a) SELECT b FROM t",
        reason="Prefixes of XML names (docs: WITH XMLNAMESPACES). sqlglot takes it for a CTE.",
        needs=("XMLNAMESPACES",),
        rewrite=drop_xml_namespaces,
    ),
    GrammarRule(
        dialect="hive",
        when=When.DROPPED,
        example="CREATE MATERIALIZED VIEW m DISABLE REWRITE COMMENT 'keys' AS SELECT a FROM t",
        sqlglot=Sqlglot.KEEPS,
        reason="Whether queries may be answered from the view (docs: Materialized views).",
        phrases=(phrase("DISABLE REWRITE"),),
    ),
    GrammarRule(
        dialect="hive",
        when=When.DROPPED,
        example="INSERT OVERWRITE TABLE t PARTITION (day = '1') IF NOT EXISTS SELECT a FROM s",
        reason="Nothing is written if the partition exists (docs: Inserting data into Hive tables from queries).",
        first=words("INSERT"),
        phrases=(phrase("IF NOT EXISTS"),),
    ),
    # ── statements that are rewritten before parsing ─────────────────────────────────────────────────────────────
    GrammarRule(
        dialect="tsql",
        when=When.BEFORE,
        example="UPDATE t SET a += b",
        reason="The column is read too (docs: Compound operators). sqlglot reads two signs.",
        needs=("=",),
        rewrite=expand_compound_assignments,
    ),
    GrammarRule(
        dialect="spark",
        everywhere=True,
        when=When.BEFORE,
        example="ALTER VIEW v AS SELECT a FROM t",
        sqlglot=Sqlglot.MISREADS,
        reason="A view with a new query is a definition (docs: ALTER VIEW).",
        first=words("ALTER"),
        rewrite=rewrite_alter_view,
    ),
    GrammarRule(
        dialect="postgres",
        everywhere=True,
        when=When.BEFORE,
        example="CREATE RECURSIVE VIEW v (n) AS SELECT 1 UNION ALL SELECT n + 1 FROM v",
        sqlglot=Sqlglot.KEEPS,
        reason="The view's name in its own query is the recursion (docs: CREATE VIEW).",
        first=words("CREATE"),
        rewrite=rewrite_recursive_view,
    ),
    GrammarRule(
        dialect="mysql",
        when=When.BEFORE,
        example="SELECT SQL_CACHE a FROM t",
        sqlglot=Sqlglot.MISREADS,
        reason="MySQL 5: an option of the query cache (docs: SELECT). sqlglot takes it for a column named `a`.",
        first=words("SELECT"),
        rewrite=drop_query_cache,
    ),
    GrammarRule(
        dialect="mysql",
        when=When.BEFORE,
        example="UPDATE t SET a = @n := @n + 1, b = c",
        reason="An assignment inside a value (docs: Assignment operators). sqlglot stops at the second sign.",
        first=words("UPDATE"),
        rewrite=bracket_assignments,
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.BEFORE,
        example="ALTER TABLE t UPDATE a = b + 1 WHERE id = 1",
        sqlglot=Sqlglot.KEEPS,
        reason="A mutation changes rows (docs: ALTER TABLE … UPDATE and DELETE).",
        first=words("ALTER"),
        rewrite=rewrite_mutation,
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.BEFORE,
        example="ALTER TABLE v MODIFY QUERY SELECT a FROM t",
        sqlglot=Sqlglot.KEEPS,
        reason="A materialized view gets another query (docs: ALTER TABLE … MODIFY QUERY).",
        first=words("ALTER"),
        rewrite=rewrite_modify_query,
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.BEFORE,
        example="INSERT INTO t (id) FORMAT CSV 1",
        reason="Rows in another format than SQL (docs: INSERT INTO).",
        first=words("INSERT"),
        rewrite=rewrite_format_rows,
    ),
    GrammarRule(
        dialect="teradata",
        when=When.BEFORE,
        example="LOCKING TABLE t FOR ACCESS SELECT a FROM t",
        sqlglot=Sqlglot.MISREADS,
        reason="How the tables are locked (docs: LOCKING request modifier).",
        first=words("LOCKING LOCK"),
        rewrite=strip_locking,
    ),
    GrammarRule(
        dialect="teradata",
        when=When.BEFORE,
        example="UPDATE x FROM t AS x, s SET v = s.v WHERE s.id = x.id",
        reason="The sources stand before SET (docs: UPDATE). sqlglot takes SET for the alias of the last one.",
        first=words("UPDATE UPD"),
        rewrite=alias_last_source,
    ),
    GrammarRule(
        dialect="teradata",
        when=When.BEFORE,
        example="SELECT a (FORMAT 'YYYY') AS y, b (DATE) AS d FROM t",
        sqlglot=Sqlglot.MISREADS,
        reason="How a value is shown, or a cast (docs: Data type formats). sqlglot reads a function call.",
        first=_TERADATA_QUERIES,
        rewrite=rewrite_teradata_formats,
    ),
    GrammarRule(
        dialect="oracle",
        when=When.BEFORE,
        example=(
            "SELECT c, y, s FROM t MODEL PARTITION BY (c) DIMENSION BY (y) MEASURES (a s, b) RULES (s[1] = b[2] * 2)"
        ),
        reason="Cells that are computed (docs: SELECT, model_clause). The measures read what their rules read.",
        needs=("MODEL", "MEASURES"),
        rewrite=rewrite_models,
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.BEFORE,
        example="SELECT a, b FROM t ORDER BY c LIMIT 2, 1 BY a, b LIMIT 10",
        reason="The rows of a group, then of the result (docs: LIMIT BY). sqlglot knows one LIMIT.",
        needs=("LIMIT", "BY"),
        rewrite=shorten_limits,
    ),
    GrammarRule(
        dialect="mysql",
        when=When.BEFORE,
        example="DELETE FROM t, u USING t JOIN u ON t.a = u.a",
        sqlglot=Sqlglot.MISREADS,
        reason="Several targets before USING (docs: DELETE, Multi-Table Deletes). sqlglot takes the first alone.",
        first=words("DELETE"),
        needs=("USING", ","),
        rewrite=rewrite_multiple_deletion,
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.BEFORE,
        example="SELECT COLUMNS(a, b) APPLY toString, COLUMNS(c, d) FROM t",
        reason="A list of columns (docs: SELECT, Dynamic column selection). sqlglot expects a pattern.",
        needs=("COLUMNS", "("),
        rewrite=expand_column_lists,
    ),
    GrammarRule(
        dialect="tsql",
        when=When.BEFORE,
        example="SELECT geography::Point(a, b, 4326) AS g, hierarchyid::Parse(c) AS h FROM t",
        sqlglot=Sqlglot.MISREADS,
        reason="A method of a type (docs: Static methods of geography). sqlglot reads a cast.",
        needs=("::", "("),
        rewrite=merge_static_methods,
    ),
    GrammarRule(
        dialect="teradata",
        when=When.BEFORE,
        example="CREATE MULTISET TABLE t, FALLBACK, MAP = td_map1 (a int, b int)",
        reason="Options before the columns (docs: CREATE TABLE). sqlglot loses the columns behind MAP.",
        first=_TABLE,
        rewrite=drop_table_options,
    ),
    *(
        GrammarRule(
            dialect=dialect,
            when=When.BEFORE,
            example=example,
            sqlglot=sqlglot,
            reason=f"{reason} (docs: UPDATE). sqlglot expects a table.",
            first=words("UPDATE"),
            rewrite=rewrite_inline_target,
        )
        for dialect, sqlglot, reason, example in (
            (
                "oracle",
                Sqlglot.FAILS,
                "The columns of an inline view are updated",
                "UPDATE (SELECT t.v AS old, s.v AS new FROM t JOIN s ON s.id = t.id) SET old = new",
            ),
            (
                "mysql",
                Sqlglot.MISREADS,
                "A query may be the first of several sources",
                "UPDATE (SELECT id, v FROM s) AS x JOIN t ON t.id = x.id SET t.a = x.v",
            ),
        )
    ),
    GrammarRule(
        dialect="tsql",
        when=When.BEFORE,
        example="DELETE OPENQUERY (srv, 'SELECT a FROM db.t WHERE b = 1')",
        sqlglot=Sqlglot.MISREADS,
        reason="A table of another server is written (docs: OPENQUERY, OPENDATASOURCE). sqlglot keeps no name of it.",
        first=words("INSERT UPDATE DELETE"),
        rewrite=rewrite_remote_target,
    ),
    GrammarRule(
        dialect="oracle",
        when=When.BEFORE,
        example="SELECT a, con_id FROM CONTAINERS(hr.t) WHERE con_id = 5",
        sqlglot=Sqlglot.MISREADS,
        reason="The rows of a table in all databases of a container (docs: SELECT, containers_clause).",
        needs=("CONTAINERS", "("),
        rewrite=unwrap_containers,
    ),
    GrammarRule(
        dialect="oracle",
        when=When.BEFORE,
        example="DELETE FROM (SELECT t.a FROM t WHERE t.b = 1) WHERE a = 2",
        sqlglot=Sqlglot.MISREADS,
        reason="The rows of an inline view are deleted (docs: DELETE). sqlglot keeps no name of a table.",
        first=words("DELETE"),
        rewrite=rewrite_inline_deletion,
    ),
    GrammarRule(
        dialect="oracle",
        when=When.BEFORE,
        example="MERGE INTO t USING s ON (t.id = s.id) WHEN MATCHED THEN UPDATE SET v = s.v DELETE WHERE t.v = 0",
        reason="A deletion inside the arm of an update (docs: MERGE). sqlglot stops at DELETE.",
        first=words("MERGE"),
        rewrite=rewrite_merge_delete,
    ),
    GrammarRule(
        dialect="postgres",
        when=When.BEFORE,
        example="SELECT at + INTERVAL '1-2' YEAR TO MONTH AS later FROM t",
        sqlglot=Sqlglot.MISREADS,
        reason="The fields belong to the type (docs: Interval Input). sqlglot takes `YEAR TO MONTH` for the unit.",
        first=words("SELECT WITH INSERT UPDATE DELETE MERGE CREATE"),
        rewrite=rewrite_intervals,
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.BEFORE,
        example="INSERT INTO t (a) VALUES (1)(2)",
        sqlglot=Sqlglot.MISREADS,
        reason="Commas between rows are optional (docs: INSERT INTO, Values). sqlglot loses rows.",
        first=words("INSERT"),
        needs=("VALUES",),
        rewrite=separate_rows,
    ),
    GrammarRule(
        dialect="materialize",
        when=When.BEFORE,
        example="CREATE TABLE t FROM SOURCE s (REFERENCE public.t)",
        sqlglot=Sqlglot.MISREADS,
        reason="A table with the rows of a source (docs: CREATE TABLE). sqlglot reads an empty table.",
        first=words("CREATE"),
        rewrite=rewrite_table_from_source,
    ),
    GrammarRule(
        dialect="redshift",
        when=When.BEFORE,
        example="MERGE INTO t USING s ON t.id = s.id REMOVE DUPLICATES",
        reason="A short form of both arms (docs: MERGE). sqlglot expects WHEN.",
        first=words("MERGE"),
        rewrite=rewrite_remove_duplicates,
    ),
    GrammarRule(
        dialect="databricks",
        when=When.BEFORE,
        example="APPLY CHANGES INTO t FROM stream(s) KEYS (id) SEQUENCE BY seq COLUMNS * EXCEPT (seq)",
        reason="Changes of a source are written to a table (docs: AUTO CDC INTO).",
        first=words("APPLY"),
        rewrite=rewrite_apply_changes,
    ),
    GrammarRule(
        dialect="databricks",
        when=When.BEFORE,
        example="CREATE FLOW f AS INSERT INTO t BY NAME SELECT a FROM s",
        sqlglot=Sqlglot.KEEPS,
        reason="A flow runs a statement (docs: CREATE FLOW).",
        first=words("CREATE"),
        rewrite=rewrite_flow,
    ),
    GrammarRule(
        dialect="spark",
        when=When.BEFORE,
        example="CREATE TEMPORARY VIEW v USING org.apache.spark.sql.jdbc OPTIONS (url 'jdbc:x', dbtable 's.t')",
        sqlglot=Sqlglot.KEEPS,
        reason="A source by the name of its class (docs: CREATE VIEW … USING). sqlglot reads one word.",
        first=words("CREATE"),
        rewrite=shorten_format_class,
    ),
    GrammarRule(
        dialect="spark",
        when=When.BEFORE,
        example="INSERT OVERWRITE DIRECTORY USING parquet OPTIONS (path '/tmp/x') SELECT a FROM t",
        reason="The format of the files, and the path as an option (docs: INSERT OVERWRITE DIRECTORY). sqlglot expects "
        "the path behind DIRECTORY and stops at USING.",
        first=words("INSERT WITH"),
        rewrite=rewrite_directory,
    ),
    # ── words that are replaced or dropped if parsing failed ─────────────────────────────────────────────────────
    GrammarRule(
        dialect="hive",
        everywhere=True,
        when=When.FAILED,
        example="SELECT a FROM t TABLESAMPLE (100M) s",
        reason="Samples by size (docs: Sampling). sqlglot reads rows, percents and buckets.",
        phrases=(phrase("TABLESAMPLE", brackets=True),),
    ),
    GrammarRule(
        dialect="postgres",
        everywhere=True,
        when=When.FAILED,
        example="INSERT INTO t (id) OVERRIDING SYSTEM VALUE SELECT id FROM s",
        reason="Which value an identity column gets (docs: INSERT).",
        phrases=(phrase("OVERRIDING SYSTEM VALUE"), phrase("OVERRIDING USER VALUE")),
    ),
    GrammarRule(
        dialect="dremio",
        everywhere=True,
        when=When.FAILED,
        example="SELECT id FROM nessie.orders AT BRANCH main",
        reason="A version of a table (docs: SELECT, AT).",
        phrases=tuple(phrase(f"AT {kind}", values=1) for kind in ("BRANCH", "TAG", "COMMIT", "REFERENCE")),
    ),
    GrammarRule(
        dialect="dremio",
        everywhere=True,
        when=When.FAILED,
        example="CREATE VDS v AS SELECT a FROM t",
        sqlglot=Sqlglot.KEEPS,
        reason="A virtual dataset is a view (docs: CREATE VIEW; VDS is older).",
        phrases=(
            phrase("CREATE VDS", "CREATE VIEW"),
            phrase("CREATE OR REPLACE VDS", "CREATE OR REPLACE VIEW"),
        ),
    ),
    GrammarRule(
        dialect="snowflake",
        everywhere=True,
        when=When.FAILED,
        example="CREATE LOCAL TEMP TABLE t (a int UNIQUE)",
        sqlglot=Sqlglot.KEEPS,
        reason="LOCAL is a word of the standard without effect (docs: CREATE TABLE).",
        phrases=(phrase("LOCAL TEMPORARY", "TEMPORARY"), phrase("LOCAL TEMP", "TEMPORARY")),
    ),
    GrammarRule(
        dialect="postgres",
        everywhere=True,
        when=When.FAILED,
        example="DROP FOREIGN TABLE t",
        sqlglot=Sqlglot.KEEPS,
        reason="A kind of table that is created and dropped as any other (docs: DROP FOREIGN TABLE).",
        phrases=(
            phrase("CREATE FOREIGN TABLE", "CREATE EXTERNAL TABLE"),
            phrase("DROP FOREIGN TABLE", "DROP TABLE"),
            phrase("DROP EXTERNAL TABLE", "DROP TABLE"),
            phrase("DROP DYNAMIC TABLE", "DROP TABLE"),
            phrase("DROP STREAMING TABLE", "DROP TABLE"),
        ),
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.FAILED,
        example="SELECT a, b FROM l LEFT ANY OUTER JOIN r USING k",
        reason="OUTER behind the strictness of a join (docs: JOIN clause). sqlglot expects it before.",
        phrases=tuple(phrase(f"{strictness} OUTER", strictness) for strictness in ("ANY", "ALL", "ASOF")),
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.FAILED,
        example="CREATE WINDOW VIEW w TO t AS SELECT count(a) FROM s GROUP BY tumble(at, INTERVAL '1' MINUTE)",
        sqlglot=Sqlglot.KEEPS,
        reason="A materialized view of time windows (docs: CREATE VIEW, Window View).",
        first=words("CREATE"),
        phrases=(phrase("WINDOW VIEW", "MATERIALIZED VIEW"),),
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.FAILED,
        example="TRUNCATE TABLE IF EXISTS t SYNC",
        sqlglot=Sqlglot.KEEPS,
        reason="The statement waits until the rows are gone (docs: TRUNCATE).",
        first=words("TRUNCATE"),
        phrases=(phrase("SYNC", modifies=True),),
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.FAILED,
        example="CREATE VIEW v AS SELECT a FROM t COMMENT 'what it shows'",
        sqlglot=Sqlglot.KEEPS,
        reason="A comment behind the query (docs: CREATE VIEW).",
        first=_DEFINITIONS,
        phrases=(phrase("COMMENT", literal=True),),
    ),
    GrammarRule(
        dialect="sqlite",
        when=When.FAILED,
        example="UPDATE OR IGNORE t SET a = 1",
        reason="What happens if a constraint is violated (docs: UPDATE). sqlglot knows it in INSERT alone.",
        first=words("UPDATE"),
        phrases=tuple(
            phrase(f"UPDATE OR {action}", "UPDATE") for action in ("ABORT", "FAIL", "IGNORE", "REPLACE", "ROLLBACK")
        ),
    ),
    GrammarRule(
        dialect="postgres",
        when=When.FAILED,
        example="SELECT f(VARIADIC p => ARRAY[t.a]) AS x FROM t",
        reason="An array as the last arguments (docs: Calling Functions).",
        phrases=(
            phrase("( VARIADIC", "("),
            phrase(", VARIADIC", ","),
        ),
    ),
    GrammarRule(
        dialect="postgres",
        when=When.FAILED,
        example="CREATE TABLE t (a bit varying(5))",
        reason="The long name of VARBIT (docs: Bit String Types). sqlglot stops at its length.",
        phrases=(phrase("BIT VARYING", "VARBIT"),),
    ),
    GrammarRule(
        dialect="materialize",
        when=When.FAILED,
        example="CREATE SOURCE s FROM KAFKA CONNECTION c (TOPIC 't') FORMAT JSON",
        reason="A table outside of the database (docs: CREATE SOURCE).",
        phrases=(phrase("CREATE SOURCE", "CREATE EXTERNAL TABLE"),),
    ),
    GrammarRule(
        dialect="risingwave",
        when=When.FAILED,
        example="CREATE MATERIALIZED VIEW v AS SELECT a, sum(b) AS s FROM t GROUP BY a EMIT ON WINDOW CLOSE",
        sqlglot=Sqlglot.KEEPS,
        reason="When rows are written (docs: Emit on window close).",
        phrases=(phrase("EMIT ON WINDOW CLOSE"),),
    ),
    GrammarRule(
        dialect="postgres",
        when=When.FAILED,
        example="CREATE TABLE t (id int, valid daterange, PRIMARY KEY (id, valid WITHOUT OVERLAPS))",
        reason="A temporal key (docs: CREATE TABLE).",
        phrases=(phrase("WITHOUT OVERLAPS"),),
    ),
    GrammarRule(
        dialect="duckdb",
        when=When.FAILED,
        example="INSERT INTO t BY POSITION SELECT a FROM s",
        reason="The usual order of columns, said aloud (docs: INSERT). sqlglot knows BY NAME alone.",
        phrases=(phrase("BY POSITION"),),
    ),
    GrammarRule(
        dialect="mysql",
        when=When.FAILED,
        example="SELECT SQL_NO_CACHE DISTINCT a FROM t",
        reason="MySQL 5: an option of the query cache (docs: SELECT).",
        phrases=(phrase("SELECT SQL_NO_CACHE", "SELECT"),),
    ),
    GrammarRule(
        dialect="doris",
        when=When.FAILED,
        example="INSERT INTO t WITH LABEL load_1 (a) SELECT b FROM s",
        reason="The name of the load (docs: INSERT). sqlglot takes WITH for the query.",
        first=words("INSERT"),
        phrases=(phrase("WITH LABEL", values=1),),
    ),
    GrammarRule(
        dialect="mysql",
        when=When.FAILED,
        example="CREATE TABLE t (a point NOT NULL SRID 4326, b varchar(10) UNIQUE)",
        reason="The reference system of a place (docs: Creating spatial columns).",
        first=_DEFINITIONS,
        phrases=(phrase("SRID", literal=True),),
    ),
    GrammarRule(
        dialect="doris",
        when=When.FAILED,
        example="DELETE FROM t PARTITION p1 USING q WHERE t.id = q.id",
        reason="A partition without parentheses (docs: DELETE).",
        first=words("DELETE"),
        phrases=(phrase("PARTITION", values=1),),
    ),
    GrammarRule(
        dialect="teradata",
        when=When.FAILED,
        example="SELECT NORMALIZE ON MEETS OR OVERLAPS id, during FROM t",
        reason="Rows with neighboring periods become one (docs: NORMALIZE).",
        phrases=(
            phrase("NORMALIZE ON MEETS OR OVERLAPS"),
            phrase("NORMALIZE ON OVERLAPS OR MEETS"),
            phrase("NORMALIZE ON MEETS"),
            phrase("NORMALIZE ON OVERLAPS"),
        ),
    ),
    GrammarRule(
        dialect="snowflake",
        when=When.FAILED,
        example="CREATE HYBRID TABLE t (a int PRIMARY KEY COMMENT 'x')",
        sqlglot=Sqlglot.KEEPS,
        reason="A kind of storage (docs: CREATE HYBRID TABLE).",
        phrases=(phrase("HYBRID TABLE", "TABLE"),),
    ),
    GrammarRule(
        dialect="snowflake",
        when=When.FAILED,
        example="SELECT at, v FROM t RESAMPLE (USING at INCREMENT BY INTERVAL '1 day')",
        reason="Rows for the gaps of a time series (docs: RESAMPLE).",
        phrases=(phrase("RESAMPLE", brackets=True),),
    ),
    GrammarRule(
        dialect="snowflake",
        when=When.FAILED,
        example="CREATE TABLE t (a int UNIQUE COMMENT 'x') CLUSTER BY LINEAR (a)",
        reason="The old form of a clustering key (docs: Clustering keys). sqlglot stops at LINEAR.",
        first=_DEFINITIONS,
        phrases=(Phrase(("CLUSTER BY", "LINEAR"), brackets=True),),
    ),
    GrammarRule(
        dialect="bigquery",
        when=When.FAILED,
        example="DROP TABLE FUNCTION d.f",
        reason="A function that returns a table (docs: DROP TABLE FUNCTION).",
        phrases=(phrase("DROP TABLE FUNCTION", "DROP FUNCTION"),),
    ),
    GrammarRule(
        dialect="bigquery",
        when=When.FAILED,
        example="CREATE MATERIALIZED VIEW d.m AS REPLICA OF d.o",
        sqlglot=Sqlglot.KEEPS,
        reason="A copy of another view (docs: CREATE MATERIALIZED VIEW AS REPLICA OF).",
        phrases=(phrase("AS REPLICA OF", "AS SELECT * FROM"),),
    ),
    GrammarRule(
        dialect="databricks",
        when=When.FAILED,
        example="CREATE OR REFRESH PRIVATE STREAMING TABLE t COMMENT 'x' AS SELECT a FROM s",
        sqlglot=Sqlglot.KEEPS,
        reason="Tables and views of a pipeline (docs: CREATE STREAMING TABLE; LIVE is older).",
        phrases=(
            phrase("OR REFRESH", "OR REPLACE"),
            phrase("TEMPORARY STREAMING LIVE TABLE", "TABLE"),
            phrase("TEMPORARY STREAMING LIVE VIEW", "VIEW"),
            phrase("TEMPORARY LIVE TABLE", "TABLE"),
            phrase("TEMPORARY LIVE VIEW", "VIEW"),
            phrase("PRIVATE STREAMING TABLE", "TABLE"),
            phrase("PRIVATE MATERIALIZED VIEW", "MATERIALIZED VIEW"),
            phrase("LIVE TABLE", "TABLE"),
            phrase("LIVE VIEW", "VIEW"),
        ),
    ),
    GrammarRule(
        dialect="spark",
        when=When.FAILED,
        example="WITH RECURSIVE r (n) MAX RECURSION LEVEL 9 AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT n FROM r",
        reason="How deep a recursion may be (docs: Common table expression). sqlglot expects AS.",
        phrases=(phrase("MAX RECURSION LEVEL", values=1),),
    ),
    GrammarRule(
        dialect="databricks",
        when=When.FAILED,
        example="CREATE MATERIALIZED VIEW v COMMENT 'x' SCHEDULE EVERY 2 HOURS AS SELECT a FROM t",
        sqlglot=Sqlglot.KEEPS,
        reason="When a view is refreshed (docs: CREATE MATERIALIZED VIEW).",
        first=_DEFINITIONS,
        phrases=(
            phrase("SCHEDULE CRON", values=1),
            phrase("SCHEDULE EVERY", values=2),
            phrase("TRIGGER ON UPDATE"),
        ),
    ),
    GrammarRule(
        dialect="oracle",
        when=When.FAILED,
        example="SELECT hired AT LOCAL AS h FROM t",
        reason="The time zone of the session (docs: Datetime expressions). sqlglot expects TIME ZONE.",
        phrases=(phrase("AT LOCAL", "AT TIME ZONE SESSIONTIMEZONE"),),
    ),
    GrammarRule(
        dialect="fabric",
        when=When.FAILED,
        example="CREATE TABLE b AS CLONE OF a AT '2024-01-01T00:00:00'",
        sqlglot=Sqlglot.KEEPS,
        reason="A copy without copied rows (docs: CREATE TABLE AS CLONE OF). sqlglot knows CLONE without OF.",
        phrases=(phrase("AS CLONE OF", "CLONE"),),
    ),
    GrammarRule(
        dialect="tsql",
        when=When.FAILED,
        example="SELECT r.a FROM OPENROWSET(BULK 'f.csv', FORMAT = 'CSV') AS r",
        reason="BULK before the address of a file (docs: OPENROWSET).",
        first=words("SELECT INSERT WITH CREATE MERGE UPDATE DELETE"),
        phrases=(phrase("OPENROWSET ( BULK", "OPENROWSET ("),),
    ),
    GrammarRule(
        dialect="redshift",
        when=When.FAILED,
        example="CREATE TABLE t (a int UNIQUE) DISTSTYLE EVEN INTERLEAVED SORTKEY (a)",
        sqlglot=Sqlglot.KEEPS,
        reason="The order of stored rows (docs: CREATE TABLE). sqlglot knows COMPOUND alone.",
        first=_DEFINITIONS,
        phrases=(phrase("INTERLEAVED SORTKEY", brackets=True),),
    ),
    # ── rewrites if parsing failed, in this order ────────────────────────────────────────────────────────────────
    GrammarRule(
        dialect="oracle",
        everywhere=True,
        when=When.FAILED,
        example="INSERT INTO t (a, b) VALUES (1, 2) RETURNING a, b INTO :x, :y",
        reason="Client variables that get the values (docs: RETURNING INTO clause). sqlglot expects names.",
        needs=("INTO", ":"),
        rewrite=drop_bound_returning,
    ),
    GrammarRule(
        dialect="druid",
        everywhere=True,
        when=When.FAILED,
        example="REPLACE INTO t OVERWRITE ALL SELECT a FROM s PARTITIONED BY MONTH",
        reason="REPLACE writes as INSERT does; partitions follow the query (docs: REPLACE).",
        needs=("INTO", "PARTITIONED BY"),
        rewrite=rewrite_druid_ingestion,
    ),
    GrammarRule(
        dialect="druid",
        everywhere=True,
        when=When.FAILED,
        example="SELECT e.a FROM TABLE(EXTERN('{}', '{}')) EXTEND (a VARCHAR) AS e",
        reason="Columns of external data behind the function (docs: EXTERN). sqlglot stops at EXTEND.",
        needs=("EXTERN", "EXTEND"),
        rewrite=rewrite_extern,
    ),
    GrammarRule(
        dialect="clickhouse",
        everywhere=True,
        when=When.FAILED,
        example="SELECT a FROM ${DB}.${SOURCE}",
        reason="A placeholder that is filled outside of the SQL (`placeholders.py`).",
        rewrite=replace_placeholders,
    ),
    GrammarRule(
        dialect="clickhouse",
        everywhere=True,
        when=When.FAILED,
        example="SELECT * EXCEPT N'x'N'x'(k) FROM t",
        reason="Adjacent strings are one (standard: character string literals). sqlglot knows it in some places.",
        rewrite=join_strings,
    ),
    GrammarRule(
        dialect="trino",
        everywhere=True,
        when=When.FAILED,
        example="SELECT n + 1_000 AS more FROM t WHERE n >= 10_000_000",
        reason="Digits in groups (docs: Literals). sqlglot reads a number and a name.",
        rewrite=join_numbers,
    ),
    GrammarRule(
        dialect="postgres",
        everywhere=True,
        when=When.FAILED,
        example="SELECT a <->> b AS c FROM t",
        reason="An operator of an extension (docs: CREATE OPERATOR). sqlglot stops at the second sign.",
        rewrite=rewrite_custom_operators,
    ),
    GrammarRule(
        dialect="bigquery",
        everywhere=True,
        when=When.FAILED,
        example="SELECT * FROM APPENDS(TABLE d.t, NULL, NULL)",
        reason="A table as an argument (docs: APPENDS). sqlglot expects a value.",
        needs=("TABLE", "("),
        rewrite=rewrite_table_arguments,
    ),
    GrammarRule(
        dialect="bigquery",
        everywhere=True,
        when=When.FAILED,
        example="SELECT w.weight FROM ML.WEIGHTS(MODEL d.m) AS w",
        reason="A model as an argument (docs: ML.WEIGHTS). sqlglot expects a value.",
        needs=("MODEL", "("),
        rewrite=rewrite_table_arguments,
    ),
    GrammarRule(
        dialect="clickhouse",
        everywhere=True,
        when=When.FAILED,
        example="SELECT groupFormat('CSV')(a, b) AS c, quantile(0.5)(b) AS d FROM t",
        reason="Parameters before arguments (docs: Parametric aggregate functions). sqlglot knows its own functions.",
        needs=("SELECT", "(", ")"),
        rewrite=merge_call_parameters,
    ),
    GrammarRule(
        dialect="",
        everywhere=True,
        when=When.FAILED,
        example=(
            "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY at MEASURES a.at AS f AFTER MATCH SKIP PAST LAST ROW "
            "PATTERN (a b) WITHIN INTERVAL '1' HOUR DEFINE a AS k = 'open') AS m"
        ),
        reason="Flink: how long a match may last (docs: Pattern Recognition). sqlglot expects DEFINE.",
        needs=("MATCH_RECOGNIZE", "WITHIN"),
        rewrite=drop_pattern_within,
    ),
    GrammarRule(
        dialect="postgres",
        everywhere=True,
        when=When.FAILED,
        example="SELECT is(a, 1, 'one') AS ok FROM t",
        reason="A function of that name (pgTAP docs: is()). sqlglot reads the operator.",
        needs=("IS", "("),
        rewrite=rewrite_is_function,
    ),
    GrammarRule(
        dialect="postgres",
        everywhere=True,
        when=When.FAILED,
        example="SELECT j.id, x FROM a LEFT JOIN b USING (id) AS j",
        reason="A name for the joined columns (docs: Joined Tables).",
        needs=("JOIN", "USING", "AS"),
        rewrite=strip_join_aliases,
    ),
    GrammarRule(
        dialect="spark",
        everywhere=True,
        when=When.FAILED,
        example="SELECT id, age FROM t LATERAL VIEW OUTER EXPLODE(ages) a age",
        reason="Columns without AS (docs: LATERAL VIEW).",
        needs=("LATERAL", "VIEW"),
        rewrite=alias_lateral_views,
    ),
    *(
        GrammarRule(
            dialect="hive",
            everywhere=True,
            when=When.FAILED,
            example=example,
            reason="Rows that go through a program (docs: Transform). sqlglot knows SELECT TRANSFORM.",
            needs=(verb, "USING"),
            rewrite=rewrite_transform,
        )
        for verb, example in (
            ("MAP", "SELECT m.k FROM (FROM t MAP t.a, t.b USING 'map.py' AS k, v) m"),
            ("REDUCE", "FROM t INSERT OVERWRITE TABLE r REDUCE t.a, t.b USING 'reduce.py' AS k, v"),
        )
    ),
    GrammarRule(
        dialect="oracle",
        everywhere=True,
        when=When.FAILED,
        example="SELECT json_query(doc, '$.a' WITHOUT WRAPPER) AS a FROM t",
        reason="Options of JSON functions (docs: JSON_QUERY). sqlglot knows some of them, in some orders.",
        needs=("(",),
        rewrite=drop_json_clauses,
    ),
    GrammarRule(
        dialect="oracle",
        everywhere=True,
        when=When.FAILED,
        example="SELECT prediction(m USING age AS years, city) AS p FROM t",
        reason="A model and its inputs (docs: PREDICTION). sqlglot stops at USING.",
        needs=("USING", "("),
        rewrite=rewrite_prediction,
    ),
    GrammarRule(
        dialect="duckdb",
        when=When.BEFORE,
        example="SELECT list_transform(t.a, (LAMBDA x: (x + 1))) AS b FROM t",
        reason="Views are printed with brackets around lambdas (docs: Lambda Functions). sqlglot reads bare ones.",
        needs=("LAMBDA",),
        rewrite=unwrap_lambdas,
    ),
    GrammarRule(
        dialect="postgres",
        when=When.FAILED,
        example="SELECT m.a FROM t, xmltable(('/r'::text) PASSING (t.doc) COLUMNS a integer PATH ('@a'::text)) AS m",
        reason="Views are printed with casts around constants (docs: pg_get_viewdef). sqlglot reads bare ones.",
        needs=("XMLTABLE",),
        rewrite=unwrap_xml_constants,
    ),
    GrammarRule(
        dialect="mysql",
        everywhere=True,
        when=When.FAILED,
        example="SELECT j.a FROM t, json_table(t.doc, '$[*]' COLUMNS (a int PATH '$.a' ERROR ON ERROR)) AS j",
        reason="What happens without a value (docs: JSON_TABLE).",
        needs=("JSON_TABLE", "ON"),
        rewrite=drop_json_column_clauses,
    ),
    GrammarRule(
        dialect="oracle",
        everywhere=True,
        when=When.FAILED,
        example="SELECT json_object(t.* ABSENT ON NULL) AS d FROM t",
        reason="A whole row as a document (docs: JSON_OBJECT). sqlglot expects keys.",
        needs=("JSON_OBJECT", "*"),
        rewrite=rewrite_json_row,
    ),
    GrammarRule(
        dialect="tsql",
        everywhere=True,
        when=When.FAILED,
        example="DELETE FROM t WHERE CURRENT OF @c",
        reason="The row of a cursor is no condition on columns (docs: DELETE). sqlglot reads a column.",
        needs=("CURRENT", "OF"),
        rewrite=drop_current_of,
    ),
    GrammarRule(
        dialect="databricks",
        everywhere=True,
        when=When.FAILED,
        example="SELECT struct(x a, y b).b AS b FROM t",
        reason="Names of members without AS (docs: struct function).",
        needs=("STRUCT", "("),
        rewrite=alias_struct_members,
    ),
    GrammarRule(
        dialect="tsql",
        everywhere=True,
        when=When.FAILED,
        example="SELECT a.name FROM person AS a, knows AS k, person AS b WHERE MATCH(a-(k)->b)",
        reason="A path in a graph (docs: MATCH). sqlglot reads a function call.",
        needs=("MATCH", "("),
        rewrite=rewrite_graph_match,
    ),
    GrammarRule(
        dialect="tsql",
        everywhere=True,
        when=When.FAILED,
        example="SELECT a.n FROM p AS a, k FOR PATH AS k, p FOR PATH AS b WHERE MATCH(SHORTEST_PATH(a(-(k)->b)+))",
        reason="Tables of a path of any length (docs: SHORTEST_PATH). sqlglot reads FOR as the clause at the end.",
        phrases=(
            phrase("FOR PATH", modifies=True),
            phrase("WITHIN GROUP ( GRAPH PATH )"),
        ),
    ),
    GrammarRule(
        dialect="tsql",
        everywhere=True,
        when=When.FAILED,
        example="SELECT TOP (3) WITH APPROXIMATE id FROM t ORDER BY a",
        reason="How rows are searched (docs: TOP).",
        phrases=(phrase("WITH APPROXIMATE"),),
    ),
    GrammarRule(
        dialect="tsql",
        everywhere=True,
        when=When.FAILED,
        example="SELECT id FROM t WHERE CONTAINS(body, 'cat', LANGUAGE 1033)",
        reason="The language of a text search (docs: CONTAINS).",
        needs=("LANGUAGE",),
        rewrite=drop_search_language,
    ),
    GrammarRule(
        dialect="tsql",
        everywhere=True,
        when=When.FAILED,
        example="CREATE TABLE t (a nvarchar(max), v vector(3, float32))",
        reason="The type of the elements (docs: Vector data type).",
        phrases=(
            phrase(", FLOAT32 )", ")"),
            phrase(", FLOAT16 )", ")"),
        ),
    ),
    GrammarRule(
        dialect="tsql",
        everywhere=True,
        when=When.FAILED,
        example="SELECT name FROM ::fn_helpcollations()",
        reason="The old mark of a system function (docs: sys.fn_helpcollations).",
        needs=("::",),
        rewrite=drop_system_marks,
    ),
    GrammarRule(
        dialect="bigquery",
        everywhere=True,
        when=When.FAILED,
        example="SELECT x.v FROM t FOR SYSTEM_TIME AS OF '2020-01-01' AS x",
        reason="An earlier state of a table, and an alias behind it (docs: FOR SYSTEM_TIME AS OF).",
        needs=("SYSTEM_TIME",),
        rewrite=drop_system_time,
    ),
    GrammarRule(
        dialect="oracle",
        everywhere=True,
        when=When.FAILED,
        example="SELECT id FROM t VERSIONS BETWEEN TIMESTAMP MINVALUE AND MAXVALUE",
        reason="All states of the rows (docs: Flashback version query).",
        needs=("VERSIONS", "BETWEEN"),
        rewrite=drop_versions,
    ),
    GrammarRule(
        dialect="spark",
        everywhere=True,
        when=When.FAILED,
        example="SELECT t.id, p.name FROM t JOIN places p APPROX NEAREST 1 BY DISTANCE abs(t.x - p.at)",
        reason="A join with the nearest rows (docs: JOIN).",
        needs=("NEAREST", "BY"),
        rewrite=rewrite_nearest_joins,
    ),
    GrammarRule(
        dialect="hive",
        everywhere=True,
        when=When.FAILED,
        example="SELECT a FROM noop(ON t PARTITION BY a ORDER BY b)",
        reason="A table with its partitions as an argument (docs: Windowing). sqlglot expects a value.",
        needs=("ON", "("),
        rewrite=rewrite_partitioned_rows,
    ),
    GrammarRule(
        dialect="spark",
        everywhere=True,
        when=When.FAILED,
        example="SELECT window.start, sum(v) AS s FROM t GROUP BY window(at, '5 minutes')",
        reason="A function of that name (docs: window grouping expression). sqlglot reads a clause.",
        needs=("WINDOW", "("),
        rewrite=rewrite_window_functions,
    ),
    GrammarRule(
        dialect="",
        everywhere=True,
        when=When.FAILED,
        example="SELECT count(id) AS n FROM t GROUP BY SESSION(at, INTERVAL '1' MINUTE)",
        reason="Flink: a function of that name (docs: Group Window Aggregation). sqlglot reads a keyword.",
        needs=("SESSION", "("),
        rewrite=rewrite_window_functions,
    ),
    GrammarRule(
        dialect="",
        everywhere=True,
        when=When.FAILED,
        example="CREATE TABLE g (k string, f ROW<a int, b ROW<c string>>) WITH ('connector' = 'hbase')",
        reason="Flink: the type of nested rows (docs: Data Types). sqlglot reads a name.",
        needs=("ROW",),
        rewrite=rewrite_rows,
    ),
    GrammarRule(
        dialect="",
        everywhere=True,
        when=When.FAILED,
        example="SELECT ..f(a) AS b FROM .t",
        reason="Qualifiers that a template left empty, as `{{ this.database }}.{{ this.schema }}.f` without a profile.",
        rewrite=drop_empty_qualifiers,
    ),
    GrammarRule(
        dialect="",
        everywhere=True,
        when=When.FAILED,
        example="INSERT INTO s SELECT a FROM t ON CONFLICT DO DEDUPLICATE",
        reason="Flink: what becomes of equal keys (docs: INSERT). sqlglot expects NOTHING or UPDATE.",
        needs=("ON", "CONFLICT", "DO"),
        rewrite=rewrite_rows,
    ),
    *(
        GrammarRule(
            dialect="oracle",
            everywhere=True,
            when=When.FAILED,
            example=f"WITH x (a, b) AS (SELECT a, b FROM t UNION ALL SELECT a, b FROM x) {clause} SELECT a FROM x",
            reason="Several columns, and their order (docs: Search clause, Cycle clause). sqlglot reads one name.",
            needs=(clause.split()[0], "SET"),
            rewrite=keep_first_search_key,
        )
        for clause in ("SEARCH DEPTH FIRST BY a DESC, b NULLS LAST SET o", "CYCLE a, b SET c TO 'Y' DEFAULT 'N'")
    ),
    GrammarRule(
        dialect="spark",
        everywhere=True,
        when=When.FAILED,
        example="SELECT corr(DISTINCT a, b) AS c FROM t",
        reason="DISTINCT with several arguments (docs: corr aggregate function). sqlglot takes them for one.",
        needs=("DISTINCT", "("),
        rewrite=drop_call_distinct,
    ),
    GrammarRule(
        dialect="clickhouse",
        everywhere=True,
        when=When.FAILED,
        example="SELECT sample FROM t",
        reason="A column of that name (docs: Syntax, keywords). sqlglot reads the clause.",
        needs=("SAMPLE",),
        rewrite=rewrite_sample_names,
    ),
    GrammarRule(
        dialect="databricks",
        everywhere=True,
        when=When.FAILED,
        example="CREATE TABLE t (a int, b string MASK hr.hidden USING COLUMNS (a))",
        reason="The function that hides a column (docs: Column mask).",
        needs=("TABLE", "MASK"),
        rewrite=drop_masks,
    ),
    *(
        GrammarRule(
            dialect="duckdb",
            everywhere=True,
            when=When.FAILED,
            example=f"CREATE TABLE p AS {query}",
            sqlglot=Sqlglot.KEEPS,
            reason="The short form of a pivot as a query (docs: PIVOT, UNPIVOT). sqlglot expects SELECT.",
            needs=("CREATE", query.split()[0]),
            rewrite=rewrite_pivot_body,
        )
        for query in ("PIVOT t ON a IN (1, 2) USING sum(b) GROUP BY c", "UNPIVOT t ON a, b INTO NAME n VALUE v")
    ),
    GrammarRule(
        dialect="oracle",
        everywhere=True,
        when=When.FAILED,
        example="INSERT INTO t (a) SELECT b FROM s LOG ERRORS INTO err ('load') REJECT LIMIT UNLIMITED",
        reason="Rows that are refused go elsewhere (docs: INSERT, error logging clause). sqlglot reads aliases.",
        needs=("LOG", "ERRORS"),
        rewrite=drop_error_log,
    ),
    *(
        GrammarRule(
            dialect="duckdb",
            everywhere=True,
            when=When.FAILED,
            example=f"{query} ORDER BY 1 LIMIT 1",
            reason="The short form of a pivot with an order (docs: PIVOT, UNPIVOT). sqlglot stops at ORDER BY.",
            needs=(query.split()[0],),
            rewrite=bracket_ordered_pivots,
        )
        for query in ("PIVOT t ON a IN (1, 2) USING sum(b) GROUP BY c", "UNPIVOT t ON a, b INTO NAME n VALUE v")
    ),
    GrammarRule(
        dialect="postgres",
        everywhere=True,
        when=When.FAILED,
        example="SELECT a FROM t ORDER BY b USING <, a",
        reason="An order by an operator (docs: SELECT, ORDER BY). sqlglot stops at USING.",
        needs=("USING",),
        rewrite=drop_order_operator,
    ),
    GrammarRule(
        dialect="mysql",
        everywhere=True,
        when=When.FAILED,
        example="DELETE t.*, u.* FROM t INNER JOIN u ON t.id = u.id",
        reason="Several tables, with stars as Access writes them (docs: DELETE). sqlglot expects names.",
        needs=("DELETE", ".", "*"),
        rewrite=rewrite_delete_stars,
    ),
    GrammarRule(
        dialect="oracle",
        everywhere=True,
        when=When.FAILED,
        example="SELECT a FROM t WHERE a < = 5",
        reason="A space inside a comparison, which the engine allows. sqlglot reads two signs.",
        needs=("=",),
        rewrite=join_comparisons,
    ),
    GrammarRule(
        dialect="tsql",
        everywhere=True,
        when=When.FAILED,
        example="INSERT INTO g (id) SELECT x.id FROM (DELETE t OUTPUT deleted.id WHERE v = 0) AS x",
        reason="The rows that another statement changes (docs: FROM, dml_table_source). sqlglot expects a query.",
        needs=("OUTPUT", "("),
        rewrite=rewrite_nested_writes,
    ),
    *(
        GrammarRule(
            dialect="tsql",
            everywhere=True,
            when=When.FAILED,
            example=example,
            reason="A document with its columns (docs: OPENXML, OPENJSON). sqlglot knows OPENJSON of a plain value.",
            needs=(function, "("),
            rewrite=rewrite_open_xml,
        )
        for function, example in (
            ("OPENXML", "SELECT a FROM OPENXML(@doc, N'/r/s', 1) WITH (a varchar(10) '@a')"),
            ("OPENJSON", "SELECT d.id FROM OPENJSON(ISNULL(@j, '{}'), ISNULL(@p, '$.x')) WITH (id int) d"),
        )
    ),
    GrammarRule(
        dialect="tsql",
        everywhere=True,
        when=When.FAILED,
        example="SELECT r.x FROM OPENROWSET(BULK 'c.parquet', FORMAT = 'PARQUET') WITH (x int) AS r",
        reason="A file with its columns (docs: OPENROWSET). sqlglot stops at WITH.",
        needs=("OPENROWSET", "("),
        rewrite=rewrite_open_rowset,
    ),
    GrammarRule(
        dialect="oracle",
        everywhere=True,
        when=When.FAILED,
        example="INSERT INTO (SELECT a, b FROM t WHERE c = 1) SELECT p, q FROM s",
        reason="The columns of an inline view are written (docs: INSERT). sqlglot expects a table.",
        needs=("INSERT", "INTO", "("),
        rewrite=rewrite_inline_insert_target,
    ),
    GrammarRule(
        dialect="oracle",
        everywhere=True,
        when=When.FAILED,
        example="SELECT a MULTISET UNION DISTINCT b AS m FROM t",
        reason="Nested tables as operands (docs: Multiset operators). sqlglot reads an alias.",
        needs=("MULTISET",),
        rewrite=rewrite_multisets,
    ),
    GrammarRule(
        dialect="oracle",
        everywhere=True,
        when=When.FAILED,
        example="SELECT CAST(a AS INTERVAL YEAR(9) TO MONTH) AS y FROM t",
        reason="The precision of a field (docs: Interval types).",
        needs=("INTERVAL", "("),
        rewrite=drop_interval_precision,
    ),
    GrammarRule(
        dialect="oracle",
        everywhere=True,
        when=When.FAILED,
        example="SELECT CAST(a AS NUMBER(7, -2)) AS n FROM t",
        reason="A negative scale rounds to hundreds (docs: NUMBER data type). sqlglot expects a number.",
        needs=(",", "-", ")"),
        rewrite=drop_negative_scale,
    ),
    GrammarRule(
        dialect="postgres",
        everywhere=True,
        when=When.FAILED,
        example="INSERT INTO t (a) SELECT upper(:'label') FROM s",
        reason="A variable of psql as a text (docs: psql, variables). sqlglot expects a name.",
        needs=(":",),
        rewrite=read_bound_texts,
    ),
    GrammarRule(
        dialect="postgres",
        everywhere=True,
        when=When.FAILED,
        example="SELECT (n + 1)! AS c FROM t",
        reason="PostgreSQL 13: an operator behind its operand (docs: Mathematical Functions and Operators).",
        needs=("!",),
        rewrite=rewrite_factorials,
    ),
    GrammarRule(
        dialect="sqlite",
        everywhere=True,
        when=When.FAILED,
        example="INSERT INTO cross (a) SELECT left FROM inner",
        reason="SQLite reads words of joins as names where no join can be (docs: SQLite Keywords).",
        rewrite=read_keywords_as_names,
    ),
    GrammarRule(
        dialect="sqlite",
        everywhere=True,
        when=When.FAILED,
        example="INSERT INTO t (a) VALUES (1) UNION SELECT b FROM s",
        reason="Rows as a part of a query (docs: SELECT, compound-operator). sqlglot reads them apart from it.",
        needs=("VALUES",),
        rewrite=wrap_value_rows,
    ),
    GrammarRule(
        dialect="sqlite",
        when=When.FAILED,
        example="CREATE TABLE t (a UNSIGNED BIG INT, b NATIVE CHARACTER(70), c)",
        reason="Types of any words (docs: Datatypes, Affinity Name Examples). sqlglot reads one word.",
        first=_TABLE,
        rewrite=shorten_type_names,
    ),
    GrammarRule(
        dialect="sqlite",
        when=When.FAILED,
        example="SELECT a FROM t WHERE b = ?1",
        reason="Parameters with numbers (docs: Expressions, Parameters).",
        needs=("?",),
        rewrite=drop_parameter_numbers,
    ),
    GrammarRule(
        dialect="sqlite",
        when=When.FAILED,
        example="SELECT * FROM t LEFT NATURAL JOIN u",
        reason="The words of a join in any order (docs: SELECT, join-operator).",
        needs=("JOIN",),
        rewrite=normalize_join_words,
    ),
    GrammarRule(
        dialect="sqlite",
        when=When.FAILED,
        example="SELECT t.a FROM t, u ON t.b = u.b",
        reason="A list of tables may have conditions (docs: SELECT, join-clause). sqlglot stops at ON.",
        needs=("FROM", ","),
        rewrite=rewrite_comma_joins,
    ),
    GrammarRule(
        dialect="sqlite",
        when=When.FAILED,
        example="INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET a = 1 ON CONFLICT (c) DO NOTHING",
        reason="Several clauses for several keys (docs: UPSERT). sqlglot reads one.",
        first=words("INSERT REPLACE WITH"),
        needs=("ON", "CONFLICT"),
        rewrite=merge_conflict_clauses,
    ),
    GrammarRule(
        dialect="sqlite",
        when=When.FAILED,
        example="CREATE TABLE t (a INTEGER, b ANY, PRIMARY KEY (a COLLATE nocase)) STRICT",
        reason="A type for any value, and the collation of a key (docs: STRICT Tables, CREATE TABLE).",
        first=words("CREATE"),
        phrases=(
            phrase("ANY", modifies=True),
            phrase("COLLATE", values=1, modifies=True),
        ),
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.FAILED,
        example="SELECT f(a x, b y) AS z FROM t",
        reason="AS is optional for such names as well (docs: Syntax, expression aliases).",
        needs=("(",),
        rewrite=insert_alias_keywords,
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.FAILED,
        example="SELECT a FROM t ORDER BY f(a) AS b, b",
        reason="Any expression may have a name (docs: Syntax, expression aliases). sqlglot wants brackets.",
        rewrite=bracket_inline_aliases,
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.FAILED,
        example="SELECT a FROM mysql('h', db, t, 'u', 'p', SETTINGS connect_timeout = 1)",
        reason="Settings of a table function (docs: mysql table function).",
        needs=("SETTINGS",),
        rewrite=drop_argument_settings,
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.FAILED,
        example="SELECT count() FROM t WITH TOTALS",
        reason="Totals without groups (docs: GROUP BY, WITH TOTALS modifier).",
        phrases=(phrase("WITH TOTALS"),),
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.FAILED,
        example="SELECT explain FROM (EXPLAIN SYNTAX SELECT a FROM t)",
        reason="The plan of a query as rows (docs: EXPLAIN Statement).",
        needs=("EXPLAIN", "("),
        rewrite=unwrap_explained_queries,
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.FAILED,
        example="DROP TABLE t ON CLUSTER c NO DELAY",
        reason="How the table is dropped (docs: DROP Statements).",
        first=words("DROP"),
        phrases=(
            phrase("NO DELAY"),
            phrase("FORMAT", values=1),
        ),
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.FAILED,
        example="SELECT cast(a, kind) AS b FROM t",
        reason="A type that is computed (docs: CAST). sqlglot expects a text.",
        needs=("CAST",),
        rewrite=rename_computed_casts,
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.FAILED,
        example="SELECT a FROM t ORDER BY a ASC COLLATE 'en'",
        reason="The order of texts in a language (docs: ORDER BY, Collation Support).",
        phrases=(phrase("COLLATE", literal=True),),
    ),
    GrammarRule(
        dialect="duckdb",
        when=When.FAILED,
        example="SELECT sum(a) EXPORT_STATE AS s FROM t",
        reason="The state of an aggregate, to be combined (docs: Aggregate Functions, EXPORT_STATE).",
        phrases=(phrase("EXPORT_STATE", modifies=True),),
    ),
    GrammarRule(
        dialect="duckdb",
        when=When.FAILED,
        example="CREATE TABLE t (a INTEGER USING COMPRESSION RLE)",
        reason="How a column is stored (docs: CREATE TABLE).",
        first=words("CREATE"),
        phrases=(phrase("USING COMPRESSION", values=1),),
    ),
    GrammarRule(
        dialect="duckdb",
        when=When.FAILED,
        example="MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN ERROR",
        reason="Rows that may not occur (docs: MERGE INTO). Nothing is written.",
        first=words("MERGE"),
        phrases=(phrase("THEN ERROR", "THEN DO NOTHING"),),
    ),
    GrammarRule(
        dialect="postgres",
        when=When.FAILED,
        example="INSERT INTO t (a[1:2], b.x) SELECT c, d FROM s",
        reason="Elements and fields as targets (docs: INSERT, column_name). The column is written in part.",
        first=words("INSERT"),
        rewrite=drop_target_subscripts,
    ),
    GrammarRule(
        dialect="mysql",
        when=When.FAILED,
        example="SELECT CAST(a AS UNSIGNED INT) AS b FROM t",
        reason="INTEGER is optional behind the sign (docs: Cast Functions).",
        needs=("(",),
        phrases=(
            phrase("UNSIGNED INT", "UNSIGNED"),
            phrase("SIGNED INT", "SIGNED"),
        ),
    ),
    GrammarRule(
        dialect="mysql",
        everywhere=True,
        when=When.FAILED,
        example="SELECT a FROM t WHERE b > {ts '2024-01-01 00:00:00'}",
        reason="Escapes of ODBC around dates and calls (docs: Date and Time Literals).",
        needs=("{",),
        rewrite=unwrap_odbc_escapes,
    ),
    GrammarRule(
        dialect="mysql",
        when=When.FAILED,
        example="INSERT INTO t (VALUES ROW(1, 2))",
        reason="Rows in brackets (docs: VALUES Statement).",
        first=words("INSERT REPLACE"),
        needs=("VALUES", "ROW"),
        rewrite=bracket_value_rows,
    ),
    GrammarRule(
        dialect="spark",
        when=When.FAILED,
        example="SELECT CAST(a AS GEOGRAPHY(ANY)) AS g FROM t",
        reason="A type for any reference system (docs: GEOGRAPHY type).",
        phrases=(
            phrase("GEOGRAPHY ( ANY )", "GEOGRAPHY"),
            phrase("GEOMETRY ( ANY )", "GEOMETRY"),
        ),
    ),
    GrammarRule(
        dialect="spark",
        when=When.FAILED,
        example="SELECT * FROM f(TABLE(t) WITH SINGLE PARTITION)",
        reason="How the rows are distributed (docs: Table-valued functions).",
        phrases=(phrase("WITH SINGLE PARTITION"),),
    ),
    GrammarRule(
        dialect="postgres",
        everywhere=True,
        when=When.FAILED,
        example="SELECT tsquery 'cat & dog' AS q FROM t WHERE booked && daterange '[2024-01-01,2024-02-01)'",
        reason="A type before a text (docs: Constants of Other Types). sqlglot knows some types there.",
        rewrite=rewrite_typed_texts,
    ),
    GrammarRule(
        dialect="",
        when=When.FAILED,
        example="CREATE VIEW v AS SELECT a FROM t WITH UR",
        sqlglot=Sqlglot.KEEPS,
        reason="DB2: the isolation of a query (docs: isolation-clause).",
        phrases=tuple(phrase(f"WITH {level}") for level in ("UR", "CS", "RS", "RR")),
    ),
    GrammarRule(
        dialect="oracle",
        when=When.FAILED,
        example="SELECT h.a, t.b FROM t PARTITION BY (t.b) RIGHT OUTER JOIN h ON h.a = t.a",
        reason="Groups whose gaps are filled (docs: SELECT, outer_join_clause). sqlglot reads a window.",
        needs=("PARTITION BY", "JOIN"),
        rewrite=drop_join_partitions,
    ),
    GrammarRule(
        dialect="oracle",
        when=When.FAILED,
        example="SELECT a, approx_rank(PARTITION BY a ORDER BY approx_count(*) DESC) AS r FROM t GROUP BY a",
        reason="A window inside the call (docs: APPROX_RANK).",
        needs=("APPROX_RANK",),
        rewrite=rewrite_ranking_arguments,
    ),
    GrammarRule(
        dialect="oracle",
        when=When.FAILED,
        example="SELECT nth_value(a, 2 FROM LAST) OVER (ORDER BY b) AS n FROM t",
        reason="From which end rows are counted (docs: NTH_VALUE).",
        needs=("NTH_VALUE",),
        phrases=(
            phrase("FROM LAST )", ")"),
            phrase("FROM FIRST )", ")"),
        ),
    ),
    GrammarRule(
        dialect="hive",
        when=When.FAILED,
        example="SELECT at - '1 2:3:4' DAY TO SECOND AS b, day + 30 DAYS AS c FROM t",
        reason="INTERVAL is optional (docs: Data Types, Intervals).",
        rewrite=insert_interval_keywords,
    ),
    GrammarRule(
        dialect="hive",
        when=When.FAILED,
        example="SELECT a.k, b.v FROM UNIQUEJOIN PRESERVE t a (a.k), u b (b.k)",
        reason="A join of several tables by equal keys (HIVE-591). sqlglot reads names.",
        needs=("UNIQUEJOIN",),
        rewrite=rewrite_unique_joins,
    ),
    GrammarRule(
        dialect="hive",
        when=When.FAILED,
        example="SELECT sum(a) OVER (CLUSTER BY b) AS s FROM t",
        reason="The groups of a window, ordered by the same columns (docs: Windowing). sqlglot knows DISTRIBUTE BY.",
        phrases=(Phrase(("OVER", "(", "CLUSTER BY"), ("OVER", "(", "PARTITION BY")),),
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.FAILED,
        example="SELECT arrayMap(x -> x > 0 ? x : a, b) AS c FROM t",
        reason="A choice in a lambda (docs: Conditional functions). sqlglot knows it elsewhere.",
        needs=("?", "->"),
        rewrite=bracket_lambda_choices,
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.FAILED,
        example="SELECT pair.-1 AS last FROM t",
        reason="An element counted from the end (docs: Tuple). sqlglot expects a name.",
        needs=(".", "-"),
        rewrite=bracket_negative_positions,
    ),
    GrammarRule(
        dialect="clickhouse",
        when=When.FAILED,
        example="SELECT * REPLACE (a + 1 AS a) APPLY toString FROM t",
        reason="A function for each column (docs: SELECT, APPLY). sqlglot expects parentheses behind other steps.",
        needs=("APPLY",),
        rewrite=bracket_applied_functions,
    ),
    GrammarRule(
        dialect="hive",
        when=When.FAILED,
        example="SELECT TRANSFORM(a) USING 'cat' AS k BINARY, v INT FROM t",
        reason="The columns of the rows, without parentheses (docs: Transform).",
        needs=("TRANSFORM", "USING"),
        rewrite=bracket_transformed_columns,
    ),
    GrammarRule(
        dialect="hive",
        when=When.FAILED,
        example="CREATE TABLE t (a int, b UNIONTYPE<int, array<string>>)",
        reason="A value of one of several types (docs: Union Types). sqlglot stops at its types.",
        needs=("UNIONTYPE",),
        rewrite=drop_union_members,
    ),
    GrammarRule(
        dialect="spark",
        when=When.FAILED,
        example="FROM t | WHERE a > 1 | SELECT b",
        reason="The short form of a pipe (Spark's grammar: OPERATOR_PIPE). sqlglot reads a sign of bits.",
        needs=("|",),
        rewrite=rewrite_single_pipes,
    ),
    GrammarRule(
        dialect="postgres",
        when=When.FAILED,
        example="SELECT p.args::regtype[] AS a FROM p",
        reason="Arrays of object identifiers (docs: Object Identifier Types). sqlglot stops at the bracket.",
        needs=("[", "]"),
        rewrite=qualify_object_types,
    ),
    GrammarRule(
        dialect="postgres",
        everywhere=True,
        when=When.FAILED,
        example="UPDATE t FOR PORTION OF valid FROM '2024-07-01' TO '2024-08-01' SET a = b WHERE id = 1",
        reason="The time for which rows are changed (standard: application-time periods). sqlglot expects SET.",
        needs=("PORTION", "OF"),
        rewrite=drop_portions,
    ),
    GrammarRule(
        dialect="postgres",
        when=When.FAILED,
        example="SELECT $1.a AS b FROM t",
        sqlglot=Sqlglot.MISREADS,
        reason="A field of an argument (docs: Arguments for SQL Functions). sqlglot reads the number `1.`.",
        needs=("$",),
        rewrite=read_parameter_members,
    ),
    GrammarRule(
        dialect="postgres",
        when=When.FAILED,
        example="CREATE TABLE t (id int, corner cube NOT NULL)",
        reason="A type of an extension (docs: cube). sqlglot knows the word in GROUP BY.",
        needs=("CUBE",),
        rewrite=read_cube_types,
    ),
    GrammarRule(
        dialect="exasol",
        when=When.FAILED,
        example="CREATE TABLE t (a CHAR(40) ASCII PRIMARY KEY, b VARCHAR(10) UTF8)",
        reason="The character set of a text (docs: Details on Data Types).",
        first=words("CREATE"),
        phrases=(phrase("ASCII", modifies=True), phrase("UTF8", modifies=True)),
    ),
    GrammarRule(
        dialect="mysql",
        when=When.FAILED,
        example="CREATE TABLE t (a FLOAT(3, 2) UNSIGNED, b int)",
        reason="Numbers without a sign (docs: Numeric Data Types). sqlglot knows it behind other types.",
        needs=("UNSIGNED",),
        rewrite=drop_float_signs,
    ),
    GrammarRule(
        dialect="bigquery",
        when=When.FAILED,
        example=(
            "SELECT * FROM t MATCH_RECOGNIZE "
            "(ORDER BY a MEASURES max(b) AS m PATTERN (x) DEFINE x AS b > 1 OPTIONS (use_longest_match = TRUE))"
        ),
        reason="How the longest match is found (docs: MATCH_RECOGNIZE clause).",
        needs=("MATCH_RECOGNIZE",),
        phrases=(phrase("OPTIONS", brackets=True),),
    ),
    GrammarRule(
        dialect="tsql",
        when=When.FAILED,
        example="SELECT sys.fn_PhysLocFormatter(%%physloc%%) AS page, a FROM t",
        reason="Where a row is stored (undocumented, in samples of Microsoft). sqlglot reads a division.",
        needs=("PHYSLOC", "%"),
        phrases=(phrase("% % PHYSLOC % %", "NULL"),),
    ),
)
"""All rules. At one moment, phrases come before rewrites and rules for all dialects before others."""


@cache
def _rules_for(family: str, when: When) -> tuple[GrammarRule, ...]:
    """The rules of a family of dialects for one moment."""
    chosen = [
        rule for rule in RULES if rule.when is when and (rule.everywhere or DIALECTS[rule.dialect].family == family)
    ]
    return tuple(sorted(chosen, key=lambda rule: (rule.rewrite is not None, not rule.everywhere)))


def apply_rules(tokens: Sequence[Token], traits: DialectTraits, when: When, known: Sequence[str] = ()) -> list[Token]:
    """The tokens of a statement after all rules for one moment; `known` are their keywords."""
    kept = list(tokens)
    rules = [rule for rule in _rules_for(traits.family, when) if not rule.first or _begins_with(tokens, rule.first)]
    if not rules:
        return kept
    present = set(known or keywords_of(tokens))
    for rule in rules:
        if not present.issuperset(rule.needs):
            continue
        for one in rule.phrases:
            if one.words[0] in present:
                kept = _replace_phrase(kept, one)
        if rule.rewrite is not None:
            kept = list(rule.rewrite(kept))
    return kept


def _begins_with(tokens: Sequence[Token], first: frozenset[str]) -> bool:
    return keyword(tokens[0]) in first or ("TABLE" in first and defines_table(tokens))


def has_rules_before_parsing(first: str, traits: DialectTraits) -> bool:
    """Whether statements with this first keyword are rewritten before they are parsed."""
    return any(first in rule.first for rule in _rules_for(traits.family, When.BEFORE))


def overrides_for(family: str) -> dict[str, Override]:
    """The overridden methods of the parser of a family of dialects; the first rule of a method reads first."""
    found: dict[str, Override] = {}
    for rule in reversed([rule for rule in RULES if rule.when is When.PARSER]):
        if rule.everywhere or DIALECTS[rule.dialect].family == family:
            for method, override in rule.overrides.items():
                found[method] = _chain(override, found[method]) if method in found else override
    return found


def table_entries_for(family: str) -> dict[str, dict[Any, Override]]:
    """The changed entries of the tables of the parser of a family of dialects."""
    found: dict[str, dict[Any, Override]] = {}
    for rule in RULES:
        if rule.everywhere or DIALECTS[rule.dialect].family == family:
            for table, entries in rule.tables.items():
                found.setdefault(table, {}).update(entries)
    return found


def _chain(first: Override, second: Override) -> Override:
    return lambda original: first(second(original))


def _replace_phrase(tokens: list[Token], replaced: Phrase) -> list[Token]:
    """The tokens with one phrase replaced; its parentheses or values go with it."""
    width, kept, index, depth, found = len(replaced.words), list[Token](), 0, 0, False
    while index < len(tokens):
        here = tuple(keyword(token) for token in tokens[index : index + width]) == replaced.words
        if here and not (depth and replaced.outside) and not _is_name_behind(tokens[index - 1 : index], replaced):
            end = _skip_operands(tokens, index + width, replaced)
            if end >= 0 and not (replaced.words[0] == "WITH" and keywords_of(tokens[end : end + 1]) == ["AS"]):
                kept.extend(synthetic_token(word, tokens[index]) for word in replaced.instead)
                index, found = end, True
                continue
        kept.append(tokens[index])
        depth += (tokens[index].token_type is TokenType.L_PAREN) - (tokens[index].token_type is TokenType.R_PAREN)
        index += 1
    return kept if found else tokens


def _is_name_behind(previous: Sequence[Token], replaced: Phrase) -> bool:
    """Whether the words of a phrase are a name because of the token before them, if there is one."""
    kind = previous[0].token_type if previous else None
    if replaced.modifies:
        return kind not in _MODIFIED_TOKENS
    return kind is TokenType.DOT or (bool(previous) and keyword(previous[0]) in TABLE_NAME_WORDS)


_MODIFIED_TOKENS = frozenset({*OPERAND_END_TOKENS, *Parser.TYPE_TOKENS})
"""Tokens that end what a word behind them modifies: names, types, literals and brackets."""


def _skip_operands(tokens: Sequence[Token], index: int, replaced: Phrase) -> int:
    """The index after the parentheses or values of a phrase, or -1 if what must follow is missing."""
    if replaced.brackets:
        opened = index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN
        return skip_brackets(tokens, index) if opened else -1
    if replaced.literal:
        follows = index < len(tokens) and tokens[index].token_type in (*STRING_TOKENS, TokenType.NUMBER)
        return index + 1 if follows else -1
    for _ in range(replaced.values):
        index += 1
        while index < len(tokens) and tokens[index].token_type in (TokenType.DOT, TokenType.EQ):
            index += 2
    return min(index, len(tokens))
