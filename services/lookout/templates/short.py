"""The shortest useful text, for SMS and push: one line with the essential numbers."""

from typing import Any, Final

from services.contracts.gsm import ONE_MESSAGE_PLACES, places
from services.contracts.records import Alert
from services.lookout.templates.gsm import fitted, plain
from services.lookout.templates.rendering import NO_LINKS, Links, Message, cut, one_line

SUMMARY_ROOM: Final = 100
TEXT_ROOM: Final = 60
"""What the text has beside the longest link, which then takes a second SMS: nothing else
acknowledges from a phone."""
VALUE_LIMIT_CHARACTERS: Final = 24
LARGE: Final = 1e5
"""From here on six digits are fewer than the whole part has: 1000001 would read as 1e+06."""
TOO_LARGE: Final = 1e15
"""From here on a float does not keep every digit of its whole part."""


def short(alert: Alert, links: Links = NO_LINKS, opening: str = "") -> Message:
    """Return one line of GSM letters, at most 160 of them or, with a long link, 60 and the link.

    The link to acknowledge is never cut. For an opening in front of it the summary gives way.
    """
    link = f" {links.acknowledge}" if links.acknowledge else ""
    head = f"{alert.severity.upper()} {alert.watch}"
    left = max(TEXT_ROOM, ONE_MESSAGE_PLACES - places(plain(link)))
    first = one_line(f"{opening} {head}")
    text = fitted(one_line(f"{first}: {alert.summary}"), min(left, len(first) + SUMMARY_ROOM))
    for name, value in alert.values.items():
        more = plain(f" {one_line(name)}={_number(value)}")
        if isinstance(value, int | float) and places(text) + places(more) <= left:
            text += more
    return Message(plain(cut(one_line(head), SUMMARY_ROOM)), text + link)


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if LARGE <= abs(value) < TOO_LARGE else f"{value:.6g}"
    small = not isinstance(value, int) or value.bit_length() < VALUE_LIMIT_CHARACTERS * 3
    return str(value) if small else "very large"
