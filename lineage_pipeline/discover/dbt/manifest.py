"""dbt's `manifest.json`: the one in the repository, or one that dbt builds where the repository is trusted."""

import hashlib
import json
import os
import posixpath
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from lineage_pipeline.discover.dbt.project import DbtProject
from lineage_pipeline.discover.templating.protocol import Library

MANIFEST_PATH = "target/manifest.json"
MAX_DBT_SECONDS = 300
"""How long dbt may run."""

MAX_ERROR_LENGTH = 300
"""How many characters of dbt's error are shown."""


NodeKey = tuple[str, str, str]
"""A node by its package, the path of its file in there, and its name."""


class ManifestNode(msgspec.Struct, frozen=True):
    """A node of a manifest: its name in parts, and its compiled SQL where the file is unchanged."""

    database: str
    schema: str
    alias: str
    compiled: str = ""


class DbtManifest:
    """The nodes of a manifest by package, file and name."""

    def __init__(self, document: Mapping[str, Any] | None = None, problem: str = "") -> None:
        """Store the document; without one no node is known, and `problem` says why."""
        self.problem = problem
        self._nodes: dict[NodeKey, Mapping[str, Any]] = {}
        nodes = (document or {}).get("nodes")
        for unique, node in nodes.items() if isinstance(nodes, Mapping) else ():
            if isinstance(node, Mapping) and node.get("resource_type") in ("model", "seed", "snapshot"):
                package = "".join(str(unique).split(".")[1:2])  # model.<package>.<name>
                self._nodes[package, str(node.get("original_file_path")), str(node.get("name"))] = node

    def find(self, key: NodeKey, text: str) -> ManifestNode | None:
        """Return a node; its compiled SQL is used for unchanged files only."""
        node = self._nodes.get(key)
        if node is None:
            return None
        checksum = node.get("checksum")
        same = isinstance(checksum, Mapping) and checksum.get("checksum") == _file_checksum(text)
        compiled = node.get("compiled_code") or node.get("compiled_sql")
        parts = (str(node.get(key) or "") for key in ("database", "schema", "alias"))
        database, schema, alias = parts
        return ManifestNode(database, schema, alias or key[2], str(compiled) if compiled and same else "")


def _file_checksum(text: str) -> str:
    return hashlib.sha256(text.strip().encode()).hexdigest()


def find_manifest(project: DbtProject, library: Library, place: str, trust: bool) -> DbtManifest:
    """Read the manifest of a project; where the settings trust it and there is none, dbt builds one."""
    for path in (place, posixpath.join(project.root, MANIFEST_PATH)):
        text = library.read(path) if path else None
        if text is not None:
            document = _parse_document(text)
            return DbtManifest(document, f"{path} is no JSON document" if document is None else "")
    folder = getattr(library, "folder", None)
    if trust and isinstance(folder, Path):
        text, problem = run_dbt_parse(folder / project.root)
        return DbtManifest(_parse_document(text), problem)
    return DbtManifest()


def _parse_document(text: str) -> Mapping[str, Any] | None:
    try:
        document = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, Mapping) else None


def run_dbt_parse(folder: Path) -> tuple[str, str]:
    """Run `dbt parse` in a process without our environment; return its manifest, or why there is none."""
    messages = ""
    with tempfile.TemporaryDirectory(prefix="lineage-dbt-") as scratch:
        options = ["--project-dir", folder, "--profiles-dir", folder, "--target-path", scratch, "--log-path", scratch]
        code = "import sys; from dbt.cli.main import cli; cli(sys.argv[1:])"
        quiet = ["--quiet", "--no-partial-parse", "--no-send-anonymous-usage-stats", "--no-use-colors"]
        environ = {"PATH": os.defpath, "HOME": scratch, "LC_ALL": "C.UTF-8"}
        for verb in (["compile", "--no-introspect", "--no-populate-cache"], ["parse"]):
            command = [sys.executable, "-c", code, *quiet, *verb, *map(str, options)]
            try:
                done = subprocess.run(
                    command,
                    cwd=scratch,
                    env=environ,
                    capture_output=True,
                    stdin=subprocess.DEVNULL,
                    timeout=MAX_DBT_SECONDS,
                )
            except subprocess.TimeoutExpired:
                return "", f"dbt took more than {MAX_DBT_SECONDS} seconds"
            manifest = Path(scratch, "manifest.json")
            if manifest.is_file():
                return manifest.read_text(encoding="utf-8"), ""
            messages = " ".join((done.stdout + done.stderr).decode("utf-8", "replace").split())
    return "", f"dbt could not read the project: {messages[-MAX_ERROR_LENGTH:]}"
