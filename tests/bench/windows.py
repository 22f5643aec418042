"""In how many windows of the shipped rule an event lies: each costs the auditor about the same.

With windows that overlap it depends on the time of day. A bench must not, so it shifts where they
start: always for the dearer half, which a machine must be large enough for, and once for the other.
"""

from typing import Final

import yaml

from services.contracts.durations import resolve

MOST: Final = 2
"""In so many windows an event of the shipped rule lies at most."""
_CUT: Final = "window(appended_at, :length, :slide)"
_CUT_FROM: Final = "window(appended_at, :length, :slide, :start)"
_SPANS: Final = "durations:\n"


def start_for(windows: int, at_ms: int, length_ms: int, slide_ms: int) -> int:
    """Return the start, in [0, slide), with which the moment is in the middle of such a time.

    Windows overlap for `length - slide`, at their beginning, which is less than a slide.
    """
    overlap_ms = length_ms - slide_ms
    into_ms = overlap_ms // 2 if windows == MOST else (overlap_ms + slide_ms) // 2
    return (at_ms - into_ms) % slide_ms


def shifted(watch: str, windows: int, at_ms: int) -> str:
    """Return a watch's text so that the moment lies in so many of its windows.

    What cuts no windows as the shipped rule does comes back as it is.
    """
    if _CUT not in watch:
        return watch
    spans = resolve(yaml.safe_load(watch)["durations"])
    return starting(watch, start_for(windows, at_ms, spans["length"], spans["slide"]))


def starting(watch: str, start_ms: int) -> str:
    """Return the text of a watch like the shipped rule with windows that start so much later."""
    declared = f"{_SPANS}  start: {max(1, start_ms)} milliseconds\n"
    return watch.replace(_SPANS, declared, 1).replace(_CUT, _CUT_FROM)
