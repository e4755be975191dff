"""The dbt templater: which project a file belongs to, and the SQL it becomes."""

import posixpath
from collections.abc import Collection, Iterator, Sequence

import msgspec

from lineage_pipeline.discover.dbt.node_sql import (
    render_exposures,
    render_node_file,
    render_seed,
    render_yaml_snapshots,
    report_project_hooks,
)
from lineage_pipeline.discover.dbt.nodes import DbtNode
from lineage_pipeline.discover.dbt.project import (
    PROJECT_FILE,
    DbtProject,
    classify_path,
    find_projects,
    is_in_folder,
    is_installed_package,
    with_packages,
)
from lineage_pipeline.discover.dbt.python_models import PYTHON_SUFFIX, render_python_model
from lineage_pipeline.discover.dbt.session import DbtSession
from lineage_pipeline.discover.dbt.table_metadata import InferredColumns, list_described_tables
from lineage_pipeline.discover.dbt.target import TargetOptions
from lineage_pipeline.discover.dbt.yaml_files import YamlFiles
from lineage_pipeline.discover.dialect_vote import DialectVote
from lineage_pipeline.discover.templating.pieces import Pieces
from lineage_pipeline.discover.templating.protocol import Library, Problem, Rendered, Template
from lineage_pipeline.model.source_map import NO_COPIES

OBJECTLESS_KINDS = frozenset({"macro", "test", "analysis"})
"""Kinds of files that define no object."""


DESCRIPTION_SUFFIXES = (".csv", ".yml", ".yaml")
"""Suffixes of files without SQL that define objects: seeds and YAML."""


class ProjectFile(msgspec.Struct, frozen=True):
    """A file without SQL that defines or describes objects: a seed, or YAML of exposures, snapshots or tables."""

    path: str
    text: str
    rendered: Rendered
    templater: str = "dbt"


class DbtTemplater:
    """Renders the files of dbt projects as dbt would, without dbt."""

    def __init__(self, library: Library, wanted: TargetOptions) -> None:
        """Find the projects of a repository."""
        self.library, self.wanted = library, wanted
        self.documents = YamlFiles(library)
        self.projects = sorted(find_projects(library, self.documents), key=lambda project: -len(project.root))
        self._homes = sorted(_projects_and_packages(self.projects), key=lambda home: -len(home[0].root))
        self._sessions: dict[str, DbtSession] = {}

    def project_of(self, path: str) -> DbtProject | None:
        """Return the project that builds a file: the one around it, or the one that uses the package around it."""
        home = self._innermost_project(path)
        return home[1] if home is not None else None

    def _innermost_project(self, path: str) -> tuple[DbtProject, DbtProject] | None:
        """Return the innermost project or package around a file, and the project that builds it."""
        return next((home for home in self._homes if is_in_folder(path, home[0].root)), None)

    def _file_kind(self, path: str) -> str:
        home = self._innermost_project(path)
        return classify_path(home[0].places(), path)[0] if home is not None else ""

    def session(self, project: DbtProject) -> DbtSession:
        """Return the session of a project."""
        if project.root not in self._sessions:
            session = self._sessions[project.root] = DbtSession(project, self.library, self.documents, self.wanted)
            session.inferred = InferredColumns(session).columns
        return self._sessions[project.root]

    def owns(self, path: str) -> bool:
        """Return whether dbt reads a file, or it lies in an installed package."""
        return bool(self._file_kind(path)) or self._is_installed(path)

    def _is_installed(self, path: str) -> bool:
        home = self._innermost_project(path)
        return home is not None and is_installed_package(posixpath.relpath(path, home[1].root or "."))

    def is_python_model(self, path: str) -> bool:
        """Return whether a file is a model written in Python."""
        project = self.project_of(path) if path.endswith(PYTHON_SUFFIX) else None
        return project is not None and path in self.session(project).nodes.by_path

    def votes(self) -> Iterator[DialectVote]:
        """Yield the votes of the projects in use whose dialect nothing declares."""
        targets = (self._sessions[root].target for root in sorted(self._sessions))
        for target in targets:
            if target.vote is not None:
                yield msgspec.structs.replace(target.vote, dialect=target.adapter.dialect, evidence=target.evidence)

    def dialect(self, path: str) -> str:
        """Return the dialect of the project around a file, as far as it is known."""
        project = self.project_of(path)
        return self.session(project).target.adapter.dialect if project is not None else ""

    def render(self, template: Template) -> Rendered:
        """Render one file."""
        project = self.project_of(template.path)
        if project is None:
            return Rendered(template.text, (0, 0, len(template.text)))
        session = self.session(project)
        nodes = session.nodes.by_path.get(template.path, ())
        if template.path.endswith(DESCRIPTION_SUFFIXES):
            result = _render_by_path(session, (), template.path).get(template.path, Rendered("", NO_COPIES))
        elif self._file_kind(template.path) in OBJECTLESS_KINDS or not nodes:
            result = Rendered("", NO_COPIES)
        else:
            result = render_node_or_program(session, template, nodes)
        target = session.target
        return msgspec.structs.replace(result, dialect=target.adapter.dialect, evidence=target.evidence)

    def project_files(self, known: Collection[str] = ()) -> Iterator[ProjectFile]:
        """Yield the files without SQL, and the models of installed packages that are not `known`."""
        for project in sorted(self.projects, key=lambda project: project.root):
            session = self.session(project)
            known_by = {"dialect": session.target.adapter.dialect, "evidence": session.target.evidence}
            for path, rendered in sorted(_render_by_path(session, known).items()):
                if self.project_of(path) is project:  # and not a package beside it, which has a session of its own
                    text = self.library.read(path) or ""
                    yield ProjectFile(path, text, msgspec.structs.replace(rendered, **known_by))
            path = posixpath.join(project.root, PROJECT_FILE)
            listed = msgspec.json.encode(tuple(list_described_tables(session))).decode()
            text = self.library.read(path) or ""
            reason = session.manifest.problem
            wrong = (Problem("TEMPLATE_ERROR", {"reason": reason}),) if reason else ()
            wrong = (*wrong, *report_project_hooks(session, path))
            yield ProjectFile(path, text, Rendered(listed, NO_COPIES, wrong, **known_by), "schema")
        for path, damage in sorted(self.documents.wrong.items()):
            damaged = (Problem("TEMPLATE_ERROR", {"reason": damage.reason}, damage.at),)
            yield ProjectFile(path, self.library.read(path) or "", Rendered("", NO_COPIES, damaged))


