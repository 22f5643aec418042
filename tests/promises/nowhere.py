"""Places where no provider is, and what a channel has to be told to go there."""

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from threading import Thread

from services.backbone.clock import ManualClock
from services.machine.ports import free_ports
from services.simulator.inbox.apns.account import made_up
from tests.integration.rabbitmq import CERTIFICATE

SECRET = "very-secret-1234"
Nowhere = Callable[[], AbstractContextManager[str]]
"""Gives the origin of a place while it lasts."""


@contextmanager
def closed() -> Iterator[str]:
    """A port on which nobody listens."""
    (port,) = free_ports(1)
    yield f"http://127.0.0.1:{port}"


@contextmanager
def without_name() -> Iterator[str]:
    """A host that no name server knows, ever (RFC 6761)."""
    yield "http://provider.invalid:80"


@contextmanager
def silent() -> Iterator[str]:
    """A port whose queue of connections is full: the kernel answers no more of them."""
    with ExitStack() as kept:
        server = kept.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(2):
            waiting = kept.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@contextmanager
def untrusted() -> Iterator[str]:
    """A server with a certificate that nobody vouches for; it would take everything."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    with socket.create_server(("127.0.0.1", 0)) as server:
        Thread(target=_shake_hands, args=(server, context), daemon=True).start()
        yield f"https://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)


def _shake_hands(server: socket.socket, context: ssl.SSLContext) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            try:
                context.wrap_socket(connection, server_side=True).recv(1)
            except OSError:
                continue


def settings(origin: str) -> dict[str, str]:
    """Return settings of all channels that let each look for its provider there."""
    host_and_port = origin.partition("//")[2]
    ledger = free_ports(1)[0]
    told = {
        "KAFKA_BOOTSTRAP_SERVERS": host_and_port,
        "SEND_TIMEOUT_SECONDS": "0.5",
        "RABBITMQ_URL": f"amqp://aldebaran:{SECRET}@{host_and_port}/",
        "NAGIOS_SPOOL": "/nowhere/checkresults",
        "NRDP_URL": f"{origin}/nrdp/",
        "NRDP_TOKEN": SECRET,
        "LOG_CHANNEL_FILE": "/nowhere/deliveries.jsonl",
        "EMAIL_PORT": origin.rpartition(":")[2],
        "EMAIL_USERNAME": "aldebaran",
        "EMAIL_PASSWORD": SECRET,
        "PAGERDUTY_ROUTING_KEYS": f'{{"on-call": "{SECRET}"}}',
        "PAGERDUTY_URL": origin,
        "SLACK_BOT_TOKEN": SECRET,
        "SLACK_CHANNELS": '{"on-call": "C0123456789"}',
        "SLACK_URL": origin,
        "SMS_ACCOUNT_SID": "AC" + "0" * 32,
        "SMS_AUTH_TOKEN": SECRET,
        "SMS_SENDER": "+15005550006",
        "SMS_API_URL": origin,
        "POSTGRES_URL": f"postgresql://aldebaran:{SECRET}@127.0.0.1:{ledger}/aldebaran",
        "PUSH_URL": f"https://{host_and_port}",
        "PUSH_KEY": made_up(ManualClock().now_ms()).signing_key,
        "PUSH_KEY_ID": "ABCDEFGHIJ",
        "PUSH_TEAM_ID": "ABCDEFGHIJ",
        "PUSH_TOPIC": "org.example.app",
        "PUSH_DEVICES": f'{{"on-call": {{"token": "{"ab" * 32}"}}}}',
        "WEBHOOK_TARGETS": f'{{"the-desk": {{"url": "{origin}/{SECRET}"}}}}',
        "WEBHOOK_SIGNING_SECRET": SECRET,
    }
    return {f"ALDEBARAN_{name}": value for name, value in told.items()}
