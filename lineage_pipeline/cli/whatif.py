"""What if: who would feel a change that nobody has made yet."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lineage_pipeline.export import Comparison

Edits = list[str] | None


def supposed(word: str, flags: Mapping[str, Any], wanted: Mapping[str, Edits]) -> "Comparison":
    """Compare a folder, or a revision of a repository, with what it would be."""
    from lineage_pipeline import pipeline
    from lineage_pipeline.cli.sides import side_of
    from lineage_pipeline.cli.subject import compiler_of
    from lineage_pipeline.discover.gather import input_files
    from lineage_pipeline.discover.schemas.found import with_found
    from lineage_pipeline.engine.diff import diff
    from lineage_pipeline.engine.diff.suppose import Action
    from lineage_pipeline.export import Comparison
    from lineage_pipeline.settings.judging import policy_of
    from lineage_pipeline.suppositions import resolve_edit, suppose
    from lineage_pipeline.vocabulary.errors import LineageError

    if not any(wanted.values()):
        raise LineageError("say what would change: --drop t.column, --rename t.column=new or --retype t.column=TYPE")
    discovery, settings = side_of(word, flags)
    memory = pipeline.Memory()
    imports = with_found(settings.imports(), discovery.files, discovery.sources, settings)
    base = pipeline.work_out(input_files(discovery, settings), imports.schemas, memory, compiler_of(settings))
    edits = [resolve_edit(base, Action(action), words) for action, given in wanted.items() for words in given or ()]
    before, after = pipeline.settle(base, suppose(base, edits), memory)
    changes = diff(before.lineage, after.lineage, policy_of(settings))
    return Comparison(discovery.key, "; ".join([discovery.key, *map(str, edits)]), tuple(changes))
