"""Texts for people that are too long: what is cut, so that links still lead somewhere."""

import re
from typing import Final

from services.contracts.records import TEXT_LIMIT_CHARACTERS

_CUT: Final = "…"
_END_SHARE: Final = 4
"""A link in the last quarter of what fits goes whole, with all that follows it."""
_LINK: Final = re.compile(r"(?:\n[^\n:]{1,40}: ?|\s)?(?<![a-z])[a-z]++://[!#-;=?-~]+")
"""With the label in front of it, or the space; what no address holds bare ends it, as a quote."""
_KEPT_SHARE: Final = 2
"""Half of what fits is kept at least, though a link is cut in two for it."""


def shortened(text: str, limit_characters: int) -> str:
    """Return at most so many characters; an ellipsis shows where something is left out.

    A link goes whole or not at all: a part of one is refused where it leads to. For those at the
    text's end what stands before them gives way. Of one so long that most of the text would go
    with it a part stays, as words that lead nowhere.
    """
    if len(text) <= limit_characters:
        return text
    links = [each.span() for each in _LINK.finditer(text)]
    near = len(text) - limit_characters // _END_SHARE
    end = next((start for start, _ in links if start >= near), len(text))
    kept = limit_characters - (len(text) - end) - len(_CUT)
    # An ellipsis right behind a link would be read as a part of it.
    within = next((start for start, stop in links if start < kept <= stop), None)
    if within is None:
        return text[:kept] + _CUT + text[end:]
    before = within + text[within].isspace()
    part = "" if before >= limit_characters // _KEPT_SHARE else text[before:kept]
    return text[:before] + part.replace("://", _CUT) + _CUT + text[end:]


def behind(opening: str, text: str) -> str:
    """Return a delivery's text behind an opening, within what a delivery holds."""
    return shortened(f"{opening}\n\n{text}", TEXT_LIMIT_CHARACTERS)
