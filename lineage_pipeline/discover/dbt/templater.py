"""The way in: which project a file belongs to, and what it becomes."""

import posixpath
from collections.abc import Iterator

import msgspec

from lineage_pipeline.discover.dbt.documents import Documents
from lineage_pipeline.discover.dbt.project import FILE, Project, find_projects, kind_of
from lineage_pipeline.discover.dbt.rendering import (
    project_hooks,
    rendered_exposures,
    rendered_file,
    rendered_seed,
    rendered_snapshots,
)
from lineage_pipeline.discover.dbt.schemas import listed_tables
from lineage_pipeline.discover.dbt.session import Session
from lineage_pipeline.discover.dbt.target import Wanted
from lineage_pipeline.discover.templating.pieces import Pieces
from lineage_pipeline.discover.templating.protocol import Library, Problem, Rendered, Template
from lineage_pipeline.vocabulary.places import NOTHING_COPIED

SILENT = frozenset({"macro", "test", "analysis"})
"""Kinds of files that make no object."""


class Further(msgspec.Struct, frozen=True):
    """A file that is no SQL and yet bears on it: a seed, the YAML of exposures or snapshots, what describes tables."""

    path: str
    text: str
    rendered: Rendered
    templater: str = "dbt"


class DbtTemplater:
    """Renders the files of dbt projects as dbt would, without dbt."""

    def __init__(self, library: Library, wanted: Wanted) -> None:
        """Find the projects of a repository."""
        self.library, self.wanted = library, wanted
        self.documents = Documents(library)
        self.projects = sorted(find_projects(library, self.documents), key=lambda project: -len(project.root))
        self._sessions: dict[str, Session] = {}

    def project_of(self, path: str) -> Project | None:
        """Give the innermost project around a file."""
        return next((one for one in self.projects if not one.root or path.startswith(f"{one.root}/")), None)

    def session(self, project: Project) -> Session:
        """Give the session of a project."""
        if project.root not in self._sessions:
            self._sessions[project.root] = Session(project, self.library, self.documents, self.wanted)
        return self._sessions[project.root]

    def owns(self, path: str) -> bool:
        """Say whether a file is one that dbt reads."""
        project = self.project_of(path)
        return project is not None and bool(kind_of(project.places(), path)[0])

    def dialect(self, path: str) -> str:
        """Give the dialect of the project around a file, as far as it is known."""
        project = self.project_of(path)
        return self.session(project).target.adapter.dialect if project is not None else ""

    def render(self, template: Template) -> Rendered:
        """Render one file."""
        project = self.project_of(template.path)
        if project is None:
            return Rendered(template.text, (0, 0, len(template.text)))
        kind, _ = kind_of(project.places(), template.path)
        session = self.session(project)
        nodes = session.nodes.by_path.get(template.path, ())
        if kind in SILENT or not nodes:
            return Rendered("", NOTHING_COPIED)
        result = rendered_file(session, template, nodes)
        return msgspec.structs.replace(result, dialect=session.target.adapter.dialect)

    def further(self) -> Iterator[Further]:
        """Give what the files say that are no SQL."""
        for project in sorted(self.projects, key=lambda project: project.root):
            session = self.session(project)
            dialect = session.target.adapter.dialect
            for path, rendered in sorted(_by_path(session).items()):
                if self.project_of(path) is project:  # and not a package beside it, which has a session of its own
                    text = self.library.read(path) or ""
                    yield Further(path, text, msgspec.structs.replace(rendered, dialect=dialect))
            path = posixpath.join(project.root, FILE)
            listed = msgspec.json.encode(tuple(listed_tables(session))).decode()
            text = self.library.read(path) or ""
            reason = session.manifest.problem
            wrong = (Problem("TEMPLATE_ERROR", {"reason": reason}),) if reason else ()
            wrong = (*wrong, *project_hooks(session, path))
            yield Further(path, text, Rendered(listed, NOTHING_COPIED, wrong, dialect=dialect), "schema")
        for path, reason in sorted(self.documents.wrong.items()):
            damaged = (Problem("TEMPLATE_ERROR", {"reason": reason}),)
            yield Further(path, self.library.read(path) or "", Rendered("", NOTHING_COPIED, damaged))


def _by_path(session: Session) -> dict[str, Rendered]:
    """Give the SQL of seeds, and of YAML that defines snapshots or exposures."""
    found: dict[str, Rendered] = {}
    for path, nodes in session.nodes.by_path.items():
        if path.endswith(".csv"):
            found[path] = rendered_seed(session, nodes[0], session.library.read(path) or "")
        elif path.endswith((".yml", ".yaml")):
            found[path] = rendered_snapshots(session, nodes)
    for path in {place for _, place in session.nodes.exposures}:
        entries = [entry for entry, place in session.nodes.exposures if place == path]
        pieces = Pieces()
        for part in (found.get(path, Rendered("")), rendered_exposures(session, entries, path)):
            pieces.add(part.text, part.copies if part.text else ())
        found[path] = Rendered(*pieces.done())
    return found
