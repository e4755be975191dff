"""Labels of objects: tags, owners and descriptions from settings, imports, DDL and the owners of files."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from lineage_pipeline.dialects.folding import fits
from lineage_pipeline.engine.graph.objects import Draft
from lineage_pipeline.vocabulary.analysis import Label, TableSchema
from lineage_pipeline.vocabulary.plan import Face


class Labelled(msgspec.Struct, frozen=True):
    """What is said of one object, and which tags its columns get by patterns."""

    tags: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    description: str | None = None
    columns: tuple[tuple[str, tuple[str, ...]], ...] = ()


NOTHING = Labelled()


def labelled(name: str, draft: Draft, imported: TableSchema | None, owners: Sequence[str]) -> Labelled:
    """The labels of an object; `owners` are those of the file that defines it, and every source adds its own."""
    fitting = [label for label in draft.space.labels if any(fits(name, item) for item in label.objects)]
    if not fitting and imported is None and not owners and not draft.tags and not draft.comment:
        return NOTHING
    whole = [label for label in fitting if not label.columns]
    tags = [*draft.tags, *(imported.tags if imported else ()), *(tag for label in whole for tag in label.tags)]
    named = [*(owner for label in fitting for owner in label.owners), *(imported.owners if imported else ()), *owners]
    return Labelled(
        tuple(sorted(set(tags))),
        tuple(dict.fromkeys(named)),
        draft.comment or (imported.description if imported else None) or None,
        tuple((pattern, label.tags) for label in fitting for pattern in label.columns),
    )


def may_tag(files: Iterable[tuple[Sequence[Face], Sequence[Label]]], imported: Mapping[str, TableSchema]) -> bool:
    """Whether any column can have a tag: by a statement of a file, by its settings, or by an import."""
    if any(column.tags for schema in imported.values() for column in schema.columns):
        return True
    return any(
        any(label.columns and label.tags for label in labels) or any(face.tagged for face in faces)
        for faces, labels in files
    )
