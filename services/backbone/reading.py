"""Tells whether a member of a consumer group reads what there is."""

from typing import Final, Protocol

from services.backbone.clock import Clock
from services.backbone.errors import Trouble

ASK_TIMEOUT_SECONDS: Final = 0.5
LIMIT_SECONDS: Final = 30.0
"""Not ready after so long without a poll, or without what the brokers hold."""
STARVED_TIMES: Final = 2
"""After so many limits without what the brokers hold a new client is to fetch it: one whose
question for its offsets met a coordinator that had moved never asks again (librdkafka 5586)."""


class Member(Protocol):
    """What is asked of a consumer."""

    def is_member(self) -> bool:
        """Tell whether the group has taken this member in."""

    def given(self) -> int:
        """Return how many records were given out so far."""

    def unread(self, timeout_seconds: float) -> int:
        """Return how many records the brokers hold that were not given out.

        Raises:
            Transient, Refused: the brokers do not say.
        """

    def starved_seconds(self) -> float:
        """Return for how long it has asked for records and been given none."""

    def begin_anew(self, why: str) -> None:
        """Replace what reads."""


class Reading:
    """Compares what is read with what the brokers hold; they are asked only where nothing comes.

    `turn` belongs to the loop's thread; health checks ask for `trouble`. Whoever neither polls, nor
    gets records that are there, nor reaches the brokers for `limit_seconds` is in trouble.
    """

    def __init__(self, clock: Clock, limit_seconds: float = LIMIT_SECONDS) -> None:
        self._clock = clock
        self._limit_seconds = limit_seconds
        self._is_member = False
        self._given = 0
        self._why: str | None = None
        self._turned = self._well = self._asked = clock.monotonic_seconds()

    def turn(self, member: Member) -> None:
        """Note one turn of the loop; ask the brokers if it has been quiet for a while.

        Whoever is given records is a member: the client's own answer waits for another of its
        threads, which on a busy machine takes longer than the record's whole way.
        """
        now = self._turned = self._clock.monotonic_seconds()
        if (given := member.given()) != self._given:
            self._given, self._is_member = given, True
            self._note(None, now)
            return
        self._is_member = member.is_member()
        if now - max(self._well, self._asked) >= self._limit_seconds / 3:
            self._asked = now
            self._ask(member, now)

    def trouble(self) -> str | None:
        """Say why it does not read, or None."""
        now = self._clock.monotonic_seconds()
        if not self._is_member:
            return "Kafka has not taken it into its consumer group yet"
        if (still := now - self._turned) > self._limit_seconds:
            return f"has not asked the brokers for records for {still:.0f} s"
        if self._why is not None and (since := now - self._well) > self._limit_seconds:
            return f"reads nothing for {since:.0f} s: {self._why}"
        return None

    def _ask(self, member: Member, now: float) -> None:
        try:
            unread = member.unread(ASK_TIMEOUT_SECONDS)
        except Trouble as error:
            self._note(str(error), now)
            return
        why = f"{unread} records wait" if unread else None
        self._note(why, now)
        is_starved = member.starved_seconds() >= STARVED_TIMES * self._limit_seconds
        if why is not None and is_starved:
            member.begin_anew(why)

    def _note(self, why: str | None, now: float) -> None:
        self._why = why
        if why is None:
            self._well = now
