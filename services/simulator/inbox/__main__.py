"""`python -m services.simulator.inbox`: the people and providers at the far end."""

import argparse
import logging
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Final

from services.backbone import service
from services.backbone.clock import SystemClock
from services.backbone.errors import Refused
from services.backbone.service import Life
from services.backbone.settings import EXIT_BAD_SETTINGS, read_settings
from services.simulator.inbox.dials import turned, untouched
from services.simulator.inbox.mail import mail_server, start
from services.simulator.inbox.pages import inbox_app
from services.simulator.inbox.queue import QueueReader
from services.simulator.inbox.received import Received
from services.simulator.inbox.settings import InboxSettings
from services.simulator.inbox.spool import read_until
from services.simulator.inbox.switchboard import Switchboard
from services.simulator.inbox.web import WebServer

_HELP: Final = """Keeps the newest 10,000 mails under $ALDEBARAN_HOME/mail and every arrival,
webhooks whole, in $ALDEBARAN_HOME/inbox/received.jsonl (256 MiB, then one older file); prints one
line per message. Ports: ALDEBARAN_INBOX_SMTP_PORT (18025), ALDEBARAN_INBOX_HOOK_PORT (18090: POST
/hook, and the other providers), ALDEBARAN_HTTP_PORT (18089: /healthz/live, /healthz/ready,
/metrics, /received with exact counts per delivery id, /dials). Faults at start:
ALDEBARAN_INBOX_DIALS='{"mail": {"accept_then_drop_share": 1}}'; later: POST the same to /dials."""


def body(settings: InboxSettings, switchboard: Switchboard, life: Life) -> None:
    """Serve until the stop.

    Raises:
        Refused: a port is taken.
        Transient: the machine is too slow just now.
    """
    listening = threading.Event()
    life.health.add_ready("ports", lambda: None if listening.is_set() else "not listening yet")
    with ExitStack() as closing:
        switchboard.received.open()
        closing.callback(switchboard.received.close)
        _open(settings, switchboard, closing)
        _begin_reading(settings, switchboard, life, closing)
        listening.set()
        life.stop.wait()


def _open(settings: InboxSettings, switchboard: Switchboard, closing: ExitStack) -> None:
    host = settings.inbox_host
    try:
        hook = WebServer(switchboard, host, settings.inbox_hook_port)
    except OSError as error:
        raise Refused(f"cannot listen on port {settings.inbox_hook_port}: {error}") from None
    hook.start()
    closing.callback(hook.stop)
    mail = mail_server(switchboard, settings.home / "mail", host, settings.inbox_smtp_port)
    start(mail)
    closing.callback(mail.stop)


def _begin_reading(
    settings: InboxSettings, switchboard: Switchboard, life: Life, closing: ExitStack
) -> None:
    if (folder := settings.inbox_nagios_spool) is not None:
        arguments = (life.stop, folder, switchboard)
        reading = threading.Thread(target=read_until, args=arguments, name="spool")
        reading.start()
        closing.callback(reading.join)
        closing.callback(life.stop.set)
    if (url := settings.inbox_rabbitmq_url) is not None:
        queue = QueueReader(url.get_secret_value(), settings.inbox_rabbitmq_queue, switchboard)
        queue.start()
        closing.callback(queue.stop)


def say(line: str) -> None:
    """Show a line to whoever watches; a full disk takes the line, never the arrival it tells of."""
    with suppress(OSError):
        # Python's own writer would keep what it could not write, and fail with it at the end.
        os.write(sys.stdout.fileno(), f"{line}\n".encode(sys.stdout.encoding, "replace"))


def main(arguments: Sequence[str]) -> int:
    """Run until SIGTERM; return the exit code."""
    argparse.ArgumentParser("python -m services.simulator.inbox", description=_HELP).parse_args(
        arguments
    )
    settings = read_settings(InboxSettings)
    logging.getLogger("mail.log").setLevel(logging.WARNING)  # aiosmtpd logs every command
    try:
        dials = turned(untouched(), settings.inbox_dials)
    except ValueError as error:
        sys.stderr.write(f"ALDEBARAN_INBOX_DIALS: {error}\n")
        return EXIT_BAD_SETTINGS
    received = Received(settings.home / "inbox" / "received.jsonl", dials)
    switchboard = Switchboard(dials, received, SystemClock(), say)
    return service.run(
        "inbox",
        settings,
        lambda life: body(settings, switchboard, life),
        lambda life: inbox_app(life.health, switchboard),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
