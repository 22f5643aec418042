"""A delivery as a mail."""

import re
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formataddr
from typing import Final

from services.deliverer.channel import Message
from services.deliverer.channels.email.settings import EmailSettings

_POLICY: Final = SMTP.clone(cte_type="7bit")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_DOT_LINE: Final = re.compile(rb"(?m)^\.")


def message_id(delivery_id: str, domain: str) -> str:
    """Return the Message-ID, which every try of a delivery has."""
    return f"<{delivery_id}@{domain}>"


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
    mail["Message-ID"] = message_id(delivery.delivery_id, settings.domain)
    mail["Auto-Submitted"] = "auto-generated"
    mail["X-Aldebaran-Delivery"] = delivery.delivery_id
    mail["X-Aldebaran-Alert"] = delivery.alert.alert_id
    mail.set_content(delivery.text + "\n")
    return _DOT_LINE.sub(b"..", mail.as_bytes()) + b".\r\n"


def _one_line(text: str) -> str:
    return _CONTROL.sub(" ", text)
