"""What stands in a text message: the subject, what the text adds to it, a link, and the code."""

import re
from typing import Final

from services.contracts.records import Delivery
from services.contracts.twilio import body_code
from services.deliverer.channel import REPEAT_MARK, REPEAT_NOTE
from services.deliverer.channels.sms.segments import CUT_MARK, fitted, plainer, segments

SUBJECT_LEAST: Final = 40
"""So many characters must say what it is about before a link may take the room."""
_REPEAT: Final = REPEAT_MARK.strip()

_LINK_AT_THE_END: Final = re.compile(r"(\s)([a-z]+://\S+)$")
_BEGINS: Final = r"""(?<![^\s(\["'])"""
_ENDS: Final = r"""(?=[.,;:!?)\]"']*(?:\s|$))"""
_LABEL_AT_THE_END: Final = re.compile(r"\s*[^\n:]*:$")


def body(worded: Delivery, segments_limit: int) -> str:
    """Return the message's text within the limit; the code of the delivery ends it, whole.

    What is too long is cut at the end of subject and text. A link at the text's end goes whole, and
    at least the subject's first SUBJECT_LEAST characters, mark included; else it is left out.
    """
    code = f"\n{body_code(worded.delivery_id)}"
    subject = plainer(worded.subject).strip()
    mark = REPEAT_MARK if subject.startswith(_REPEAT) else ""
    text = "\n".join(_lines(subject.removeprefix(_REPEAT).strip(), plainer(worded.text)))
    link = _LINK_AT_THE_END.search(text)
    if link is None:
        return fitted(mark + text, code, segments_limit)
    before, tail = text[: link.start()], link[0] + code
    if _has_room(mark + before, tail, segments_limit):
        return fitted(mark + before, tail, segments_limit)
    return fitted(mark + _LABEL_AT_THE_END.sub("", before), code, segments_limit)


def _has_room(before: str, tail: str, limit: int) -> bool:
    cut = before[:SUBJECT_LEAST] + CUT_MARK
    return min(segments(before + tail), segments(cut + tail)) <= limit


def _lines(subject: str, text: str) -> list[str]:
    """Return what subject and text say, nothing of it twice; the subject's mark says the note."""
    lines = [each.strip() for each in text.replace("\r", "").splitlines()]
    said = [each for each in lines if each and each != REPEAT_NOTE]
    added = [each for each in said if not _standing(each).search(subject)]
    is_said = not subject or (bool(added) and _standing(subject).match(added[0]) is not None)
    return added if is_said else [subject, *added]


def _standing(words: str) -> re.Pattern[str]:
    """Return what finds the words where they stand by themselves: no "rack 1" in "rack 12"."""
    return re.compile(_BEGINS + re.escape(words) + _ENDS)
