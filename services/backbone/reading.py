"""Tells whether a member of a consumer group reads what there is."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol

from services.backbone.clock import Clock
from services.backbone.errors import Trouble
from services.backbone.kafka.settled import Place

ASK_TIMEOUT_SECONDS: Final = 0.5
LIMIT_SECONDS: Final = 30.0
"""Not ready after so long without a poll, or without what the brokers hold of a partition."""
STARVED_TIMES: Final = 2
"""After so many limits without what the brokers hold a new client is to fetch it: one whose
question for its offsets met a coordinator that had moved never asks again (librdkafka 5586)."""


class Member(Protocol):
    """What is asked of a consumer."""

    def is_member(self) -> bool:
        """Tell whether the group has taken this member in."""

    def given(self) -> int:
        """Return how many records were given out so far."""

    def positions(self) -> Mapping[Place, int]:
        """Return how far each partition was read that is this member's now; asks nobody."""

    def unread(self, places: Collection[Place], timeout_seconds: float) -> Mapping[Place, int]:
        """Return how many records the brokers hold that were not given out, where there are any.

        Raises:
            Transient, Refused: the brokers do not say.
        """

    def asking_seconds(self) -> float:
        """Return for how long it has asked for records without a pause."""

    def begin_anew(self, why: str) -> None:
        """Replace what reads."""


@dataclass(frozen=True, slots=True)
class Stand:
    """How one partition stood at the last look; times by the monotonic clock."""

    position: int
    well_at_seconds: float
    """The last look that found nothing amiss."""
    why: str | None = None
    waits_from_seconds: float | None = None
    """The first of the looks, without one between that found less, that found records waiting."""

    def after(self, now_seconds: float, unread: int, trouble: str | None) -> "Stand":
        """Return how it stands where nothing came; `trouble` is why the brokers do not say."""
        if trouble:
            return Stand(self.position, self.well_at_seconds, trouble)
        if not unread:
            return Stand(self.position, now_seconds)
        waits_from = self.waits_from_seconds
        waits_from = now_seconds if waits_from is None else waits_from
        return Stand(self.position, self.well_at_seconds, f"{unread} records wait", waits_from)


class Reading:
    """Compares what is read with what the brokers hold, partition by partition; they are asked of
    those that have brought nothing since the last look, and of no other.

    `turn` belongs to the loop's thread; health checks ask for `trouble`. Whoever neither polls, nor
    gets records that are there, nor reaches the brokers for `limit_seconds` is in trouble.
    """

    def __init__(self, clock: Clock, limit_seconds: float = LIMIT_SECONDS) -> None:
        self._clock = clock
        self._limit_seconds = limit_seconds
        self._is_member = False
        self._given = 0
        self._stands: Mapping[Place, Stand] = {}
        self._starving: Mapping[Place, Stand] = {}
        """What the client before has not brought: a new one has to show that it does."""
        self._turned = self._looked = clock.monotonic_seconds()

    def turn(self, member: Member) -> None:
        """Note one turn of the loop; look at all partitions if that was a while ago.

        Whoever is given records is a member: the client's own answer waits for another of its
        threads, which on a busy machine takes longer than the record's whole way.
        """
        now = self._turned = self._clock.monotonic_seconds()
        has_come = (given := member.given()) != self._given
        self._given = given
        self._is_member = has_come or member.is_member()
        if now - self._looked >= self._limit_seconds / 3:
            self._look(member, now)
            self._looked = now
        elif has_come and self._stuck():
            self._note(member.positions(), now)

    def trouble(self) -> str | None:
        """Say why it does not read, or None."""
        now = self._clock.monotonic_seconds()
        if not self._is_member:
            return "Kafka has not taken it into its consumer group yet"
        if (still := now - self._turned) > self._limit_seconds:
            return f"has not asked the brokers for records for {still:.0f} s"
        stuck = self._stuck()
        if stuck and (since := now - stuck.well_at_seconds) > self._limit_seconds:
            return f"reads nothing for {since:.0f} s: {stuck.why}"
        return None

    def _look(self, member: Member, now: float) -> None:
        positions = member.positions()
        self._note(positions, now)
        still = [place for place in positions if self._stands[place].well_at_seconds < now]
        unread, trouble = _asked(member, still)
        asked = {
            place: self._stands[place].after(now, unread.get(place, 0), trouble) for place in still
        }
        self._stands = {**self._stands, **asked}
        self._starving = {} if positions else self._starving
        if why := self._starved(now - member.asking_seconds(), now):
            member.begin_anew(why)
            self._starving, self._stands = _anew(self._stands), {}

    def _stuck(self) -> Stand | None:
        return _longest(self._stands or self._starving)

    def _note(self, positions: Mapping[Place, int], now: float) -> None:
        self._stands = {place: self._stand(place, at, now) for place, at in positions.items()}

    def _stand(self, place: Place, position: int, now: float) -> Stand:
        """One that has brought records is well; one that is new here may never have brought any."""
        before = self._stands.get(place)
        if before is None and (starved := self._starving.get(place)):
            has_brought = position > starved.position
            return Stand(position, now) if has_brought else replace(starved, position=position)
        if before is None:
            return Stand(position, self._looked)
        return before if before.position == position else Stand(position, now)

    def _starved(self, asks_from: float, now: float) -> str | None:
        """Say what did not come, of a partition that waits for too long for what is asked for."""
        last = now - STARVED_TIMES * self._limit_seconds
        return next(
            (
                f"{topic}/{partition}: {stand.why}"
                for (topic, partition), stand in self._stands.items()
                if stand.waits_from_seconds is not None
                and max(stand.waits_from_seconds, asks_from) <= last
            ),
            None,
        )


def _anew(stands: Mapping[Place, Stand]) -> dict[Place, Stand]:
    """Return what a new client is asked about first; only what waits anew is its own fault."""
    return {place: replace(stand, waits_from_seconds=None) for place, stand in stands.items()}


def _longest(stands: Mapping[Place, Stand]) -> Stand | None:
    """Return the one that has not been well for the longest time."""
    amiss = (stand for stand in stands.values() if stand.why is not None)
    return min(amiss, key=lambda stand: stand.well_at_seconds, default=None)


def _asked(member: Member, places: Collection[Place]) -> tuple[Mapping[Place, int], str | None]:
    """Return how much of each the brokers hold unread, or why they do not say."""
    if not places:
        return {}, None
    try:
        return member.unread(places, ASK_TIMEOUT_SECONDS), None
    except Trouble as error:
        return {}, str(error)
