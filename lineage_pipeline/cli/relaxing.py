"""What a change says of its own judgement: settings at the head that are milder than those of its base."""

import os
from pathlib import Path

from lineage_pipeline.cli.subject import Side
from lineage_pipeline.discover.git import toplevel
from lineage_pipeline.settings.relaxing import relaxed_since
from lineage_pipeline.vocabulary.tables import Diagnostic


def relaxations(path: Path, sides: tuple[Side, Side]) -> tuple[Diagnostic, ...]:
    """Give a finding for each setting that is milder than in the same repository at its base."""
    top, commit, settings = toplevel(path).resolve(), sides[0][0].snapshot.commit, sides[1][1]
    folder = settings.root if settings.file is not None else top
    if not folder.is_relative_to(top):
        return ()  # the settings are none of the repository's
    place = "".join(f"{part}/" for part in folder.relative_to(top).parts)
    return relaxed_since(top, commit, settings, os.environ, place)
