"""Oracle: folding, pseudo columns, PL/SQL, SQL*Plus, the data dictionary, types and signs."""

import re

from lineage_pipeline.dialects.client_commands import COMMAND_KINDS, ClientCommands
from lineage_pipeline.dialects.dialect import DialectTraits, UnaliasedNaming
from lineage_pipeline.dialects.identifier_folding import IdentifierFolding
from lineage_pipeline.dialects.procedural_languages import ProceduralLanguage
from lineage_pipeline.dialects.signs import (
    NVL,
    build_driver_sign,
    build_sign,
)
from lineage_pipeline.dialects.system_catalogs import SystemCatalog
from lineage_pipeline.dialects.types.arithmetic import ArgumentTypes, ConstantTexts, TypeRule
from lineage_pipeline.dialects.types.common_rules import argument_rule, argument_type_name, fixed_rules, split_names
from lineage_pipeline.dialects.types.conversions import (
    LENIENT_PAIRS,
    build_uniform_conversions,
)
from lineage_pipeline.dialects.types.families import UNPARAMETERIZED_TYPES, TypeFamily
from lineage_pipeline.dialects.types.type_rules import TypeRules

# ── result types of operators and functions ───────────────────────────────────────────────────────────────────────────


def oracle_operator_rule(op: str) -> TypeRule:
    """An operator of Oracle: numbers have any number of digits, and a day is the unit of dates."""

    def rule(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
        left, right = argument_type_name(types), argument_type_name(types, 1)
        if not left or not right:
            return None
        for kind in (family.double, family.real):
            if kind in (left, right):
                return kind
        if left.startswith("INTERVAL") or right.startswith("INTERVAL"):
            moment = right if left.startswith("INTERVAL") else left
            return moment if moment == family.date or moment.startswith("TIMESTAMP") else left
        moments = [name for name in (left, right) if name == family.date or name.startswith("TIMESTAMP")]
        if len(moments) == 2:
            return family.decimal if left == right == family.date else "INTERVAL DAY TO SECOND"
        return family.date if moments else family.decimal

    return rule


def infer_oracle_number(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A number of Oracle: floating where its argument is, else with any number of digits."""
    name = argument_type_name(types)
    return name if name in (family.real, family.double) else family.decimal if name else None


def infer_oracle_trunc(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """TRUNC and ROUND: a date of dates and moments, a number of numbers."""
    name = argument_type_name(types)
    return (
        family.date
        if name == family.date or name.startswith("TIMESTAMP")
        else infer_oracle_number(family, types, texts)
    )


def infer_oracle_string(family: TypeFamily, types: ArgumentTypes, texts: ConstantTexts) -> str | None:
    """A function of strings: a long one where an argument is."""
    names = {argument_type_name(types, at) for at in range(len(types))}
    return next((name for name in ("NCLOB", "CLOB") if name in names), family.string)


DOCUMENTED_TYPES: dict[str, str] = {
    "NUMBER": "VSIZE GROUPING REMAINDER",
    "VARCHAR2": "JSON_QUERY TZ_OFFSET SOUNDEX NLS_UPPER NLS_LOWER NLS_INITCAP",
    "XMLTYPE": "XMLAGG",
    "TIMESTAMP": "SYS_EXTRACT_UTC",
    "DATE": "DATETRUNC",
}
"""Types, and the functions whose manual says that they always return them; the rules below come first."""

ORACLE_RULES: dict[str, TypeRule] = {
    **fixed_rules(DOCUMENTED_TYPES),
    **dict.fromkeys(split_names("NANVL"), argument_rule(0)),
    **fixed_rules(
        {
            "NUMBER": (
                "AVG SUM COUNT EXTRACT TONUMBER TO_NUMBER LENGTH STRPOSITION INSTR ASCII BITAND MONTHSBETWEEN MEDIAN "
                "RATIO_TO_REPORT ROWNUMBER RANK DENSERANK NTILE CUMEDIST PERCENTRANK SIGN ORA_HASH ROWNUM LEVEL "
                "REGEXPCOUNT REGEXPINSTR WIDTHBUCKET UID SQLCODE STDDEV STDDEVPOP STDDEVSAMP VARIANCE VARIANCEPOP"
            ),
            "VARCHAR2": (
                "TOCHAR TO_CHAR TIMETOSTR TRANSLATE GROUPCONCAT LISTAGG CHR RAWTOHEX SYS_CONTEXT USERENV JSONVALUE "
                "JSON_VALUE SYS_CONNECT_BY_PATH CURRENTUSER SESSIONUSER USER DUMP SQLERRM"
            ),
            "NVARCHAR2": "UNISTR TO_NCHAR",
            "DATE": "STRTODATE LASTDAY NEXTDAY CURRENTDATE SYSDATE CURRENTTIMESTAMP:sysdate ADDMONTHS",
            "TIMESTAMP": "TO_TIMESTAMP STRTOTIME LOCALTIMESTAMP",
            "TIMESTAMP WITH TIME ZONE": "SYSTIMESTAMP CURRENTTIMESTAMP TO_TIMESTAMP_TZ FROM_TZ",
            "INTERVAL YEAR TO MONTH": "TO_YMINTERVAL NUMTOYMINTERVAL",
            "INTERVAL DAY TO SECOND": "TO_DSINTERVAL NUMTODSINTERVAL",
            "RAW(16)": "SYS_GUID",
            "RAW": "HEXTORAW STANDARDHASH STANDARD_HASH UTL_RAW.CAST_TO_RAW UTL_RAW.SUBSTR UTL_RAW.CONCAT",
            "CLOB": "TO_CLOB EMPTY_CLOB XMLSERIALIZE",
            "BLOB": "TO_BLOB EMPTY_BLOB",
        }
    ),
    **{op: oracle_operator_rule(op) for op in ("ADD", "SUB", "MUL", "DIV", "MOD")},
    **dict.fromkeys(split_names("FLOOR CEIL ABS POW SQRT EXP LN LOG NEG"), infer_oracle_number),
    **dict.fromkeys(split_names("TRUNC ROUND TIMESTAMPTRUNC"), infer_oracle_trunc),
    **dict.fromkeys(
        split_names(
            "CONCAT DPIPE REPLACE REGEXPREPLACE REGEXPSUBSTR REGEXPEXTRACT PAD INITCAP SUBSTRING LEFT RIGHT REVERSE"
        ),
        infer_oracle_string,
    ),
    "NVL": argument_rule(0),
}


# ── types ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

ORACLE_TYPES = TypeFamily(
    name="oracle",
    integers=("SMALLINT", "INT", "INTEGER"),
    digits=(38, 38, 38),
    integer="NUMBER",
    bigint="NUMBER",
    decimal="NUMBER",
    real="BINARY_FLOAT",
    double="BINARY_DOUBLE",
    string="VARCHAR2",
    boolean="BOOLEAN",
    binary="RAW",
    zoned="TIMESTAMP WITH TIME ZONE",
    cap=0,
    strings=("CHAR", "VARCHAR", "VARCHAR2", "NCHAR", "NVARCHAR2", "CLOB", "NCLOB"),
    results=UNPARAMETERIZED_TYPES,
    keeps_precision=True,
    conversions=build_uniform_conversions(LENIENT_PAIRS, DATE="moment", BOOLEAN="", INTERVAL=""),
)


# ── the dialect ───────────────────────────────────────────────────────────────────────────────────────────────────────

PLSQL = ProceduralLanguage(
    "PL/SQL",
    sections=True,
    marks=frozenset({"AS", "IS"}),
    opens=frozenset("BEGIN DECLARE CALL COMPOUND".split()),
    languages=frozenset(),
    plsql=True,
    executors={
        "DBMS_SCHEDULER.CREATE_JOB": (2, "JOB_ACTION"),
        "DBMS_JOB.SUBMIT": (1, "WHAT"),
        "DBMS_UTILITY.EXEC_DDL_STATEMENT": (0, "PARSE_STRING"),
        "DBMS_SQL.PARSE": (1, "STATEMENT"),
    },
    transactions=frozenset(),
)


SQLPLUS = ClientCommands(
    re.compile(
        r"(?P<word>@@?|[/.](?=\s*$)|!(?=\s*[a-z])|\$(?=\s*[a-z])(?!if|then|els|end|err)|"
        r"(?:rem(?:ark)?|pro(?:mpt)?)\b|(?:set|spo(?:ol)?|whenever|def(?:ine)?|undef(?:ine)?|"
        r"col(?:umn)?|tti(?:tle)?|bti(?:tle)?|bre(?:ak)?|comp(?:ute)?|conn(?:ect)?|disc(?:onnect)?|quit|host|pau(?:se)?|"
        r"acc(?:ept)?|var(?:iable)?|pri(?:nt)?|cl(?:ear)?|sta(?:rt)?|timi(?:ng)?|store|rephe(?:ader)?|repfo(?:oter)?|"
        r"oradebug|startup|shutdown|passw(?:ord)?|"
        r"sho(?:w)?|desc(?:ribe)?|ru?n?(?=\s*$))\b(?!\s*(?:[(.,]|:?=)))",
        re.IGNORECASE,
    ),
    COMMAND_KINDS,
    anywhere=frozenset({"/"}),
    interrupts=re.compile(
        r"pau(?:se)?(?=\s*$)|cl(?:ear)?\s+(?:scr|col|bre|buf|comp|timi)[a-z]*\s*$|spo(?:ol)?\s|pro(?:mpt)?\b(?!\s*[=(.])|"
        r"@@?\s*[\w&/.~$]|host\s|acc(?:ept)?\s|whenever\s|undef(?:ine)?\s",
        re.IGNORECASE,
    ),
)


_VIEW_PREFIXES = ("all_", "user_")
_VIEWS = frozenset(
    "arguments catalog clusters col_comments col_privs coll_types cons_columns constraints db_links dependencies "
    "directories errors extents external_tables free_space identifiers ind_columns ind_expressions ind_partitions "
    "ind_statistics indexes jobs lob_partitions lobs mview_logs mviews nested_tables object_tables objects "
    "part_key_columns part_tables password_limits plsql_object_settings procedures queues recyclebin role_privs "
    "scheduler_job_run_details scheduler_jobs segments sequences source stored_settings synonyms sys_privs "
    "tab_col_statistics tab_cols tab_columns tab_comments tab_histograms tab_identity_cols tab_modifications "
    "tab_partitions tab_privs tab_privs_made tab_privs_recd tab_statistics tab_subpartitions tables tablespaces "
    "trigger_cols triggers type_attrs type_methods types users varrays views xml_tables".split()
)
"""Names after ALL_ and USER_, prefixes that user objects may have too."""


_SEQUENCE_COLUMNS = frozenset({"NEXTVAL", "CURRVAL"})


ORACLE = DialectTraits(
    name="oracle",
    family="oracle",
    tables=IdentifierFolding.UPPER,
    columns=IdentifierFolding.UPPER,
    naming=UnaliasedNaming.PACKED,
    row_function="VALUE",
    alias_in_group=False,
    implicit_recursion=True,
    dual=True,
    count="NUMBER",
    global_temporary_lasts=True,
    keeps_not_null=True,
    fixes_views=True,
    ordinality_type="NUMBER",
    value_keywords=frozenset(
        "ROWNUM LEVEL SYSDATE SYSTIMESTAMP USER UID CURRENT_DATE CURRENT_TIMESTAMP LOCALTIMESTAMP SESSIONTIMEZONE "
        "DBTIMEZONE CONNECT_BY_ISLEAF CONNECT_BY_ISCYCLE SQLCODE SQLERRM".split()
    ),
    reserved_values=frozenset(
        "ROWNUM LEVEL SYSDATE SYSTIMESTAMP USER UID CONNECT_BY_ISLEAF CONNECT_BY_ISCYCLE".split()
    ),
    sequence_columns=_SEQUENCE_COLUMNS,
    table_pseudo_columns=frozenset(
        "ROWID ORA_ROWSCN VERSIONS_STARTTIME VERSIONS_STARTSCN VERSIONS_ENDTIME VERSIONS_ENDSCN VERSIONS_XID "
        "VERSIONS_OPERATION COLUMN_VALUE OBJECT_VALUE".split()
    ),
    pseudo_column_types={
        **dict.fromkeys("ROWNUM LEVEL UID CONNECT_BY_ISLEAF CONNECT_BY_ISCYCLE ORA_ROWSCN SQLCODE".split(), "NUMBER"),
        **dict.fromkeys(_SEQUENCE_COLUMNS, "NUMBER"),
        **dict.fromkeys("SYSDATE CURRENT_DATE".split(), "DATE"),
        **dict.fromkeys("SYSTIMESTAMP CURRENT_TIMESTAMP".split(), "TIMESTAMP WITH TIME ZONE"),
        **dict.fromkeys("USER SESSIONTIMEZONE DBTIMEZONE SQLERRM VERSIONS_OPERATION".split(), "VARCHAR2"),
        "LOCALTIMESTAMP": "TIMESTAMP",
        "ROWID": "ROWID",
    },
    system_catalog=SystemCatalog(
        schemas=frozenset({"sys"}),
        prefixes=("v$", "gv$", "v_$", "gv_$", "x$", "dba_", "cdb_", "nls_"),
        names=frozenset(
            "dual cat tab cols dict dictionary session_privs session_roles product_component_version".split()
        )
        | frozenset(owner + name for owner in _VIEW_PREFIXES for name in _VIEWS),
    ),
    client_commands=SQLPLUS,
    procedural=PLSQL,
    types=ORACLE_TYPES,
    type_rules=TypeRules(functions=ORACLE_RULES),
    signs=(
        build_sign("VARCHAR2", r"\bN?VARCHAR2\b", 3, "varchar2 nvarchar2"),
        build_sign("NUMBER columns", r"\bNUMBER\s*\(\s*\d+\s*(?:,\s*\d+\s*)?\)", 1, "number&("),
        build_sign("a slash on a line of its own", r"^/[ \t]*\r?$", 3, "~/~"),
        build_sign(
            "SYSDATE, DUAL or NVL2", r"\bFROM\s+DUAL\b|\bSYSDATE\b(?!\s*\()|\bNVL2\s*\(", 1, "from&dual sysdate nvl2"
        ),
        build_sign("CONNECT BY", r"\bCONNECT\s+BY\s+(PRIOR|NOCYCLE|LEVEL|\w+)", 3, "connect&by"),
        build_sign("outer joins with (+)", r"\w\s*\(\+\)", 3, "(+)"),
        build_sign("ROWNUM", r"\b(WHERE|AND|ON)\s+ROWNUM\s*[<=>]|[<=>]\s*ROWNUM\b", 3, "rownum"),
        build_sign("%TYPE or %ROWTYPE", r"\w%(ROW)?TYPE\b", 2, "type&%type rowtype&%rowtype"),
        build_sign(
            "packages", r"\bCREATE\s+(?:OR\s+REPLACE\s+)?(?:(?:NON)?EDITIONABLE\s+)?PACKAGE\b", 4, "create&package"
        ),
        build_sign(
            "DBMS_ packages",
            r"\b(?:DBMS|UTL)_\w+\.\w+|\bRAISE_APPLICATION_ERROR\s*\(",
            3,
            "dbms_* utl_* raise_application_error",
        ),
        build_sign(
            "SQL*Plus commands",
            r"^\s*+(?=[@SPWRC])(?:SET\s+(?:ECHO|FEEDBACK|SERVEROUTPUT|DEFINE|PAGESIZE|LINESIZE|VERIFY|TERMOUT|HEADING|TRIMSPOOL|SQLBLANKLINES)\b"
            r"|SPOOL\s+\S|PROMPT\b|WHENEVER\s+(?:SQL|OS)ERROR|@@?[\w./&]+\s*$|REM\b|SHOW\s+ERRORS|COL(?:UMN)?\s+\w+\s+FORMAT)",
            3,
            "set&echo set&feedback set&serveroutput set&define set&pagesize set&linesize set&verify set&termout "
            "set&heading set&trimspool set&sqlblanklines spool prompt whenever ~@ rem show&errors col&format "
            "column&format",
        ),
        build_sign(
            "the data dictionary",
            r"\bv\$\w+|\b(?:ALL|DBA|USER)_(?:TABLES|OBJECTS|TAB_COLUMNS|INDEXES|CONSTRAINTS|SOURCE|USERS|SEQUENCES|DEPENDENCIES)\b",
            2,
            "v&v$ all_tables all_objects all_tab_columns all_indexes all_constraints all_source all_users "
            "all_sequences all_dependencies dba_tables dba_objects dba_tab_columns dba_indexes dba_constraints "
            "dba_source dba_users dba_sequences dba_dependencies user_tables user_objects user_tab_columns "
            "user_indexes user_constraints user_source user_users user_sequences user_dependencies",
        ),
        NVL,
    ),
    path_words=frozenset({"oracle", "plsql", "ora", "sqlplus"}),
    host_signs=(build_driver_sign("Oracle", modules="cx_Oracle|oracledb", operators="Oracle", scheme="oracle"),),
)
