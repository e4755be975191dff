"""Remote repositories by the transports of git: https with a token, plain http, and ssh without its network.

The servers are git's own (`git http-backend`, `git upload-pack`); only what carries the bytes between them is ours.
"""

import base64
import os
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from lineage_pipeline.config.load import Settings
from lineage_pipeline.discover.git.mirror import TOKEN_VARIABLE, fetch_mirror
from lineage_pipeline.discover.git.repository import discover_revision
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline_tests.support.git_repositories import commit_folder, run_git, write_files

SECRET = "hunter2"  # noqa: S105 - the server of this test takes it


class GitServer(ThreadingHTTPServer):
    """Hands requests to git's own program for them; with a certificate it speaks TLS and wants the token."""

    daemon_threads = True

    def __init__(self, root: Path, certificate: Path | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.root, self.guarded = root, certificate is not None
        self.asked: list[str] = []
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)

    @property
    def url(self) -> str:
        return f"{'https' if self.guarded else 'http'}://localhost:{self.server_address[1]}/shop"


class _Handler(BaseHTTPRequestHandler):
    server: GitServer

    def do_GET(self) -> None:
        token = base64.b64encode(f"x-access-token:{SECRET}".encode()).decode()
        if self.server.guarded and self.headers.get("Authorization") != f"Basic {token}":
            self.send_error(403)
            return
        address = urlsplit(self.path)
        self.server.asked.append(address.path)
        environ = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.server.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": address.path,
            "QUERY_STRING": address.query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_ADDR": "127.0.0.1",
        }
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        done = subprocess.run(["git", "http-backend"], input=body, env=environ, capture_output=True, check=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in {**fields, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    write_files(tmp_path, shop__a_sql="select 1 as one")
    return commit_folder(tmp_path / "shop")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    file = tmp_path / "certificate.pem"
    options = "req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    command = ["openssl", *options.split(), "-keyout", str(file), "-out", str(tmp_path / "only.pem")]
    subprocess.run(command, check=True, capture_output=True)
    file.write_bytes(file.read_bytes() + (tmp_path / "only.pem").read_bytes())
    return file


@pytest.fixture(params=["http", "https"])
def server(request: pytest.FixtureRequest, shop: Path) -> Iterator[GitServer]:
    guard = request.getfixturevalue("certificate") if request.param == "https" else None
    with GitServer(shop.parent, guard) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_new_commits_of_a_server_are_fetched(server: GitServer, shop: Path) -> None:
    environ = {TOKEN_VARIABLE: SECRET, "GIT_SSL_CAINFO": str(shop.parent / "certificate.pem")}
    for text in ("select 1 as one", "select 2 as two"):
        (shop / "a.sql").write_text(text)
        run_git(shop, "commit", "-q", "-a", "--allow-empty", "-m", "more")
        mirror = fetch_mirror(server.url, shop.parent / "mirrors", environ)
        found = discover_revision(mirror, "main", Settings())
        assert [(file.path, source.text) for file, source in zip(found.files, found.sources, strict=True)] == [
            ("a.sql", text)
        ]
    assert "/shop/git-upload-pack" in server.asked


def test_a_server_that_refuses_is_one_sentence_without_the_secret(server: GitServer, shop: Path) -> None:
    environ = {TOKEN_VARIABLE: "wrong", "GIT_SSL_CAINFO": str(shop.parent / "certificate.pem")}
    url = server.url if server.guarded else server.url.replace("/shop", "/nothing")
    with pytest.raises(LineageError, match="cannot be fetched") as refused:
        fetch_mirror(url, shop.parent / "mirrors", environ)
    assert "wrong" not in str(refused.value)
    assert base64.b64encode(b"x-access-token:wrong").decode() not in str(refused.value)


def test_a_server_without_a_trusted_certificate_is_refused(certificate: Path, shop: Path) -> None:
    with GitServer(shop.parent, certificate) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        with pytest.raises(LineageError, match="cannot be fetched"):
            fetch_mirror(server.url, shop.parent / "mirrors", {TOKEN_VARIABLE: SECRET})
        server.shutdown()
        thread.join()
    assert server.asked == []


@pytest.mark.parametrize("form", ["ssh://somebody@{host}{path}", "somebody@{host}:{path}"])
def test_ssh_is_asked_for_the_folder_of_the_address(form: str, shop: Path) -> None:
    asked = shop.parent / "asked"
    stand_in = shop.parent / "ssh"  # in the place of the network: it runs the command that ssh would run over there
    stand_in.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {asked}\nfor last; do :; done\nexec sh -c "$last"\n')
    stand_in.chmod(0o755)
    url = form.format(host="git.invalid", path=shop)
    mirror = fetch_mirror(url, shop.parent / "mirrors", {"GIT_SSH_COMMAND": str(stand_in)})
    assert [file.path for file in discover_revision(mirror, "HEAD", Settings()).files] == ["a.sql"]
    assert "somebody@git.invalid" in asked.read_text()
    assert f"git-upload-pack '{shop}'" in asked.read_text()
