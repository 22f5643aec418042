"""The letters of a plain SMS: 160 of them fit one message; any other letter halves the room."""

import unicodedata
from typing import Final

ONE_MESSAGE_LETTERS: Final = 160

# GSM 03.38, the basic set; those of the second set take two places.
_ONE: Final = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"  # GSM's own
)
_TWO: Final = frozenset("^{}\\[~]|€")
_CLOSE: Final = str.maketrans(
    {
        "\N{HORIZONTAL ELLIPSIS}": "...",
        "\N{EN DASH}": "-",
        "\N{EM DASH}": "-",
        "\N{LEFT SINGLE QUOTATION MARK}": "'",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "\N{LEFT DOUBLE QUOTATION MARK}": '"',
        "\N{RIGHT DOUBLE QUOTATION MARK}": '"',
        "\N{RIGHTWARDS ARROW}": "->",
        "\N{MULTIPLICATION SIGN}": "x",
        "\N{DEGREE SIGN}": "deg",
        "`": "'",
        "\t": " ",
    }
)


def plain(text: str) -> str:
    """Return the text in letters of the GSM set: others by what looks most like them, else `?`."""
    return "".join(_letter(each) for each in text.translate(_CLOSE))


def room(text: str) -> int:
    """Return how many of the 160 places a text of GSM letters takes."""
    return sum(2 if letter in _TWO else 1 for letter in text)


def fitted(text: str, limit: int = ONE_MESSAGE_LETTERS) -> str:
    """Return GSM letters that fit; dots show that something is left out."""
    whole = plain(text)
    if room(whole) <= limit:
        return whole
    kept = whole
    while room(kept) > limit - 2:
        kept = kept[: len(kept) - max(1, (room(kept) - limit + 2) // 2)]
    return kept.rstrip() + ".."


def _letter(letter: str) -> str:
    if letter in _ONE or letter in _TWO:
        return letter
    bare = unicodedata.normalize("NFKD", letter)
    found = "".join(each for each in bare if each in _ONE)
    return found or ("" if unicodedata.combining(letter) else "?")
