"""What stands in a text message: the subject, what the text adds to it, and the code."""

from typing import Final

from services.contracts.records import Delivery
from services.contracts.twilio import body_code
from services.deliverer.channels.sms.segments import fitted, plainer

_CARRIAGE: Final = "\r"


def body(worded: Delivery, segments_limit: int) -> str:
    """Return the message's text within the limit; the code of the delivery ends it, whole."""
    subject = plainer(worded.subject).strip()
    lines = (each.strip() for each in plainer(worded.text).replace(_CARRIAGE, "").splitlines())
    added = [each for each in lines if each and each not in subject]
    text = "\n".join([subject, *added] if subject else added)
    return fitted(text, f"\n{body_code(worded.delivery_id)}", segments_limit)
