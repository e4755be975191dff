"""Several repositories, some of them at a revision, as one subject: each read as its own settings say."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from lineage_pipeline.discover.gather import Discovery
from lineage_pipeline.discover.schemas.model import Imports
from lineage_pipeline.vocabulary.tables import Diagnostic, Snapshot

if TYPE_CHECKING:
    from lineage_pipeline.cli.subject import Side
    from lineage_pipeline.discover.templating.protocol import Templating
    from lineage_pipeline.settings import Settings
    from lineage_pipeline.vocabulary.analysis import Options


class JointRules(NamedTuple):
    """The settings of several repositories, asked with paths that begin with the name of one."""

    settings: "Mapping[str, Settings]"

    def _asked(self, path: str) -> "tuple[Settings, str]":
        """Give the settings of the repository that a path lies in, and the path in there."""
        name = max((name for name in self.settings if path.startswith(f"{name}/")), key=len)
        return self.settings[name], path.removeprefix(f"{name}/")

    def selects(self, path: str) -> bool:
        """Say whether a file is to be read."""
        settings, inner = self._asked(path)
        return settings.selects(inner)

    def leaves_out(self, path: str) -> bool:
        """Say whether a file is excluded."""
        settings, inner = self._asked(path)
        return settings.leaves_out(inner)

    def options_for(self, path: str) -> "Options":
        """Give the options of the system that a file belongs to."""
        settings, inner = self._asked(path)
        return settings.options_for(inner)

    def templating_for(self, path: str) -> "Templating":
        """Give how a file is rendered."""
        settings, inner = self._asked(path)
        return settings.templating_for(inner)

    def listed(self) -> tuple[str, ...]:
        """Name the files that have to be there: each repository has said so itself."""
        return ()

    def analysis_key(self) -> str:
        """Name what bears on results."""
        return "\0".join(f"{name}={settings.analysis_key()}" for name, settings in self.settings.items())


def joined(sides: "Mapping[str, Side]") -> tuple[Discovery, JointRules, Imports]:
    """Give the files of several repositories as those of one, under the name of each."""
    files, findings = [], []
    for name, (found, _) in sides.items():
        files += [msgspec.structs.replace(file, path=f"{name}/{file.path}") for file in found.files]
        findings += [_under(name, finding) for finding in found.diagnostics]
    sources = {source.source_hash: source for found, _ in sides.values() for source in found.sources}
    rules = JointRules({name: settings for name, (_, settings) in sides.items()})
    commit = hashlib.sha256("\0".join(found.key for found, _ in sides.values()).encode()).hexdigest()[:40]
    snapshot = Snapshot("files", (), f"tree-{commit}", (), None, "none", None, None, len(files), rules.analysis_key())
    imports = _imports([settings.imports() for _, settings in sides.values()])
    return Discovery(snapshot, tuple(files), tuple(sources.values()), tuple(findings)), rules, imports


def _under(name: str, finding: Diagnostic) -> Diagnostic:
    identity = hashlib.sha256(f"{name}\0{finding.id}".encode()).hexdigest()[:16]
    path = f"{name}/{finding.path}" if finding.path is not None else None
    return msgspec.structs.replace(finding, id=identity, path=path)


def _imports(given: Sequence[Imports]) -> Imports:
    """Give the imported schemas of all; the first who knows an object counts."""
    schemas = {name: schema for one in reversed(given) for name, schema in one.schemas.items()}
    return Imports(schemas, tuple(dict.fromkeys(finding for one in given for finding in one.findings)))
