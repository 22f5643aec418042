"""GSM 03.38, the alphabet of a plain SMS, and the letters of it that stand for signs beside it.

One letter of a text that is not in it makes 70 places of the 160 that a message has.
"""

from typing import Final

ONE_MESSAGE_PLACES: Final = 160

ONE_PLACE: Final = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"  # GSM's own
)
TWO_PLACES: Final = frozenset("\f^{}\\[~]|€")
LETTERS: Final = ONE_PLACE | TWO_PLACES

PLAINER: Final[dict[int, str]] = str.maketrans(
    {
        "\N{HORIZONTAL ELLIPSIS}": "...",
        "\N{EN DASH}": "-",
        "\N{EM DASH}": "-",
        "\N{MINUS SIGN}": "-",
        "\N{LEFT SINGLE QUOTATION MARK}": "'",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "\N{SINGLE LOW-9 QUOTATION MARK}": "'",
        "\N{LEFT DOUBLE QUOTATION MARK}": '"',
        "\N{RIGHT DOUBLE QUOTATION MARK}": '"',
        "\N{DOUBLE LOW-9 QUOTATION MARK}": '"',
        "\N{RIGHTWARDS ARROW}": "->",
        "\N{MULTIPLICATION SIGN}": "x",
        "\N{DEGREE SIGN}": "deg",
        "\N{BULLET}": "*",
        "`": "'",
        "\t": " ",
        "\N{NO-BREAK SPACE}": " ",
        "\N{LINE SEPARATOR}": "\n",
        "\N{PARAGRAPH SEPARATOR}": "\n",
    }
)
"""What readers take for the same, as `str.translate` asks for it."""


def places(letters: str) -> int:
    """Return how many places a text of these letters takes."""
    return sum(2 if letter in TWO_PLACES else 1 for letter in letters)
