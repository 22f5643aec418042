"""The mail server: real SMTP by aiosmtpd, every message that is kept among the mails."""

import asyncio
import socket
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Final

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from services.backbone.errors import Refused, Transient
from services.backbone.log import logger
from services.simulator.inbox.faults import Verdict
from services.simulator.inbox.mails import Mails
from services.simulator.inbox.received import Arrival
from services.simulator.inbox.switchboard import Switchboard

WAY: Final = "mail"
SIZE_LIMIT_BYTES: Final = 1024 * 1024
NOT_KEPT: Final = "452 not kept, as the disk does not take it just now: come again"
START_SECONDS: Final = 60.0
"""While all programs of a small machine start at once, the usual 5 s do not do."""

log = logger(__name__)


class MailHandler:
    """Takes messages as aiosmtpd hands them over, after the final dot."""

    def __init__(self, switchboard: Switchboard, maildir: Path) -> None:
        self._switchboard = switchboard
        self._mails = Mails(maildir)

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        """Keep, refuse, or keep and drop the connection, as the dials say.

        What the disk does not take is to come again, as a relay says it: that is no fault of the
        mail's, and for good it would be lost.
        """
        faults = self._switchboard.faults(WAY)
        verdict = faults.decide(self._switchboard.rng)
        content = envelope.content or b""
        raw = content.encode() if isinstance(content, str) else content
        try:
            self._take(raw, envelope.rcpt_tos, verdict)
        except OSError as error:
            log.warning("mail_not_kept", reason=str(error))
            return NOT_KEPT
        await asyncio.sleep(faults.delay_seconds)
        if verdict is Verdict.DROPPED and server.transport is not None:
            server.transport.close()
        if verdict is Verdict.REFUSED:
            return f"{faults.refuse_status} refused, because a dial says so"
        if faults.strange_answers is not None:
            return "what was that?"
        return "250 kept"

    def _take(self, raw: bytes, recipients: list[str], verdict: Verdict) -> None:
        message = message_from_bytes(raw, policy=policy.default)
        place = "" if verdict is Verdict.REFUSED else self._mails.add(raw)
        arrival = Arrival(
            way=WAY,
            delivery_id=delivery_id_of(message),
            verdict=verdict,
            at_ms=self._switchboard.clock.now_ms(),
            place=place,
        )
        subject = str(message.get("subject", ""))
        try:
            self._switchboard.took(arrival, f"{', '.join(recipients)}: {subject}")
        except OSError:
            if place:
                self._mails.forget(place)
            raise


def delivery_id_of(message: EmailMessage) -> str:
    """Return the part of the Message-ID that is the delivery's id."""
    whole = str(message.get("message-id", "")).strip()
    return whole.strip("<>").partition("@")[0][:1000]


def mail_server(switchboard: Switchboard, maildir: Path, host: str, port: int) -> Controller:
    """Return the server, not started yet; it runs on a thread of its own."""
    return Controller(
        MailHandler(switchboard, maildir),
        hostname=host,
        port=port,
        data_size_limit=SIZE_LIMIT_BYTES,
        server_hostname="inbox",
        timeout=60,
        ready_timeout=START_SECONDS,
    )


def start(server: Controller) -> None:
    """Start the server, and see it answer.

    Raises:
        Refused: its port is taken.
        Transient: it does not answer in time, as the machine is too slow just now.
    """
    try:
        # aiosmtpd itself tells of a port that is taken only when its patience has ended.
        socket.create_server((server.hostname, server.port)).close()
        server.start()
    except TimeoutError as error:
        raise Transient(f"the mail server does not answer: {error}") from None
    except OSError as error:
        raise Refused(f"cannot listen on port {server.port}: {error}") from None
