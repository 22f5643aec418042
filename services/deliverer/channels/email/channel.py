"""Hands mails over, each step driven by ourselves; with a relay's log it can be asked."""

import asyncio
import re
import socket
from typing import Final

import aiosmtplib

from services.backbone.certificates import Certificates
from services.backbone.clock import Clock
from services.backbone.dialling import dialled
from services.contracts.records import Severity
from services.deliverer.channel import Doubt, Finding, Message, SendWindow, Traits, Unclear
from services.deliverer.channels.email.mail import composed
from services.deliverer.channels.email.promise import PROMISE
from services.deliverer.channels.email.sessions import Sessions, leave
from services.deliverer.channels.email.settings import PLAIN_ADDRESS, EmailSettings
from services.deliverer.channels.email.witness import EmailWitness, look_up_times
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown

_REASON_LIMIT: Final = 300
_GO_AHEAD: Final = 354
_CLOSING: Final = 421
_NOT_LET_IN: Final = 530
"""RFC 3207 and 4954: TLS or a log-in is asked for first."""


class EmailChannel:
    """Sends each delivery in one mail; mails that follow each other share an SMTP session."""

    def __init__(self, settings: EmailSettings, clock: Clock) -> None:
        self._settings = settings
        plain = settings.email_tls == "none"
        self._certificates = None if plain else Certificates(settings.email_ca_file)
        self._sessions = Sessions(self._client, settings.email_keep_session_seconds)
        log = settings.email_relay_log
        self._witness = None if log is None else EmailWitness(settings, log, clock, self._sessions)
        self.traits = Traits(
            name="email",
            promise=PROMISE,
            dedupes_by_key=False,
            repeats=frozenset({Severity.CRITICAL}),
            send_timeout_seconds=60.0,
            look_up_after_seconds=() if log is None else look_up_times(settings),
        )

    async def send(self, message: Message, window: SendWindow) -> Outcome:
        """Send one mail."""
        recipient = message.delivery.recipient
        if not re.fullmatch(PLAIN_ADDRESS, recipient):
            return Permanent("the recipient is no plain mail address")
        if (session := self._sessions.kept()) is not None:
            outcome = await self._tried(session, message, window)
            if window.opened or not _is_over(outcome):
                return outcome
        try:
            session = await self._sessions.open()
        except (aiosmtplib.SMTPException, OSError) as error:
            return Refused(_told("no session with the relay", error), destination_down=True)
        return await self._tried(session, message, window)

    async def look_up(self, doubt: Doubt) -> Finding:
        """Read the relay's log."""
        if self._witness is None:
            return Unclear("email_relay_log is not set")
        return await self._witness.look_up(doubt)

    def unusable(self) -> str | None:
        """Return None: a session that is of no use is replaced by itself."""
        return None

    async def close(self) -> None:
        """Leave the relay."""
        self._sessions.close()

    async def _client(self) -> aiosmtplib.SMTP:
        settings = self._settings
        password = settings.email_password
        there = await self._dialled()
        return aiosmtplib.SMTP(
            hostname=settings.email_host,
            sock=there,
            username=settings.email_username,
            password=None if password is None else password.get_secret_value(),
            local_hostname=settings.domain,
            timeout=settings.email_step_timeout_seconds,
            use_tls=settings.email_tls == "tls",
            start_tls=settings.email_tls == "starttls",
            tls_context=None if self._certificates is None else self._certificates.tls(),
        )

    async def _dialled(self) -> socket.socket:
        settings = self._settings
        host, port = settings.email_host, settings.email_port
        try:
            async with asyncio.timeout(settings.email_step_timeout_seconds):
                return await dialled(host, port)
        except TimeoutError:
            raise TimeoutError(f"nobody answers at {host}:{port}") from None

    async def _tried(
        self, session: aiosmtplib.SMTP, message: Message, window: SendWindow
    ) -> Outcome:
        """Send in this session, and keep it if it stands as it did before."""
        outcome: Outcome | None = None
        try:
            outcome = await self._transaction(session, message, window)
        finally:
            if isinstance(outcome, Accepted):
                self._sessions.keep(session)
            else:
                leave(session)
        return outcome

    async def _transaction(
        self, client: aiosmtplib.SMTP, message: Message, window: SendWindow
    ) -> Outcome:
        content = composed(message, self._settings)
        try:
            await client.mail(self._settings.email_sender)
            await client.rcpt(message.delivery.recipient)
            go_ahead = await client.execute_command(b"DATA")
        except aiosmtplib.SMTPSenderRefused as refusal:
            return sender_refused(refusal.code, refusal.message)
        except aiosmtplib.SMTPResponseException as refusal:
            return refused(refusal.code, refusal.message)
        except (aiosmtplib.SMTPException, OSError) as error:
            return Refused(_told("lost before the content", error), destination_down=True)
        if go_ahead.code != _GO_AHEAD:
            return refused(go_ahead.code, go_ahead.message)
        return await _handed_over(client, content, window)


async def _handed_over(client: aiosmtplib.SMTP, content: bytes, window: SendWindow) -> Outcome:
    """Write the content with its dot, and wait for the answer that decides."""
    window.open()
    protocol = client.protocol
    try:
        if protocol is None:
            raise aiosmtplib.SMTPServerDisconnected("closed by the relay")
        protocol.write(content)
    except aiosmtplib.SMTPServerDisconnected as error:
        return Refused(_told("lost before the content", error), destination_down=True)
    try:
        response = await protocol.read_response()
    except (aiosmtplib.SMTPException, OSError) as error:
        return Unknown(_told("lost after the final dot", error))
    return answered(response.code, response.message)


def sender_refused(code: int, text: str) -> Outcome:
    """Sort a relay's answer to the sender, at which it says what it asks of every session."""
    if code == _NOT_LET_IN:
        reason = f"check email_tls and email_username: the relay answered {code} {text}"
        return Refused(reason[:_REASON_LIMIT], destination_down=True)
    return refused(code, text)


def refused(code: int, text: str) -> Outcome:
    """Sort a relay's answer that stopped us before the content."""
    reason = f"the relay answered {code} {text}"[:_REASON_LIMIT]
    if 500 <= code < 600:
        return Permanent(reason)
    return Refused(reason, destination_down=code == _CLOSING)


def answered(code: int, text: str) -> Outcome:
    """Sort a relay's answer to the content."""
    if 200 <= code < 300:
        return Accepted(text[:_REASON_LIMIT])
    if 400 <= code < 600:
        return refused(code, text)
    return Unknown(f"the relay answered {code} {text}"[:_REASON_LIMIT])


def _is_over(outcome: Outcome) -> bool:
    """Tell whether it was the session that ended, before the content, and not the mail."""
    return isinstance(outcome, Refused) and outcome.destination_down


def _told(what: str, error: Exception) -> str:
    return f"{what}: {type(error).__name__}: {error}"[:_REASON_LIMIT]
