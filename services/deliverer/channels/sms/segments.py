"""How long a text message is: alphabets, segments, and a text that is cut to fit.

A text wholly in the GSM-7 alphabet has 160 places in one segment, or 153 in each of several; any
other goes as UCS-2 with 70, or 67. Some characters take two places and are never split.
"""

from dataclasses import dataclass
from typing import Final

from services.contracts import gsm

_BASIC_PLANE_LAST: Final = 0xFFFF
CUT_MARK: Final = "..."


@dataclass(frozen=True, slots=True)
class Alphabet:
    """How a whole text is written: places in a segment alone, and in each of several."""

    name: str
    alone: int
    each: int

    def places(self, character: str) -> int:
        """Return how many places a character takes."""
        if self is GSM_7:
            return gsm.places(character)
        return 2 if ord(character) > _BASIC_PLANE_LAST else 1


GSM_7: Final = Alphabet("GSM-7", alone=gsm.ONE_MESSAGE_PLACES, each=153)
UCS_2: Final = Alphabet("UCS-2", alone=70, each=67)


def alphabet_of(text: str) -> Alphabet:
    """Return the alphabet that a text needs."""
    return GSM_7 if gsm.LETTERS.issuperset(text) else UCS_2


def segments(text: str) -> int:
    """Return how many segments a text takes; an empty one takes one."""
    alphabet = alphabet_of(text)
    if sum(map(alphabet.places, text)) <= alphabet.alone:
        return 1
    count, filled = 1, 0
    for character in text:
        places = alphabet.places(character)
        if filled + places > alphabet.each:
            count, filled = count + 1, 0
        filled += places
    return count


def plainer(text: str) -> str:
    """Return the text with typographic signs as plain ones, for they would halve the room."""
    return text.translate(gsm.PLAINER)


def fitted(text: str, tail: str, limit: int) -> str:
    """Return text and tail within `limit` segments; the text may be cut, the tail never is."""
    if segments(text + tail) <= limit:
        return text + tail
    fits, over = 0, len(text)
    while over - fits > 1:
        middle = (fits + over) // 2
        if segments(text[:middle] + CUT_MARK + tail) <= limit:
            fits = middle
        else:
            over = middle
    return text[:fits].rstrip() + CUT_MARK + tail