def render_node_or_program(session: DbtSession, template: Template, nodes: Sequence[DbtNode]) -> Rendered:
    """Render a file of models or snapshots, or a Python model."""
    if template.path.endswith(PYTHON_SUFFIX):
        return render_python_model(session, nodes[0], template.text)
    return render_node_file(session, template, nodes)


def _projects_and_packages(projects: Sequence[DbtProject]) -> Iterator[tuple[DbtProject, DbtProject]]:
    """Yield every project and package, each once, with the project that builds it."""
    taken = {project.root: project for project in projects}
    yield from ((project, project) for project in projects)
    for project in sorted(projects, key=lambda one: one.root):
        for package in with_packages(project):
            if taken.setdefault(package.root, project) is project and package.root != project.root:
                yield package, project


def _render_by_path(session: DbtSession, known: Collection[str], only: str = "") -> dict[str, Rendered]:
    """Return the SQL of seeds, of YAML with snapshots or exposures, and of packages that git does not track."""
    found: dict[str, Rendered] = {}
    for path, nodes in session.nodes.by_path.items():
        if only not in ("", path):
            continue
        if path.endswith(".csv"):
            found[path] = render_seed(session, nodes[0], session.library.read(path) or "")
        elif path.endswith((".yml", ".yaml")):
            found[path] = render_yaml_snapshots(session, nodes)
        elif path not in known and is_installed_package(posixpath.relpath(path, session.project.root or ".")):
            found[path] = render_node_or_program(session, Template(path, session.library.read(path) or ""), nodes)
    for path in {place for _, place in session.nodes.exposures if only in ("", place)}:
        entries = [entry for entry, place in session.nodes.exposures if place == path]
        pieces = Pieces()
        for part in (found.get(path, Rendered("")), render_exposures(session, entries, path)):
            pieces.add(part.text, part.copies if part.text else ())
        found[path] = Rendered(*pieces.done())
    return found
