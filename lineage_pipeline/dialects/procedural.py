"""Procedural T-SQL, word by word: what begins a statement although no semicolon ends the one before."""

BEGINS = frozenset(
    "SELECT INSERT UPDATE DELETE MERGE WITH EXEC EXECUTE DECLARE SET IF WHILE BEGIN END ELSE RETURN PRINT "
    "RAISERROR THROW CREATE ALTER DROP TRUNCATE USE COMMIT ROLLBACK SAVE OPEN CLOSE FETCH DEALLOCATE GOTO WAITFOR "
    "GRANT DENY REVOKE BREAK CONTINUE BULK DBCC RECONFIGURE CHECKPOINT".split()
)
"""Words that begin a statement, and so end the one before."""

EXPECTS: dict[str, frozenset[str]] = {
    "WITH": frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"}),
    "INSERT": frozenset({"SELECT", "EXEC", "EXECUTE", "WITH"}),
    "UPDATE": frozenset({"SET"}),
}
"""What a statement that begins with a word is still waiting for."""

BELONGS: tuple[tuple[frozenset[str], frozenset[str], frozenset[str]], ...] = tuple(
    (frozenset(first.split()), frozenset(before.split()), frozenset(words.split()))
    for first, before, words in (
        ("", "UNION ALL EXCEPT INTERSECT", "SELECT"),
        ("CREATE ALTER", "ON", "UPDATE DELETE"),
        ("BULK", "BULK", "INSERT"),
        ("DECLARE SET", "FOR", "SELECT WITH"),
        ("DECLARE SELECT WITH", "FOR", "UPDATE"),
        ("", "ROWS ROW", "FETCH"),
        ("CREATE ALTER", "AS", "SELECT WITH"),
        ("CREATE", "OR", "ALTER"),
        ("CREATE ALTER DROP", "", "IF"),
        ("ALTER", "", "ALTER DROP SET"),
        ("RETURN", "RETURN", "SELECT WITH"),
        ("GRANT DENY REVOKE", "", "SELECT INSERT UPDATE DELETE EXEC EXECUTE ALTER CREATE"),
        ("MERGE", "", " ".join(BEGINS - {"IF", "EXEC", "END"})),
    )
)
"""In statements that begin with the first words, behind the second ones, the third do not begin another statement;
nothing listed means any."""

MODULE_OPTIONS = frozenset("SCHEMABINDING ENCRYPTION VIEW_METADATA RECOMPILE NATIVE_COMPILATION".split())
"""What WITH may say of a view or a module."""
