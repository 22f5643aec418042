"""What stands in a text message: the subject, what the text adds to it, a link, and the code."""

import re
from typing import Final

from services.contracts.records import Delivery
from services.contracts.twilio import body_code
from services.deliverer.channels.sms.segments import fitted, plainer, segments

_LINK_AT_THE_END: Final = re.compile(r"(\s)([a-z]+://\S+)$")
_LABEL_AT_THE_END: Final = re.compile(r"\s*[^\n:]*:$")


def body(worded: Delivery, segments_limit: int) -> str:
    """Return the message's text within the limit; the code of the delivery ends it, whole.

    A link at the text's end goes whole too, or not at all if the subject had to give way to it.
    """
    code = f"\n{body_code(worded.delivery_id)}"
    subject = plainer(worded.subject).strip()
    text = "\n".join(_lines(subject, plainer(worded.text)))
    link = _LINK_AT_THE_END.search(text)
    if link is None:
        return fitted(text, code, segments_limit)
    before, tail = text[: link.start()], link[0] + code
    if segments(subject + tail) <= segments_limit:
        return fitted(before, tail, segments_limit)
    return fitted(_LABEL_AT_THE_END.sub("", before), code, segments_limit)


def _lines(subject: str, text: str) -> list[str]:
    """Return what subject and text say, nothing of it twice."""
    lines = [each.strip() for each in text.replace("\r", "").splitlines()]
    added = [each for each in lines if each and each not in subject]
    is_said = not subject or (bool(added) and added[0].startswith(subject))
    return added if is_said else [subject, *added]
