"""Breakers: a destination that does not work is left alone, with one probe from time to time."""

import math
import random
from dataclasses import dataclass, replace
from typing import Final

from services.backbone.backoff import Backoff
from services.backbone.ledger.deliveries.breakers import OpenBreaker
from services.backbone.storable import storable
from services.deliverer.decision import REASON_LIMIT
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown

DESTINATIONS_LIMIT: Final = 1000
"""Destinations whose failures are remembered; the one longest untouched is forgotten first."""


@dataclass(frozen=True, slots=True)
class Send:
    """A send that ended; `pause_seconds` is how long the destination asked to be left alone."""

    outcome: Outcome
    begun: float
    ended: float
    pause_seconds: float = 0.0


@dataclass(slots=True)
class _Circuit:
    failures: int = 0
    openings: int = 0
    opened_at: float = -math.inf
    """When it was opened, or left open, last."""
    open_until: float | None = None
    asked_until: float = -math.inf
    """When the time ends that the destination asked for."""
    look_at: float = -math.inf
    """When it is worth looking for something to send there."""
    probing: bool = False
    unused: bool = False
    """Nothing was left to send when it was looked for, long after the last failure."""
    reason: str = ""

    def leave_alone(self, now: float, seconds: float) -> None:
        """Open, or stay open; that a probe which is still out fails says nothing any more."""
        self.opened_at = now
        self.probing = self.unused = False
        self.open_until = max(self.open_until or 0.0, now + seconds)

    def give_time(self, now: float, seconds: float) -> None:
        """Leave alone, as asked."""
        self.asked_until = max(self.asked_until, now + seconds)
        self.leave_alone(now, seconds)

    def reset(self, now: float, openings: int) -> "_Circuit":
        """Return one that lets sends through, once the time that was asked for is over.

        What is answered before that had been sent before it was asked.
        """
        if now < self.asked_until:
            return replace(self, failures=0, openings=openings, open_until=self.asked_until)
        return _Circuit(openings=openings)


class Breakers:
    """One breaker per destination; while one is open its deliveries wait in the ledger.

    Opens after `failures_limit` sends in a row that failed for the destination's sake or stayed
    unknown: sending on would only put more messages in doubt. What was on its way by then says
    nothing new when it fails too; only sends begun later make pauses longer. Times are monotonic
    seconds.

    People are told no more of one that is open, though it lets only a probe through, where nothing
    was found to send `told_seconds` after its last failure or later. Nobody looks while the channel
    is paused or no place is free: what waits may wait there.
    """

    def __init__(
        self, failures_limit: int, cooldown: Backoff, rng: random.Random, told_seconds: float
    ) -> None:
        self._failures_limit = failures_limit
        self._cooldown = cooldown
        self._told_seconds = told_seconds
        self._rng = rng
        self._circuits: dict[str, _Circuit] = {}

    def closed(self, destination: str) -> bool:
        """Tell whether to send there freely."""
        circuit = self._circuits.get(destination)
        return circuit is None or circuit.open_until is None

    def open_destinations(self) -> list[str]:
        """Return the destinations to leave alone but for probes."""
        return [key for key, each in self._circuits.items() if each.open_until is not None]

    def standing(self, now: float) -> list[OpenBreaker]:
        """Return what is open and still in use, as people are told of it."""
        return [
            OpenBreaker(key, each.reason, max(0.0, each.open_until - now))
            for key, each in self._circuits.items()
            if each.open_until is not None
            and (not each.unused or each.probing or now < each.asked_until)
        ]

    def due_probes(self, now: float) -> list[str]:
        """Return open destinations that may get one probe now."""
        return [
            key
            for key, each in self._circuits.items()
            if each.open_until is not None
            and now >= max(each.open_until, each.look_at)
            and not each.probing
        ]

    def probe(self, destination: str) -> None:
        """Note that a probe is on its way; its outcome decides.

        An outcome of an earlier send may have closed the breaker while the probe was claimed.
        """
        if not self.closed(destination):
            self._circuits[destination].probing = True

    def nothing_waits(self, destination: str, now: float, again_seconds: float) -> None:
        """Note that nothing was there for a probe; before `told_seconds` are over, retries may.

        Nobody looks for `again_seconds`: one statement looks for all at once, but a storm to others
        wakes us hundreds of times a second. The wait does not grow, since nobody tells of a retry.
        """
        circuit = self._circuits.get(destination)
        if circuit is None:
            return
        circuit.look_at = now + again_seconds
        if now - circuit.opened_at > self._told_seconds:
            circuit.unused = True

    def something_waits(self, destination: str) -> None:
        """Note that something is there for a probe: it is worth looking at once."""
        if (circuit := self._circuits.get(destination)) is not None:
            circuit.look_at = -math.inf

    def note(self, destination: str, send: Send) -> None:
        """Learn from what came of a send; one that we put off says only that no probe is out."""
        circuit = self._circuits.pop(destination, None) or _Circuit()
        if send.begun >= circuit.opened_at:
            circuit.probing = False
        if not (isinstance(send.outcome, Refused) and send.outcome.own_pace):
            circuit = self._learned(circuit, send)
        if circuit != _Circuit():
            self._circuits[destination] = circuit
            self._forget()

    def _learned(self, circuit: _Circuit, send: Send) -> _Circuit:
        match send.outcome:
            case Accepted() | Permanent():
                circuit = circuit.reset(send.ended, openings=0)
            case Unknown() | Refused(destination_down=True):
                self._failed(circuit, send)
            case Refused():
                circuit = circuit.reset(send.ended, circuit.openings)
        if isinstance(send.outcome, Refused | Unknown):
            circuit.reason = storable(send.outcome.reason, REASON_LIMIT)
        if send.pause_seconds > 0:
            circuit.give_time(send.ended, send.pause_seconds)
        return circuit

    def _failed(self, circuit: _Circuit, send: Send) -> None:
        circuit.failures += 1
        is_open = circuit.open_until is not None
        opens = is_open or circuit.failures >= self._failures_limit
        if opens and send.begun >= circuit.opened_at:
            circuit.openings += 1
            circuit.leave_alone(send.ended, self._cooldown.seconds(circuit.openings, self._rng))

    def _forget(self) -> None:
        while len(self._circuits) > DESTINATIONS_LIMIT:
            del self._circuits[next(iter(self._circuits))]
