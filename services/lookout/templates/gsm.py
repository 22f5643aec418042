"""Texts in the letters of a plain SMS, cut to the room of one message."""

import unicodedata

from services.contracts.gsm import LETTERS, ONE_MESSAGE_PLACES, ONE_PLACE, PLAINER, places


def plain(text: str) -> str:
    """Return the text in letters of the GSM set: others by what looks most like them, else `?`."""
    return "".join(_letter(each) for each in text.translate(PLAINER))


def fitted(text: str, limit: int = ONE_MESSAGE_PLACES) -> str:
    """Return GSM letters that fit; dots show that something is left out."""
    whole = plain(text)
    if places(whole) <= limit:
        return whole
    kept = whole
    while places(kept) > limit - 2:
        kept = kept[: len(kept) - max(1, (places(kept) - limit + 2) // 2)]
    return kept.rstrip() + ".."


def _letter(letter: str) -> str:
    if letter in LETTERS:
        return letter
    bare = unicodedata.normalize("NFKD", letter)
    found = "".join(each for each in bare if each in ONE_PLACE)
    return found or ("" if unicodedata.combining(letter) else "?")
