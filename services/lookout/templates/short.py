"""The shortest useful text, for SMS and push: one line with the essential numbers."""

from typing import Any, Final

from services.contracts.records import Alert
from services.lookout.rendering import NO_LINKS, Links, Message, cut, one_line
from services.lookout.templates.gsm import ONE_MESSAGE_LETTERS, fitted, plain, room

SUMMARY_ROOM: Final = 100
VALUE_LIMIT_CHARACTERS: Final = 24


def short(alert: Alert, links: Links = NO_LINKS, opening: str = "") -> Message:
    """Return one line of at most 160 GSM letters; the link to acknowledge is never cut.

    For an opening in front of it the summary gives way.
    """
    link = f" {links.acknowledge}" if 0 < len(links.acknowledge) < ONE_MESSAGE_LETTERS - 40 else ""
    head = f"{alert.severity.upper()} {alert.watch}"
    left = ONE_MESSAGE_LETTERS - room(plain(link))
    first = one_line(f"{opening} {head}")
    text = fitted(one_line(f"{first}: {alert.summary}"), min(left, len(first) + SUMMARY_ROOM))
    for name, value in alert.values.items():
        more = plain(f" {one_line(name)}={_number(value)}")
        if isinstance(value, int | float) and room(text) + room(more) <= left:
            text += more
    return Message(plain(cut(one_line(head), SUMMARY_ROOM)), text + link)


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    small = not isinstance(value, int) or value.bit_length() < VALUE_LIMIT_CHARACTERS * 3
    return str(value) if small else "very large"
