"""The way in: which project a file belongs to, and what it becomes."""

import posixpath
from collections.abc import Collection, Iterator, Sequence

import msgspec

from lineage_pipeline.discover.dbt.documents import Documents
from lineage_pipeline.discover.dbt.inferred import Inferred
from lineage_pipeline.discover.dbt.nodes import Node
from lineage_pipeline.discover.dbt.programs import SUFFIX, rendered_program
from lineage_pipeline.discover.dbt.project import FILE, Project, all_of, find_projects, is_installed, kind_of, lies_in
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


DESCRIBING = (".csv", ".yml", ".yaml")
"""The ends of the names of files that are no SQL and make objects all the same."""


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
        self._homes = sorted(_homes(self.projects), key=lambda home: -len(home[0].root))
        self._sessions: dict[str, Session] = {}

    def project_of(self, path: str) -> Project | None:
        """Give the project that a file is built by: the one around it, or the one that has the package around it."""
        home = self._home(path)
        return home[1] if home is not None else None

    def _home(self, path: str) -> tuple[Project, Project] | None:
        """Give the innermost project or package around a file, and the project that builds it."""
        return next((home for home in self._homes if lies_in(path, home[0].root)), None)

    def _kind(self, path: str) -> str:
        home = self._home(path)
        return kind_of(home[0].places(), path)[0] if home is not None else ""

    def session(self, project: Project) -> Session:
        """Give the session of a project."""
        if project.root not in self._sessions:
            session = self._sessions[project.root] = Session(project, self.library, self.documents, self.wanted)
            session.inferred = Inferred(session).columns
        return self._sessions[project.root]

    def owns(self, path: str) -> bool:
        """Say whether a file is one that dbt reads, or lies beside such in a package that is installed."""
        return bool(self._kind(path)) or self._is_installed(path)

    def _is_installed(self, path: str) -> bool:
        home = self._home(path)
        return home is not None and is_installed(posixpath.relpath(path, home[1].root or "."))

    def is_program(self, path: str) -> bool:
        """Say whether a file is a model that is written in Python."""
        project = self.project_of(path) if path.endswith(SUFFIX) else None
        return project is not None and path in self.session(project).nodes.by_path

    def dialect(self, path: str) -> str:
        """Give the dialect of the project around a file, as far as it is known."""
        project = self.project_of(path)
        return self.session(project).target.adapter.dialect if project is not None else ""

    def render(self, template: Template) -> Rendered:
        """Render one file."""
        project = self.project_of(template.path)
        if project is None:
            return Rendered(template.text, (0, 0, len(template.text)))
        session = self.session(project)
        nodes = session.nodes.by_path.get(template.path, ())
        if template.path.endswith(DESCRIBING):
            result = _by_path(session, (), template.path).get(template.path, Rendered("", NOTHING_COPIED))
        elif self._kind(template.path) in SILENT or not nodes:
            return Rendered("", NOTHING_COPIED)
        else:
            result = rendered_nodes(session, template, nodes)
        return msgspec.structs.replace(result, dialect=session.target.adapter.dialect)

    def further(self, known: Collection[str] = ()) -> Iterator[Further]:
        """Give what the files say that are no SQL, and the models of installed packages that are not `known`."""
        for project in sorted(self.projects, key=lambda project: project.root):
            session = self.session(project)
            dialect = session.target.adapter.dialect
            for path, rendered in sorted(_by_path(session, known).items()):
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
        for path, damage in sorted(self.documents.wrong.items()):
            damaged = (Problem("TEMPLATE_ERROR", {"reason": damage.reason}, damage.at),)
            yield Further(path, self.library.read(path) or "", Rendered("", NOTHING_COPIED, damaged))


def rendered_nodes(session: Session, template: Template, nodes: Sequence[Node]) -> Rendered:
    """Render a file of models or snapshots, or the program that a model is."""
    if template.path.endswith(SUFFIX):
        return rendered_program(session, nodes[0], template.text)
    return rendered_file(session, template, nodes)


def _homes(projects: Sequence[Project]) -> Iterator[tuple[Project, Project]]:
    """Give every project and package, each once, with the project that builds it."""
    taken = {project.root: project for project in projects}
    yield from ((project, project) for project in projects)
    for project in sorted(projects, key=lambda one: one.root):
        for package in all_of(project):
            if taken.setdefault(package.root, project) is project and package.root != project.root:
                yield package, project


def _by_path(session: Session, known: Collection[str], only: str = "") -> dict[str, Rendered]:
    """Give the SQL of seeds, of YAML that defines snapshots or exposures, and of packages that git does not know."""
    found: dict[str, Rendered] = {}
    for path, nodes in session.nodes.by_path.items():
        if only not in ("", path):
            continue
        if path.endswith(".csv"):
            found[path] = rendered_seed(session, nodes[0], session.library.read(path) or "")
        elif path.endswith((".yml", ".yaml")):
            found[path] = rendered_snapshots(session, nodes)
        elif path not in known and is_installed(posixpath.relpath(path, session.project.root or ".")):
            found[path] = rendered_nodes(session, Template(path, session.library.read(path) or ""), nodes)
    for path in {place for _, place in session.nodes.exposures if only in ("", place)}:
        entries = [entry for entry, place in session.nodes.exposures if place == path]
        pieces = Pieces()
        for part in (found.get(path, Rendered("")), rendered_exposures(session, entries, path)):
            pieces.add(part.text, part.copies if part.text else ())
        found[path] = Rendered(*pieces.done())
    return found
