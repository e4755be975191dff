"""T-SQL statement boundaries: which words begin a statement without a semicolon before."""

import msgspec

STATEMENT_STARTS = frozenset(
    "SELECT INSERT UPDATE DELETE MERGE WITH EXEC EXECUTE DECLARE SET IF WHILE BEGIN END ELSE RETURN PRINT "
    "RAISERROR THROW CREATE ALTER DROP TRUNCATE USE COMMIT ROLLBACK SAVE OPEN CLOSE FETCH DEALLOCATE GOTO WAITFOR "
    "GRANT DENY REVOKE BREAK CONTINUE BULK DBCC RECONFIGURE CHECKPOINT REVERT RECEIVE BACKUP RESTORE KILL".split()
) | {"END CONVERSATION"}
"""Words that begin a statement, and so end the one before."""

EXPECTED_WORDS: dict[str, frozenset[str]] = {
    "WITH": frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"}),
    "INSERT": frozenset({"SELECT", "EXEC", "EXECUTE", "WITH"}),
    "UPDATE": frozenset({"SET"}),
    "BULK": frozenset({"INSERT"}),
}
"""Words that a statement is still waiting for, by its first word."""


class ContinuationRule(msgspec.Struct, frozen=True):
    """Words that do not begin a statement where they stand; an empty field allows any word."""

    first: frozenset[str]
    """The first word of the statement that they may belong to."""
    before: frozenset[str]
    """The word right before them."""
    words: frozenset[str]
    """The words themselves."""
    unless: frozenset[str] = frozenset()
    """Words right after them with which they begin a statement after all."""


_OBJECT_KINDS = (
    "TABLE VIEW PROCEDURE PROC FUNCTION TRIGGER INDEX COLUMN CONSTRAINT SCHEMA DATABASE SYNONYM SEQUENCE TYPE USER "
    "ROLE LOGIN STATISTICS RULE DEFAULT ASSEMBLY AGGREGATE"
)

_SETTING_WORDS = (
    "@ NOCOUNT XACT_ABORT ROWCOUNT TRANSACTION IDENTITY_INSERT DATEFORMAT DATEFIRST LANGUAGE DEADLOCK_PRIORITY "
    "LOCK_TIMEOUT STATISTICS NOEXEC FMTONLY SHOWPLAN_XML SHOWPLAN_ALL"
)

CONTINUATIONS: tuple[ContinuationRule, ...] = tuple(
    ContinuationRule(*(frozenset(words.split()) for words in row))
    for row in (
        ("", "UNION ALL EXCEPT INTERSECT", "SELECT"),
        ("CREATE ALTER", "ON FOR AFTER BEFORE , OF", "INSERT UPDATE DELETE"),
        ("CREATE ALTER", "WITH , (", "EXECUTE EXEC"),
        ("DECLARE SET", "FOR", "SELECT WITH"),
        ("DECLARE SELECT WITH", "FOR", "UPDATE"),
        ("", "ROWS ROW", "FETCH"),
        ("CREATE ALTER", "AS", "SELECT WITH"),
        ("CREATE", "OR", "ALTER"),
        ("CREATE ALTER DROP", _OBJECT_KINDS, "IF"),
        ("ALTER", "", "ALTER", _OBJECT_KINDS.replace("INDEX COLUMN", "")),
        ("ALTER", "", "DROP", _OBJECT_KINDS.replace("INDEX COLUMN CONSTRAINT", "")),
        ("ALTER", "", "SET", _SETTING_WORDS),
        ("ALTER", "", "MERGE"),
        ("", "INNER LEFT RIGHT FULL OUTER", "MERGE"),
        ("GRANT DENY REVOKE", "ADMINISTER ,", "BULK RECEIVE"),
        ("RETURN", "RETURN", "SELECT WITH"),
        ("GRANT DENY REVOKE", "", "SELECT INSERT UPDATE DELETE EXEC EXECUTE ALTER CREATE BACKUP RESTORE"),
        ("MERGE", "", " ".join(STATEMENT_STARTS - {"IF", "EXEC", "END"})),
    )
)
"""Words that only seem to begin a statement."""

SQLCMD_COMMANDS = frozenset(
    "R SETVAR ON CONNECT OUT ERROR EXIT QUIT LIST LISTVAR RESET SERVERLIST HELP XML PERFTRACE ED".split()
)
"""Commands of sqlcmd, each on a line of its own after a colon."""

MODULE_OPTIONS = frozenset("SCHEMABINDING ENCRYPTION VIEW_METADATA RECOMPILE NATIVE_COMPILATION EXECUTE EXEC".split())
"""Words after the WITH of a module's header."""

NOT_PROCEDURES = frozenset(
    "DISABLE ENABLE SEND REVERT MOVE GET KILL SHUTDOWN ADD BACKUP RESTORE DUMP LOAD BULK".split()
)
"""Words at the start of a batch that are no procedure call."""
