"""Finding codes: one row for each code. A code is never renamed and never reused."""

import hashlib
from collections.abc import Mapping

import msgspec

from lineage_pipeline.model.enums import Level, Stage
from lineage_pipeline.model.source_map import SourceText
from lineage_pipeline.model.tables import Diagnostic


class FindingCode(msgspec.Struct, frozen=True):
    """A kind of finding: its severity, its message template, what it means and what to do.

    Every error leaves something unanalyzed (`undone`), a warning only where its row says so.
    """

    name: str
    severity: Level
    message: str
    meaning: str
    remedy: str
    undone: bool = False


CODES: dict[str, FindingCode] = {
    code.name: code
    for code in (
        FindingCode(
            name="PARSE_ERROR",
            severity=Level.ERROR,
            message="cannot parse this statement: {reason}",
            meaning="The text is not a statement of this dialect, or one that the parser does not know yet.",
            remedy="Check the dialect of the file; correct the SQL. The other statements of the file are analyzed.",
        ),
        FindingCode(
            name="UNSUPPORTED_SYNTAX",
            severity=Level.WARNING,
            message="{construct} is not analyzed",
            meaning="The statement is recognized, but its lineage is not worked out.",
            remedy="Nothing, if it carries no data; otherwise its targets and sources are missing from the graph.",
            undone=True,
        ),
        FindingCode(
            name="UNACCOUNTED_REFERENCE",
            severity=Level.WARNING,
            message="{name} is not in the lineage of this statement",
            meaning="The SQL names a table or selects a column that the analysis did not follow.",
            remedy="Report the statement. A table is listed as read all the same; its columns are not followed.",
            undone=True,
        ),
        FindingCode(
            name="INTERNAL_ERROR",
            severity=Level.ERROR,
            message="internal error: {construct} is not analyzed ({fault})",
            meaning="A bug in lineage_pipeline stopped the analysis of this statement. The SQL may be fine.",
            remedy="Report it with the message and the statement. The other statements are analyzed.",
            undone=True,
        ),
        FindingCode(
            name="DIALECT_FALLBACK",
            severity=Level.WARNING,
            message="{dialect} is not a known dialect; read as generic SQL; {hint}",
            meaning="The configured dialect has no rules of its own.",
            remedy="Set one of the dialects that the message names.",
            undone=True,
        ),
        FindingCode(
            name="DIALECT_UNCERTAIN",
            severity=Level.WARNING,
            message="{where}: read as {dialect} ({evidence}), but {other} is possible; --dialect {other} reads it so",
            meaning="Nothing declares the dialect, and the signs in the files speak for two dialects.",
            remedy="Name the dialect with --dialect, or as `dialect` in the settings.",
        ),
        FindingCode(
            name="TEMPLATE_ERROR",
            severity=Level.ERROR,
            message="cannot render the template: {reason}",
            meaning="The file is a template and could not be turned into SQL.",
            remedy="Give the missing variable, or turn templating off for this path.",
        ),
        FindingCode(
            name="UNDEFINED_VARIABLE",
            severity=Level.WARNING,
            message="{name} has no value; a name stands in its place",
            meaning="A template uses a variable, a macro or a filter that nobody defines. A name made of it stands in "
            "the SQL, a condition on it is not met, and a loop over it has no turn.",
            remedy="Give it with --var, LINEAGE_VAR_<NAME> or the settings; vendor the package that holds the macro.",
            undone=True,
        ),
        FindingCode(
            name="DATABASE_NEEDED",
            severity=Level.WARNING,
            message="{what} asks the database while the template renders; one row of placeholders stands for "
            "the answer",
            meaning="What the template makes depends on rows of the database, which is never asked. A "
            "placeholder stands for "
            "each value, and what further rows would have made is missing.",
            remedy="Nothing, or give the answer as a default; a manifest with compiled SQL has it.",
            undone=True,
        ),
        FindingCode(
            name="NODE_DISABLED",
            severity=Level.INFO,
            message="{name} is disabled by its configuration; its query is not analyzed",
            meaning="dbt leaves out a model whose `enabled` is false, often because of a variable. So does the "
            "analysis.",
            remedy="Nothing, or give the variable that enables it, with --var, LINEAGE_VAR_<NAME> or the settings.",
        ),
        FindingCode(
            name="ENCODING_ERROR",
            severity=Level.ERROR,
            message="cannot decode the file: {reason}",
            meaning="The bytes are not text in any encoding that was tried.",
            remedy="Save the file as UTF-8, or set its encoding.",
        ),
        FindingCode(
            name="CONTENT_MISSING",
            severity=Level.ERROR,
            message="the content of this file is not in this clone",
            meaning="A partial clone leaves contents behind and fetches them when they are needed; nothing is "
            "fetched here.",
            remedy="Fetch them with `git archive <commit>`, or clone without --filter.",
        ),
        FindingCode(
            name="HEADER_UNKNOWN",
            severity=Level.WARNING,
            message="the comment at the top says {word}, which nobody reads; it may say {known}",
            meaning="A comment `lineage: key=value` says how the file is read; this word of it is no key that "
            "is known.",
            remedy="Correct the word.",
        ),
        FindingCode(
            name="FILE_MISSING",
            severity=Level.WARNING,
            message="the manifest lists this file, and it is not there",
            meaning="A manifest names the files to be read; this one is not among those that were found, or "
            "holds no SQL.",
            remedy="Correct the manifest, or add the file.",
            undone=True,
        ),
        FindingCode(
            name="UNREAD_FILES",
            severity=Level.WARNING,
            message="{subject} not read: {counts}; {remedy}",
            meaning="Files of a folder begin like SQL and are not read: their ending is unknown, they are in a folder "
            "that is excluded by default, or they are compressed. The path is that of the folder. Files that your own "
            "`include`, `exclude` or .lineageignore leave out are not reported.",
            remedy='Add the endings to `include`, beside the word "defaults", which stands for all that is read '
            "anyway. Or name the files in `exclude` or .lineageignore. `lineage scan -v` lists them.",
            undone=True,
        ),
        FindingCode(
            name="SUBMODULE",
            severity=Level.INFO,
            message="this is another repository, which is not followed",
            meaning="A submodule has files of its own, which are not part of this revision.",
            remedy="Analyze it as a repository of its own, and import its snapshot.",
            undone=True,
        ),
        FindingCode(
            name="LFS_POINTER",
            severity=Level.WARNING,
            message="the content of this file is not here: it is a pointer of Git LFS",
            meaning="Git LFS keeps the file elsewhere; nothing is fetched.",
            remedy="Store SQL in git itself, or analyze a folder in which the file has been fetched.",
            undone=True,
        ),
        FindingCode(
            name="UNKNOWN_TABLE",
            severity=Level.WARNING,
            message="{name} is not defined here or in any schema source",
            meaning="A statement reads an object that no file creates and no imported schema describes, or "
            "writes one although "
            "others of the same schema are imported.",
            remedy="Import its schema, or ignore: columns that are read from it are kept as inferred.",
        ),
        FindingCode(
            name="SYSTEM_TABLE",
            severity=Level.INFO,
            message="{name} belongs to the engine",
            meaning="A statement reads a catalog or a view of the engine's own, which no file creates and "
            "which is there all "
            "the same.",
            remedy="Nothing, or import its schema: columns that are read from it are kept as inferred.",
        ),
        FindingCode(
            name="UNKNOWN_COLUMN",
            severity=Level.WARNING,
            message="{column} is not a column of {candidates}",
            meaning="The schemas of all sources are known and none has this column, or a statement writes a "
            "column that its "
            "target does not have.",
            remedy="Correct the name, or the schema that is out of date.",
        ),
        FindingCode(
            name="AMBIGUOUS_COLUMN",
            severity=Level.WARNING,
            message="{column} could come from {candidates}",
            meaning="The column is not qualified and several sources may own it.",
            remedy="Qualify it, or import the schemas of the sources.",
        ),
        FindingCode(
            name="UNRESOLVED_REFERENCE",
            severity=Level.WARNING,
            message="{name} is not a source of this query",
            meaning="A qualifier names neither a source, nor a column with fields.",
            remedy="Correct the qualifier.",
        ),
        FindingCode(
            name="SCHEMA_CONFLICT",
            severity=Level.WARNING,
            message="{name}: the imported schema and the definition differ: {difference}",
            meaning="Imported and implied schema of one object do not agree; the imported one is used.",
            remedy="Import the schema again, or correct the definition.",
        ),
        FindingCode(
            name="DUPLICATE_IMPORT",
            severity=Level.WARNING,
            message="{name} and {first} are both {meaning}; the first one counts",
            meaning="Two names of an imported schema are the same once they are folded as the dialect folds them.",
            remedy="Remove one of them, or quote them if the engine tells them apart.",
        ),
        FindingCode(
            name="EVENT_INVALID",
            severity=Level.WARNING,
            message="{place} is not an OpenLineage event: {reason}",
            meaning="What was given as an event of a run is no JSON, or lacks what every event has.",
            remedy="Write the events again; the others were taken.",
        ),
        FindingCode(
            name="APPROXIMATE_LINEAGE",
            severity=Level.INFO,
            message="{columns} of {name} are not known, so its star {outcome}",
            meaning="A star stands over an object without a schema: table-level lineage only. Where a part of "
            "the schema is "
            "known, the star gives that part, marked approximate.",
            remedy="Import the schema of the object.",
        ),
        FindingCode(
            name="TYPE_MISMATCH",
            severity=Level.WARNING,
            message="{column}: {left} does not fit {right}",
            meaning="A value is put where its type cannot go without a conversion.",
            remedy="Cast it, or change the type of the target.",
        ),
        FindingCode(
            name="SET_OPERATION_MISMATCH",
            severity=Level.ERROR,
            message="the branches of {operation} have {left} and {right} columns",
            meaning="A set operation needs as many columns in each branch, and VALUES as many in each row.",
            remedy="Add or remove columns.",
        ),
        FindingCode(
            name="INSERT_ARITY_MISMATCH",
            severity=Level.ERROR,
            message="{target} takes {expected} columns, {given} are given",
            meaning="An INSERT gives more or fewer values than the target has columns, or lists a column twice.",
            remedy="Name the columns, or give a value for each.",
        ),
        FindingCode(
            name="DYNAMIC_SQL",
            severity=Level.WARNING,
            message="the text of this statement is made at run time, {share} % of it is constant",
            meaning="SQL is built from values that are known only when it runs. What can be read of it is "
            "marked approximate.",
            remedy="Nothing here; its lineage is incomplete.",
            undone=True,
        ),
        FindingCode(
            name="FOREIGN_BODY",
            severity=Level.INFO,
            message="the body of {name} is written in {language}: only constant SQL texts in it are read",
            meaning="A module is not written in SQL. Lineage comes from the SQL texts that are constants in its code.",
            remedy="Nothing; what its code builds when it runs is missing from the graph.",
        ),
        FindingCode(
            name="DEPENDENCY_CYCLE",
            severity=Level.ERROR,
            message="definitions depend on each other: {cycle}",
            meaning="Each of these objects needs the schema of the next to be known.",
            remedy="Break the circle.",
        ),
        FindingCode(
            name="DUPLICATE_DEFINITION",
            severity=Level.WARNING,
            message="{name} is also defined at {other}",
            meaning="Two statements create the same object; the last one wins, but a file means its own folder's.",
            remedy="Remove one of them.",
        ),
        FindingCode(
            name="LIMIT_EXCEEDED",
            severity=Level.ERROR,
            message="{what} is over the limit of {limit}",
            meaning="The statement is larger or deeper than the limits allow; tables are read where tokens allow it.",
            remedy="Raise the limit in the settings, or split the statement.",
        ),
        FindingCode(
            name="BASE_MISSING",
            severity=Level.ERROR,
            message="the base {base} of this comparison cannot be had: {reason}",
            meaning="Without its base a snapshot cannot be compared.",
            remedy="Fetch the commit, or name another base.",
        ),
        FindingCode(
            name="SETTINGS_RELAXED",
            severity=Level.WARNING,
            message="{key} is milder than at the base: {before} became {after}",
            meaning="A change brings settings of its own by which it is judged, and they let more pass than "
            "those of its base.",
            remedy="Read the settings as part of the change; keep them apart from what they let pass.",
        ),
        FindingCode(
            name="WAIVER_EXPIRED",
            severity=Level.WARNING,
            message="the waiver of {rule} on {object} expired on {date}",
            meaning="An exception ran out and its findings are back.",
            remedy="Renew it or mend the finding.",
        ),
        FindingCode(
            name="WAIVER_UNUSED",
            severity=Level.WARNING,
            message="the waiver of {rule} on {object} covers no change",
            meaning="Nothing that changed needs this exception: it was merged long ago, or it names something else.",
            remedy="Remove it: `lineage waivers prune`.",
        ),
        FindingCode(
            name="WAIVER_INVALID",
            severity=Level.WARNING,
            message="this comment waives nothing: {reason}",
            meaning="A comment starts as a waiver does, but lacks what a waiver needs.",
            remedy="Write `-- lineage: ignore RULE until=YYYY-MM-DD reason=...` above the statement or at its line.",
        ),
    )
}


def build_diagnostic(
    code: str, values: Mapping[str, str], text: SourceText, offset: int, stage: Stage, of: str | None = None
) -> Diagnostic:
    """The finding of a code at an offset of a file, or without a position where it is negative; `of` is its object."""
    line, column = text.position(offset) if offset >= 0 and text.lines else (None, None)
    return build_placed_diagnostic(code, values, (text.path or None, line, column), stage, of)


def build_placed_diagnostic(
    code: str,
    values: Mapping[str, str],
    place: tuple[str | None, int | None, int | None],
    stage: Stage,
    of: str | None = None,
) -> Diagnostic:
    """The finding of a code at a path, line and column; `of` is its object."""
    row = CODES[code]
    path, line, column = place
    message = row.message.format_map(values)
    found = Diagnostic(
        id="",
        code=code,
        severity=row.severity,
        message=message,
        path=path,
        line=line,
        column=column,
        object=of,
        stage=stage,
    )
    return msgspec.structs.replace(found, id=diagnostic_id(found))


def diagnostic_id(found: Diagnostic) -> str:
    """The id of a finding: a hash of its content."""
    parts = (found.code, found.path or "", found.line, found.column, found.message, found.object)
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:16]
