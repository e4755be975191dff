"""Real servers on the loopback that receive alerts: HTTP and SMTP."""

import json
import socketserver
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any


class HttpReceiver(ThreadingHTTPServer):
    """Accepts posts, or answers with another code, or late."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.taken: list[tuple[str, dict[str, str], Any]] = []
        self.answers: list[int] = []
        self.delay = 0.0
        self.headers: dict[str, str] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: HttpReceiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        code = self.server.answers.pop(0) if self.server.answers else 200
        time.sleep(self.server.delay)
        if code < 300:
            self.server.taken.append((self.path, dict(self.headers), json.loads(body)))
        try:
            self.send_response(code)
            for name, value in self.server.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()
        except OSError:
            return  # the client gave up waiting

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class MailReceiver(socketserver.ThreadingTCPServer):
    """Speaks SMTP: greets, asks for a password where there is one, and keeps the mails."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, port: int = 0, password: str = "", certificate: tuple[Path, Path] | None = None) -> None:
        super().__init__(("127.0.0.1", port), _SmtpSession)
        self.password = password
        self.certificate = certificate
        self.encrypted = 0
        self.refusal = "550 nobody here"
        self.taken: list[tuple[list[str], EmailMessage]] = []
        self.refused: set[str] = set()

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _SmtpSession(socketserver.StreamRequestHandler):
    server: MailReceiver

    def handle(self) -> None:
        self.known, self.to = not self.server.password, list[str]()
        self.answer("220 receiver.example ESMTP")
        while line := self.rfile.readline():
            word, _, rest = line.decode().strip().partition(" ")
            if word.upper() == "QUIT":
                self.answer("221 bye")
                return
            self.obey(word.upper(), rest)

    def obey(self, word: str, rest: str) -> None:
        if word == "EHLO":
            offered = "250-STARTTLS\r\n" if self.server.certificate else ""
            self.answer(f"250-receiver.example\r\n{offered}250 AUTH PLAIN")
        elif word == "STARTTLS" and self.server.certificate:
            self.answer("220 go on")
            self.encrypt(self.server.certificate)
        elif word == "AUTH":
            from base64 import b64decode

            self.known = b64decode(rest.removeprefix("PLAIN ")).split(b"\0")[2].decode() == self.server.password
            self.answer("235 welcome" if self.known else "535 who are you")
        elif word == "MAIL":
            self.answer("250 ok" if self.known else "530 authentication required")
        elif word == "RCPT":
            address = rest[rest.index("<") + 1 : rest.index(">")]
            refused = address in self.server.refused
            self.to += [] if refused else [address]
            self.answer(self.server.refusal if refused else "250 ok")
        elif word == "DATA":
            self.take()
        else:
            self.answer("250 ok")

    def encrypt(self, certificate: tuple[Path, Path]) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        try:
            self.connection = context.wrap_socket(self.connection, server_side=True)
        except OSError:  # the client does not trust us
            self.rfile = BytesIO()
            return
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
        self.server.encrypted += 1

    def finish(self) -> None:
        super().finish()
        self.connection.close()

    def take(self) -> None:
        self.answer("354 go on")
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        message = message_from_bytes(b"".join(lines), policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.server.taken.append((self.to, message))
        self.to = []
        self.answer("250 taken")

    def answer(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


@contextmanager
def run_server(server: socketserver.BaseServer) -> Iterator[None]:
    """Let a server answer in a thread while the block runs."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
