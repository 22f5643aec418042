"""E-mail: one message for one recipient through an SMTP relay, each step driven by ourselves.

A relay takes a message with the dot that ends it. So the send window is checked, and opened, right
before the content with its dot is written: all that fails earlier is provably not taken. The
Message-ID is made of the delivery id, so that a relay's log can be searched for it.
"""

import re
import ssl
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formataddr
from typing import Annotated, Final, Literal

import aiosmtplib
from pydantic import SecretStr, StringConstraints

from services.backbone.clock import Clock
from services.backbone.settings import Port, Seconds, Settings, read_settings
from services.contracts.records import Severity
from services.deliverer.channel import Message, Promise, SendWindow, Traits
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown

_PLAIN_ADDRESS: Final = r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,255}"
_POLICY: Final = SMTP.clone(cte_type="7bit")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_DOT_LINE: Final = re.compile(rb"(?m)^\.")
_REASON_LIMIT: Final = 300
_GO_AHEAD: Final = 354
_CLOSING: Final = 421

Address = Annotated[str, StringConstraints(pattern=f"^{_PLAIN_ADDRESS}$")]

PROMISE: Final = Promise(
    recipient="one mail address",
    our_id="`Message-ID`, header `X-Aldebaran-Delivery`",
    taken_when="the relay answers 2xx to the final dot",
    not_taken="anything before the content and its dot; any 4xx",
    permanent="5xx to sender, recipient, DATA or content; no plain address",
    in_doubt="connection lost or silence after the dot",
    evidence="none",
    without_faults="once into the relay",
    after_doubt="at most one repeat, marked; or held",
    not_promised="what relays behind the first one do",
)


class EmailSettings(Settings):
    """Which relay, and as whom."""

    email_host: str = "127.0.0.1"
    email_port: Port = 25
    email_tls: Literal["none", "starttls", "tls"] = "none"
    email_ca_file: str | None = None
    email_username: str | None = None
    email_password: SecretStr | None = None
    email_sender: Address = "aldebaran@localhost.localdomain"
    email_sender_name: str = "Aldebaran"
    email_step_timeout_seconds: Seconds = 20.0
    """For each step before the content; the answer to the content has the whole send timeout."""

    @property
    def domain(self) -> str:
        """The sender's domain; also our name in the greeting and in message ids."""
        return self.email_sender.rpartition("@")[2]


class EmailChannel:
    """Sends each delivery in an SMTP session of its own."""

    def __init__(self, settings: EmailSettings) -> None:
        self._settings = settings
        plain = settings.email_tls == "none"
        self._tls = None if plain else ssl.create_default_context(cafile=settings.email_ca_file)
        self.traits = Traits(
            name="email",
            promise=PROMISE,
            dedupes_by_key=False,
            repeats=frozenset({Severity.CRITICAL}),
            send_timeout_seconds=60.0,
        )

    async def send(self, message: Message, window: SendWindow) -> Outcome:
        """Send one mail."""
        recipient = message.delivery.recipient
        if not re.fullmatch(_PLAIN_ADDRESS, recipient):
            return Permanent("the recipient is no plain mail address")
        client = self._client()
        try:
            await client.connect()
        except (aiosmtplib.SMTPException, OSError) as error:
            return Refused(_told("no session with the relay", error), destination_down=True)
        try:
            return await self._transaction(client, message, window)
        finally:
            _leave(client)

    def unusable(self) -> str | None:
        """Return None: each session is new."""
        return None

    async def close(self) -> None:
        """Nothing is kept open."""

    def _client(self) -> aiosmtplib.SMTP:
        settings = self._settings
        password = settings.email_password
        return aiosmtplib.SMTP(
            hostname=settings.email_host,
            port=settings.email_port,
            username=settings.email_username,
            password=None if password is None else password.get_secret_value(),
            local_hostname=settings.domain,
            timeout=settings.email_step_timeout_seconds,
            use_tls=settings.email_tls == "tls",
            start_tls=settings.email_tls == "starttls",
            tls_context=self._tls,
        )

    async def _transaction(
        self, client: aiosmtplib.SMTP, message: Message, window: SendWindow
    ) -> Outcome:
        content = composed(message, self._settings)
        try:
            await client.mail(self._settings.email_sender)
            await client.rcpt(message.delivery.recipient)
            go_ahead = await client.execute_command(b"DATA")
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


def composed(message: Message, settings: EmailSettings) -> bytes:
    """Return the mail as it goes over the wire, dots doubled, final dot included.

    The same bytes at every unmarked try: even the date is that of the delivery.
    """
    delivery = message.worded
    mail = EmailMessage(policy=_POLICY)
    mail["From"] = formataddr((_one_line(settings.email_sender_name), settings.email_sender))
    mail["To"] = delivery.recipient
    mail["Subject"] = _one_line(delivery.subject)
    mail["Date"] = datetime.fromtimestamp(delivery.created_at_ms / 1000, UTC)
    mail["Message-ID"] = f"<{delivery.delivery_id}@{settings.domain}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail["X-Aldebaran-Delivery"] = delivery.delivery_id
    mail["X-Aldebaran-Alert"] = delivery.alert.alert_id
    mail.set_content(delivery.text + "\n")
    return _DOT_LINE.sub(b"..", mail.as_bytes()) + b".\r\n"


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


def _leave(client: aiosmtplib.SMTP) -> None:
    """Say good-bye without waiting for the answer."""
    if client.protocol is not None and client.protocol.is_connected:
        client.protocol.write(b"QUIT\r\n")
    client.close()


def _one_line(text: str) -> str:
    return _CONTROL.sub(" ", text)


def _told(what: str, error: Exception) -> str:
    return f"{what}: {type(error).__name__}: {error}"[:_REASON_LIMIT]


def open_channel(_: Clock) -> EmailChannel:
    """Read the settings and make the channel."""
    return EmailChannel(read_settings(EmailSettings))
