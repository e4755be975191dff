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
            "PARSE_ERROR",
            Level.ERROR,
            "cannot parse this statement: {reason}",
            "The text is not a statement of this dialect, or one that the parser does not know yet.",
            "Check the dialect of the file; correct the SQL. The other statements of the file are analysed.",
        ),
        FindingCode(
            "UNSUPPORTED_SYNTAX",
            Level.WARNING,
            "{construct} is not analysed",
            "The statement is recognised, but its lineage is not worked out.",
            "Nothing, if it carries no data; otherwise its targets and sources are missing from the graph.",
            undone=True,
        ),
        FindingCode(
            "INTERNAL_ERROR",
            Level.ERROR,
            "internal error: {construct} is not analyzed ({fault})",
            "A bug in lineage_pipeline stopped the analysis of this statement. The SQL may be fine.",
            "Report it with the message and the statement. The other statements are analyzed.",
            undone=True,
        ),
        FindingCode(
            "DIALECT_FALLBACK",
            Level.WARNING,
            "{dialect} is not a known dialect; read as generic SQL; {hint}",
            "The configured dialect has no rules of its own.",
            "Set one of the dialects that the message names.",
            undone=True,
        ),
        FindingCode(
            "TEMPLATE_ERROR",
            Level.ERROR,
            "cannot render the template: {reason}",
            "The file is a template and could not be turned into SQL.",
            "Give the missing variable, or turn templating off for this path.",
        ),
        FindingCode(
            "UNDEFINED_VARIABLE",
            Level.WARNING,
            "{name} has no value; a name stands in its place",
            "A template uses a variable, a macro or a filter that nobody defines. A name made of it stands in "
            "the SQL, a condition on it is not met, and a loop over it has no turn.",
            "Give it with --var, LINEAGE_VAR_<NAME> or the settings; vendor the package that holds the macro.",
            undone=True,
        ),
        FindingCode(
            "DATABASE_NEEDED",
            Level.WARNING,
            "{what} asks the database while the template renders; one row of placeholders stands for the answer",
            "What the template makes depends on rows of the database, which is never asked. A placeholder stands for "
            "each value, and what further rows would have made is missing.",
            "Nothing, or give the answer as a default; a manifest with compiled SQL has it.",
            undone=True,
        ),
        FindingCode(
            "ENCODING_ERROR",
            Level.ERROR,
            "cannot decode the file: {reason}",
            "The bytes are not text in any encoding that was tried.",
            "Save the file as UTF-8, or set its encoding.",
        ),
        FindingCode(
            "CONTENT_MISSING",
            Level.ERROR,
            "the content of this file is not in this clone",
            "A partial clone leaves contents behind and fetches them when they are needed; nothing is fetched here.",
            "Fetch them with `git archive <commit>`, or clone without --filter.",
        ),
        FindingCode(
            "HEADER_UNKNOWN",
            Level.WARNING,
            "the comment at the top says {word}, which nobody reads; it may say {known}",
            "A comment `lineage: key=value` says how the file is read; this word of it is no key that is known.",
            "Correct the word.",
        ),
        FindingCode(
            "FILE_MISSING",
            Level.WARNING,
            "the manifest lists this file, and it is not there",
            "A manifest names the files to be read; this one is not among those that were found, or holds no SQL.",
            "Correct the manifest, or add the file.",
            undone=True,
        ),
        FindingCode(
            "SUBMODULE",
            Level.INFO,
            "this is another repository, which is not followed",
            "A submodule has files of its own, which are not part of this revision.",
            "Analyse it as a repository of its own, and import its snapshot.",
            undone=True,
        ),
        FindingCode(
            "LFS_POINTER",
            Level.WARNING,
            "the content of this file is not here: it is a pointer of Git LFS",
            "Git LFS keeps the file elsewhere; nothing is fetched.",
            "Store SQL in git itself, or analyse a folder in which the file has been fetched.",
            undone=True,
        ),
        FindingCode(
            "UNKNOWN_TABLE",
            Level.WARNING,
            "{name} is neither produced nor catalogued",
            "A statement reads an object that no file creates and no imported schema describes, or writes one although "
            "others of the same schema are imported.",
            "Import its schema, or ignore: columns that are read from it are kept as inferred.",
        ),
        FindingCode(
            "SYSTEM_TABLE",
            Level.INFO,
            "{name} belongs to the engine",
            "A statement reads a catalog or a view of the engine's own, which no file creates and which is there all "
            "the same.",
            "Nothing, or import its schema: columns that are read from it are kept as inferred.",
        ),
        FindingCode(
            "UNKNOWN_COLUMN",
            Level.WARNING,
            "{column} is not a column of {candidates}",
            "The schemas of all sources are known and none has this column, or a statement writes a column that its "
            "target does not have.",
            "Correct the name, or the schema that is out of date.",
        ),
        FindingCode(
            "AMBIGUOUS_COLUMN",
            Level.WARNING,
            "{column} could come from {candidates}",
            "The column is not qualified and several sources may own it.",
            "Qualify it, or import the schemas of the sources.",
        ),
        FindingCode(
            "UNRESOLVED_REFERENCE",
            Level.WARNING,
            "{name} is not a source of this query",
            "A qualifier names neither a source, nor a column with fields.",
            "Correct the qualifier.",
        ),
        FindingCode(
            "SCHEMA_CONFLICT",
            Level.WARNING,
            "{name}: the imported schema and the definition differ: {difference}",
            "Imported and implied schema of one object do not agree; the imported one is used.",
            "Import the schema again, or correct the definition.",
        ),
        FindingCode(
            "DUPLICATE_IMPORT",
            Level.WARNING,
            "{name} and {first} are both {meaning}; the first one counts",
            "Two names of an imported schema are the same once they are folded as the dialect folds them.",
            "Remove one of them, or quote them if the engine tells them apart.",
        ),
        FindingCode(
            "EVENT_INVALID",
            Level.WARNING,
            "{place} is not an OpenLineage event: {reason}",
            "What was given as an event of a run is no JSON, or lacks what every event has.",
            "Write the events again; the others were taken.",
        ),
        FindingCode(
            "APPROXIMATE_LINEAGE",
            Level.INFO,
            "{columns} of {name} are not known, so its star {outcome}",
            "A star stands over an object without a schema: table-level lineage only. Where a part of the schema is "
            "known, the star gives that part, marked approximate.",
            "Import the schema of the object.",
        ),
        FindingCode(
            "TYPE_MISMATCH",
            Level.WARNING,
            "{column}: {left} does not fit {right}",
            "A value is put where its type cannot go without a conversion.",
            "Cast it, or change the type of the target.",
        ),
        FindingCode(
            "SET_OPERATION_MISMATCH",
            Level.ERROR,
            "the branches of {operation} have {left} and {right} columns",
            "A set operation needs as many columns in each branch, and VALUES as many in each row.",
            "Add or remove columns.",
        ),
        FindingCode(
            "INSERT_ARITY_MISMATCH",
            Level.ERROR,
            "{target} takes {expected} columns, {given} are given",
            "An INSERT gives more or fewer values than the target has columns, or lists a column twice.",
            "Name the columns, or give a value for each.",
        ),
        FindingCode(
            "DYNAMIC_SQL",
            Level.WARNING,
            "the text of this statement is made at run time, {share} % of it is constant",
            "SQL is built from values that are known only when it runs. What can be read of it is marked approximate.",
            "Nothing here; its lineage is incomplete.",
            undone=True,
        ),
        FindingCode(
            "FOREIGN_BODY",
            Level.INFO,
            "the body of {name} is written in {language}, which is not read",
            "A module is not written in SQL: it is known by its name, its lineage is not.",
            "Nothing; what it reads and writes is missing from the graph.",
        ),
        FindingCode(
            "DEPENDENCY_CYCLE",
            Level.ERROR,
            "definitions depend on each other: {cycle}",
            "Each of these objects needs the schema of the next to be known.",
            "Break the circle.",
        ),
        FindingCode(
            "DUPLICATE_DEFINITION",
            Level.WARNING,
            "{name} is also defined at {other}",
            "Two statements create the same object; the last one wins, but a file means its own folder's.",
            "Remove one of them.",
        ),
        FindingCode(
            "LIMIT_EXCEEDED",
            Level.ERROR,
            "{what} is over the limit of {limit}",
            "The statement is larger or deeper than the limits allow; tables are read where tokens allow it.",
            "Raise the limit in the settings, or split the statement.",
        ),
        FindingCode(
            "BASE_MISSING",
            Level.ERROR,
            "the base {base} of this comparison cannot be had: {reason}",
            "Without its base a snapshot cannot be compared.",
            "Fetch the commit, or name another base.",
        ),
        FindingCode(
            "SETTINGS_RELAXED",
            Level.WARNING,
            "{key} is milder than at the base: {before} became {after}",
            "A change brings settings of its own by which it is judged, and they let more pass than those of its base.",
            "Read the settings as part of the change; keep them apart from what they let pass.",
        ),
        FindingCode(
            "WAIVER_EXPIRED",
            Level.WARNING,
            "the waiver of {rule} on {object} expired on {date}",
            "An exception ran out and its findings are back.",
            "Renew it or mend the finding.",
        ),
        FindingCode(
            "WAIVER_UNUSED",
            Level.WARNING,
            "the waiver of {rule} on {object} covers no change",
            "Nothing that changed needs this exception: it was merged long ago, or it names something else.",
            "Remove it: `lineage waivers prune`.",
        ),
        FindingCode(
            "WAIVER_INVALID",
            Level.WARNING,
            "this comment waives nothing: {reason}",
            "A comment starts as a waiver does, but lacks what a waiver needs.",
            "Write `-- lineage: ignore RULE until=YYYY-MM-DD reason=...` above the statement or at its line.",
        ),
    )
}


def build_diagnostic(
    code: str, values: Mapping[str, str], text: SourceText, offset: int, stage: Stage, of: str | None = None
) -> Diagnostic:
    """The finding of a code at an offset of a file, or without a position where it is negative; `of` is its object."""
    row = CODES[code]
    line, column = text.position(offset) if offset >= 0 and text.lines else (None, None)
    message = row.message.format_map(values)
    found = Diagnostic("", code, row.severity, message, text.path or None, line, column, of, stage)
    return msgspec.structs.replace(found, id=diagnostic_id(found))


def diagnostic_id(found: Diagnostic) -> str:
    """The id of a finding: a hash of its content."""
    parts = (found.code, found.path or "", found.line, found.column, found.message, found.object)
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:16]
