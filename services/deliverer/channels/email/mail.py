"""A delivery as a mail.

By the older half of Python's library for mails: the newer one parses each header that it is given,
which took more of a deliverer's processor than all the rest of a mail.
"""

import re
from datetime import UTC, datetime
from email.charset import QP, Charset
from email.header import Header
from email.message import Message as Mail
from email.policy import Compat32
from email.utils import format_datetime, formataddr
from typing import Any, Final

from services.deliverer.channel import Message
from services.deliverer.channels.email.settings import EmailSettings

_HEADER_LIMIT: Final = 78
"""Characters of a header's line, as the library folds them."""
_LINE_LIMIT: Final = 900
"""Characters of a line that is sent as it is; RFC 5321 allows 998."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_DOT_LINE: Final = re.compile(rb"(?m)^\.")


class _Policy(Compat32):
    """Writes a header that fits a line as it is: folding, which looks at each word, took as long as
    all the rest of a mail.
    """

    def fold_binary(self, name: str, value: Any) -> bytes:
        """Return the lines of a header, which is a text or a `Header`."""
        line = f"{name}: {value}"
        if isinstance(value, str) and value.isascii() and len(line) <= _HEADER_LIMIT:
            return f"{line}{self.linesep}".encode()
        return super().fold_binary(name, value)


_POLICY: Final = _Policy(linesep="\r\n", cte_type="7bit", mangle_from_=False)


def message_id(delivery_id: str, domain: str) -> str:
    """Return the Message-ID, which every try of a delivery has."""
    return f"<{delivery_id}@{domain}>"


def composed(message: Message, settings: EmailSettings) -> bytes:
    """Return the mail as it goes over the wire, dots doubled, final dot included.

    The same bytes at every unmarked try: even the date is that of the delivery.
    """
    delivery = message.worded
    mail: Mail[str | Header, str | Header] = Mail(policy=_POLICY)
    mail["From"] = formataddr((_one_line(settings.email_sender_name), settings.email_sender))
    mail["To"] = delivery.recipient
    mail["Subject"] = _subject(_one_line(delivery.subject))
    mail["Date"] = format_datetime(datetime.fromtimestamp(delivery.created_at_ms / 1000, UTC))
    mail["Message-ID"] = message_id(delivery.delivery_id, settings.domain)
    mail["Auto-Submitted"] = "auto-generated"
    mail["X-Aldebaran-Delivery"] = delivery.delivery_id
    mail["X-Aldebaran-Alert"] = delivery.alert.alert_id
    mail.set_payload(delivery.text + "\n", _charset(delivery.text))
    return _DOT_LINE.sub(b"..", mail.as_bytes()) + b".\r\n"


def _charset(text: str) -> Charset | str:
    """Return how the text is written: as it is where that is possible, else quoted-printable."""
    if text.isascii() and all(len(line) <= _LINE_LIMIT for line in text.splitlines()):
        return "us-ascii"
    quoted = Charset("utf-8")
    quoted.body_encoding = QP
    return quoted


def _subject(text: str) -> Header | str:
    """Return a subject that is read as it was given, also one that looks like an encoded word."""
    plain = text.isascii() and "=?" not in text and len(text) <= _LINE_LIMIT
    return text if plain else Header(text, "utf-8", header_name="Subject")


def _one_line(text: str) -> str:
    return _CONTROL.sub(" ", text)
