"""dbt's own word: a manifest that lies there, or one that dbt makes where the repository is trusted."""

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

from lineage_pipeline.discover.dbt.project import Project
from lineage_pipeline.discover.templating.protocol import Library

PLACE = "target/manifest.json"
SECONDS = 300
"""How long dbt may take."""

SHOWN = 300
"""How much of what dbt says about a project that it cannot read is told."""


Key = tuple[str, str, str]
"""A node by its package, the path of its file in there, and its name."""


class Known(msgspec.Struct, frozen=True):
    """What a manifest says of a node: its name in parts, and its SQL where the file is still the one it was made of."""

    database: str
    schema: str
    alias: str
    compiled: str = ""


class Manifest:
    """The nodes of a manifest by package, file and name."""

    def __init__(self, document: Mapping[str, Any] | None = None, problem: str = "") -> None:
        """Take the document; without one nothing is known, and a `problem` says why."""
        self.problem = problem
        self._nodes: dict[Key, Mapping[str, Any]] = {}
        nodes = (document or {}).get("nodes")
        for unique, node in nodes.items() if isinstance(nodes, Mapping) else ():
            if isinstance(node, Mapping) and node.get("resource_type") in ("model", "seed", "snapshot"):
                package = "".join(str(unique).split(".")[1:2])  # model.<package>.<name>
                self._nodes[package, str(node.get("original_file_path")), str(node.get("name"))] = node

    def find(self, key: Key, text: str) -> Known | None:
        """Give what is known of a node; compiled SQL counts for unchanged files alone."""
        node = self._nodes.get(key)
        if node is None:
            return None
        checksum = node.get("checksum")
        same = isinstance(checksum, Mapping) and checksum.get("checksum") == _checksum(text)
        compiled = node.get("compiled_code") or node.get("compiled_sql")
        parts = (str(node.get(key) or "") for key in ("database", "schema", "alias"))
        database, schema, alias = parts
        return Known(database, schema, alias or key[2], str(compiled) if compiled and same else "")


def _checksum(text: str) -> str:
    return hashlib.sha256(text.strip().encode()).hexdigest()


def find_manifest(project: Project, library: Library, place: str, trust: bool) -> Manifest:
    """Read the manifest of a project; where settings trust it and there is none, dbt makes one."""
    for path in (place, posixpath.join(project.root, PLACE)):
        text = library.read(path) if path else None
        if text is not None:
            document = _document(text)
            return Manifest(document, f"{path} is no JSON document" if document is None else "")
    folder = getattr(library, "folder", None)
    if trust and isinstance(folder, Path):
        text, problem = parsed_by_dbt(folder / project.root)
        return Manifest(_document(text), problem)
    return Manifest()


def _document(text: str) -> Mapping[str, Any] | None:
    try:
        document = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, Mapping) else None


def parsed_by_dbt(folder: Path) -> tuple[str, str]:
    """Let dbt read a project in a process with nothing of our environment; give its manifest, or why there is none."""
    told = ""
    with tempfile.TemporaryDirectory(prefix="lineage-dbt-") as scratch:
        options = ["--project-dir", folder, "--profiles-dir", folder, "--target-path", scratch, "--log-path", scratch]
        code = "import sys; from dbt.cli.main import cli; cli(sys.argv[1:])"
        quiet = ["--quiet", "--no-partial-parse", "--no-send-anonymous-usage-stats", "--no-use-colors"]
        environ = {"PATH": os.defpath, "HOME": scratch, "LC_ALL": "C.UTF-8"}
        for verb in (["compile", "--no-introspect", "--no-populate-cache"], ["parse"]):
            command = [sys.executable, "-c", code, *quiet, *verb, *map(str, options)]
            try:
                done = subprocess.run(
                    command, cwd=scratch, env=environ, capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS
                )
            except subprocess.TimeoutExpired:
                return "", f"dbt took more than {SECONDS} seconds"
            manifest = Path(scratch, "manifest.json")
            if manifest.is_file():
                return manifest.read_text(encoding="utf-8"), ""
            told = " ".join((done.stdout + done.stderr).decode("utf-8", "replace").split())
    return "", f"dbt could not read the project: {told[-SHOWN:]}"
