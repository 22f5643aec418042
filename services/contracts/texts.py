"""Texts for people that are too long: what is cut, so that links still lead somewhere."""

import re
from typing import Final

from services.contracts.records import TEXT_LIMIT_CHARACTERS

_CUT: Final = "…"
_END_SHARE: Final = 4
"""A link in the last quarter of what fits goes whole, with all that follows it."""
_LINK: Final = re.compile(r"(?:\n[^\n:]{1,40}: ?|\s)?(?<![a-z])[a-z]++://\S+")
"""With the label in front of it, or the space."""


def shortened(text: str, limit_characters: int) -> str:
    """Return at most so many characters; an ellipsis shows where something is left out.

    A link goes whole or not at all: a part of one is refused where it leads to. For those at the
    text's end what stands before them gives way.
    """
    if len(text) <= limit_characters:
        return text
    links = [each.span() for each in _LINK.finditer(text)]
    near = len(text) - limit_characters // _END_SHARE
    end = next((start for start, _ in links if start >= near), len(text))
    kept = limit_characters - (len(text) - end) - len(_CUT)
    for start, stop in reversed(links):
        if start < kept <= stop:  # an ellipsis right behind a link would be read as a part of it
            kept = start
    return text[:kept] + _CUT + text[end:]


def behind(opening: str, text: str) -> str:
    """Return a delivery's text behind an opening, within what a delivery holds."""
    return shortened(f"{opening}\n\n{text}", TEXT_LIMIT_CHARACTERS)
