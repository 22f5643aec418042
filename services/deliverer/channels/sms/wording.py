"""What stands in a text message: the subject, what the text adds to it, a link, and the code."""

from typing import Final

from services.contracts.records import Delivery
from services.contracts.twilio import body_code
from services.deliverer.channels.sms.segments import fitted, plainer, segments

_CARRIAGE: Final = "\r"
_ADDRESS: Final = "://"


def body(worded: Delivery, segments_limit: int) -> str:
    """Return the message's text within the limit; the code of the delivery ends it, whole.

    A last line with an address goes whole, or not at all if the subject had to give way to it.
    """
    code = f"\n{body_code(worded.delivery_id)}"
    subject = plainer(worded.subject).strip()
    lines = _added(subject, plainer(worded.text))
    link = lines.pop() if lines and _ADDRESS in lines[-1] else ""
    text = "\n".join([subject, *lines] if subject else lines)
    if link and segments(f"{subject}\n{link}{code}") <= segments_limit:
        return fitted(text, f"\n{link}{code}", segments_limit)
    return fitted(text, code, segments_limit)


def _added(subject: str, text: str) -> list[str]:
    """Return the text's lines that the subject does not say already."""
    lines = (each.strip() for each in text.replace(_CARRIAGE, "").splitlines())
    return [each for each in lines if each and each not in subject]
