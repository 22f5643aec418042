"""Looks for the record that a watch's SQL fails on, and says what came of it."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from auditor.checkpoints.ranges import Range, told
from auditor.checkpoints.spared import SPARED_MAX, Place
from auditor.queries.query import Recipe
from auditor.recovery.poison import Verdict, behind, good, search
from auditor.recovery.reach import unread_by
from auditor.recovery.sieve import Sieve
from services.backbone.clock import Clock
from services.backbone.errors import Refused, Transient

SEARCH_SECONDS_MAX: Final = 240.0
"""After this a search begins no further step, and goes on from there after the next failure."""
_CHANGES: Final = "try_cast, try_divide, CAST AS DOUBLE"
"""What lets SQL go on over a value that it cannot take."""


class GuiltSearch:
    """Of one watch; it may take several failures, as a watch must not stand still for long."""

    def __init__(self, recipe: Recipe, sieve: Sieve, clock: Clock) -> None:
        self._recipe = recipe
        self._sieve = sieve
        self._clock = clock
        self._found_good: tuple[Range, ...] = ()

    def go_on(self) -> Verdict:
        """Search on behind what an earlier search found good: each start reads that again.

        Raises:
            Transient: it could not be searched just now, or was broken off.
            Refused: a person has to help before it can be.
        """
        ranges = unread_by(self._recipe)
        end_seconds = self._clock.monotonic_seconds() + SEARCH_SECONDS_MAX
        verdict = search(
            behind(ranges, self._found_good),
            self._sieve.fails,
            lambda: self._clock.monotonic_seconds() < end_seconds,
        )
        if verdict.guilty is not None:
            return verdict
        self._found_good = good(ranges, verdict.unseen)
        return replace(verdict, found_good=self._found_good)

    def forget(self) -> None:
        """Begin from the front the next time: other records may lie there by then."""
        self._found_good = ()


def place_to_spare(watch: str, verdict: Verdict, spared: int, reason: str) -> Place:
    """Return where the one record lies that is to blame; `spared` are set aside already.

    Raises:
        Transient: not all was looked at yet.
        Refused: no single record is to blame, or too many were.
    """
    if verdict.unseen:
        raise unfinished(verdict.unseen, reason)
    if (place := verdict.place) is not None and spared < SPARED_MAX:
        return place
    why = f"{SPARED_MAX} records are set aside already" if place else "no single record is to blame"
    raise Refused(
        f"watch {watch}: its SQL fails and {why}: {reason} Somewhere in {told(verdict.suspects)}. "
        f"Change the SQL ({_CHANGES}): the watch then starts again"
    )


def unfinished(unseen: Iterable[Range], reason: str) -> Transient:
    """Return what to raise before all was looked at: that the SQL may have to be changed."""
    return Transient(
        f"no record is to blame so far, {told(unseen)} are not looked at yet: the "
        "search goes on there after the next failure. Does the SQL fail on what an event "
        f"says? Then change it ({_CHANGES}): {reason}"
    )
