"""Stand-ins of providers that count exactly what they took, and misbehave when told."""

import socket
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from services.machine.ports import free_ports


@dataclass(frozen=True)
class Answer:
    """What the receiver does after it has read a request; `taken` tells that it keeps it."""

    status: int | None = 200
    headers: tuple[tuple[str, str], ...] = ()
    taken: bool = True
    after: threading.Event | None = None
    """Answer only when this is set."""


OK = Answer()
DROP = Answer(status=None)
"""Keep the message, then close without an answer."""


@dataclass(frozen=True)
class Request:
    """One request that was read whole."""

    key: str
    headers: dict[str, str]
    body: bytes
    taken: bool


@dataclass
class WebhookReceiver:
    """Answers requests with `script(request number, key)`; the first is number 1."""

    script: Callable[[int, str], Answer] = lambda number, key: OK
    requests: list[Request] = field(default_factory=list)
    port: int = field(default_factory=lambda: free_ports(1)[0])
    """Its own also while it does not listen."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/in"

    def taken(self) -> Counter[str]:
        """How often each delivery id was taken."""
        with self.lock:
            return Counter(each.key for each in self.requests if each.taken)

    def came(self) -> Counter[str]:
        """How often each delivery id was read, taken or not."""
        with self.lock:
            return Counter(each.key for each in self.requests)

    def take(self, headers: dict[str, str], body: bytes) -> Answer:
        key = headers["idempotency-key"]
        with self.lock:
            answer = self.script(len(self.requests) + 1, key)
            self.requests.append(Request(key, headers, body, answer.taken))
        return answer

    @contextmanager
    def listening(self) -> Iterator["WebhookReceiver"]:
        server = _Server(self)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, receiver: WebhookReceiver) -> None:
        self.receiver = receiver
        super().__init__(("127.0.0.1", receiver.port), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.receiver.take(headers, body)
        if answer.after is not None:
            answer.after.wait(60)
        if answer.status is None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        try:
            self.send_response(answer.status)
            for name, value in (*answer.headers, ("Content-Length", "0")):
                self.send_header(name, value)
            self.end_headers()
        except OSError:
            self.close_connection = True  # the sender was killed while we waited

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@dataclass
class Mailbox:
    """An SMTP relay that keeps each mail it takes; `fault` may misbehave instead."""

    mails: list[Message] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    greet: threading.Event = field(default_factory=threading.Event)
    greeted: threading.Event = field(default_factory=threading.Event)
    on_recipient: str = "250 OK"
    on_content: str = "250 OK queued as 4711"
    drop_after_dot: bool = False
    encoding: str = "ascii"
    """Of what it answers to the content."""

    def __post_init__(self) -> None:
        self.greet.set()

    def taken(self) -> Counter[str]:
        """How often each delivery id was taken."""
        return Counter(mail["X-Aldebaran-Delivery"] for mail in self.mails)

    async def handle_EHLO(
        self,
        server: SMTP,
        session: Session,
        envelope: Envelope,
        hostname: str,
        responses: list[str],
    ) -> list[str]:
        session.host_name = hostname
        self.greeted.set()
        await server.loop.run_in_executor(None, self.greet.wait, 60)
        return responses

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.on_recipient.startswith("250"):
            envelope.rcpt_tos.append(address)
        return self.on_recipient

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> bytes:
        content = envelope.content
        assert isinstance(content, bytes)
        if self.on_content.startswith("250"):
            self.mails.append(message_from_bytes(content))
            self.recipients += envelope.rcpt_tos
        if self.drop_after_dot and server.transport is not None:
            server.transport.close()
        return self.on_content.encode(self.encoding)

    @contextmanager
    def listening(
        self, port: int, tls: ssl.SSLContext | None = None, user: tuple[str, str] | None = None
    ) -> Iterator["Mailbox"]:
        """Serve; with `tls` by STARTTLS only, and then for `user` only."""

        def authenticated(*arguments: object) -> AuthResult:
            given = arguments[-1]
            assert isinstance(given, LoginPassword)
            known = (given.login.decode(), given.password.decode()) == user
            return AuthResult(success=known)

        controller = Controller(
            self,
            hostname="127.0.0.1",
            port=port,
            tls_context=tls,
            require_starttls=tls is not None,
            authenticator=authenticated,
            auth_required=user is not None,
        )
        controller.start()
        try:
            yield self
        finally:
            self.greet.set()
            controller.stop()
