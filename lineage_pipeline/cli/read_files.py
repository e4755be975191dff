"""What commands say about the files that they read, and about those that look like SQL and are not read."""

from typing import TYPE_CHECKING

from lineage_pipeline.cli.output import OUTPUT_SETTINGS, print_note

if TYPE_CHECKING:
    from lineage_pipeline.config.load import Settings
    from lineage_pipeline.discover.discovery import Discovery


def list_read_files(found: "Discovery") -> None:
    """With --verbose, list all files: how and why each one is read, or why not."""
    if not OUTPUT_SETTINGS.verbose:
        return
    for file in found.files:
        print_note(f"{file.path}: {file.dialect or 'generic SQL'} ({file.evidence or 'no sign'}), {file.encoding}")
    for unread in found.unread:
        print_note(f"{unread.path}: not read ({unread.reason.value})")


def note_cached_folder(folder: str) -> None:
    """With --verbose, say that no file of a folder was read again."""
    if OUTPUT_SETTINGS.verbose:
        print_note(f"lineage: {folder} has not changed: its lineage comes from the cache")


def summarize_unread(found: "Discovery") -> str:
    """Return one line about the files that look like SQL and are not read."""
    from lineage_pipeline.discover.file_selection import count_by_ending, describe_unread

    subject = describe_unread(len(found.unread))
    return f"{subject} not read: {count_by_ending(found.unread)}" + (
        "" if OUTPUT_SETTINGS.verbose else "; -v lists them"
    )


def describe_include(settings: "Settings") -> str:
    """Return the patterns of files that are read; the defaults are too many to list."""
    from lineage_pipeline.config.models import DEFAULT_INCLUDE

    own = [pattern for pattern in settings.include if pattern not in DEFAULT_INCLUDE]
    extends = set(settings.include).issuperset(DEFAULT_INCLUDE)
    return ", ".join(
        [*(["the default endings (*.sql and others)"] if extends else settings.include), *(own if extends else [])]
    )
