"""From a message to its events: whatever a publisher says about it, nothing is lost."""

from services.backbone.web.problems import Problem
from services.contracts.events import Invalid
from services.gateway.media import Encoding, Form, encoding_of, form_of
from services.gateway.split import Parts, Unreadable, split
from services.gateway.unpack import Corrupt, TooLarge, unpack

_CHARACTER_SETS = frozenset({"utf-8", "utf8"})
"""Publishers often name the character set where AMQP has the compression."""


def read_message(
    body: bytes,
    content_type: str | None,
    content_encoding: str | None,
    *,
    limit_bytes: int,
    limit_events: int,
) -> Parts:
    """Find the events of a message; one that cannot be read counts as one that is not valid."""
    try:
        plain = unpack(body, _encoding(content_encoding), limit_bytes)
    except TooLarge:
        return _unreadable(body, "too_large", f"it decompresses to over {limit_bytes} bytes")
    except Corrupt as error:
        return _unreadable(body, "bad_encoding", str(error))
    except Problem as problem:
        return _unreadable(body, problem.reason, problem.detail)
    parts = split(plain, _form(content_type))
    if not len(parts):
        return _unreadable(body, "empty", "the message holds no event")
    if len(parts) > limit_events:
        return _unreadable(plain, "too_many_events", f"{len(parts)}, at most {limit_events}")
    return parts


def _encoding(content_encoding: str | None) -> Encoding:
    said = (content_encoding or "").lower()
    return Encoding.IDENTITY if said in _CHARACTER_SETS else encoding_of(said)


def _form(content_type: str | None) -> Form:
    try:
        return form_of(content_type or "")
    except Problem:
        return Form.LOOK


def _unreadable(body: bytes, reason: str, detail: str) -> Unreadable:
    return Unreadable(body, Invalid(reason, detail))
