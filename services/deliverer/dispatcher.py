"""Decides what is claimed when: never more than can be sent at once."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from services.backbone.clock import Clock
from services.backbone.errors import Transient
from services.backbone.ledger.deliveries.claims import CLAIM_LIMIT, Claim, Claims, Due, is_cut
from services.backbone.ledger.deliveries.turns import InTurn
from services.backbone.log import logger
from services.contracts.records import Delivery
from services.contracts.states import CLAIMABLE, State
from services.deliverer import metrics
from services.deliverer.announcer import Announcer
from services.deliverer.breaker import Breakers
from services.deliverer.channel import SendWindow, Traits
from services.deliverer.in_flight import InFlight
from services.deliverer.pace import Paced
from services.deliverer.places import Places
from services.deliverer.sending import Sender
from services.deliverer.trust import Standing

log = logger(__name__)

Spawn = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]


@dataclass
class Dispatcher:
    """Claims what is due and has it sent.

    What the topic tells of is claimed by id, at once. What does not fit stays in the ledger and
    is claimed from there, longest overdue first, whenever a place gets free; so is all of a channel
    whose rate is limited.
    """

    claims: Claims
    sender: Sender
    breakers: Breakers
    pace: Paced
    announcer: Announcer
    clock: Clock
    traits: Traits
    places: Places
    in_flight: InFlight
    idle_seconds: float
    spawn: Spawn
    stopping: bool = False
    paused: bool = True
    """A person has stopped the channel, or nobody has asked the ledger yet: nothing is claimed, and
    sends in flight finish."""
    turned_at: float = 0.0
    _more: bool = True
    _passed_over: set[str] = field(default_factory=set)
    """Destinations that were full at the last look, which so did not see what waits for them."""
    _look_at: float = 0.0
    """When the ledger is looked into again, whatever wakes us meanwhile."""
    _is_short: bool = False
    """Something may wait for turns."""
    _wake: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, told: Sequence[Delivery]) -> set[str]:
        """Claim what fits of the deliveries that the topic told of, and send it.

        Returns:
            Ids that the ledger does not know. All others are safe: they have a row, and whatever
            was not claimed now is found there.

        Raises:
            Transient: Postgres is away; tell the same again.
        """
        async with self.in_flight.claiming:
            fitting = self._fitting(told)
            room = 0 if self.pace.is_limited else min(self._free_places(), len(fitting))
            claimed = (await self._claim(self._by_id(fitting, room))).claims if room else []
        rest = {each.delivery_id for each in told} - {claim.delivery_id for claim in claimed}
        states = await self.claims.states(sorted(rest)) if rest else {}
        # A look that finds what the topic has not told of yet would make each later one too late.
        if waiting := [one for one in told if states.get(one.delivery_id) in CLAIMABLE]:
            for one in waiting:
                self.breakers.something_waits(self.traits.destination(one.recipient))
            self.look()
        return rest - states.keys()

    async def take_left(self, told: Sequence[Delivery]) -> set[str]:
        """Take, of what another deliverer was told of too, what that one has left; see `take`."""
        ids = {each.delivery_id for each in told}
        states = await self.claims.states(sorted(ids)) if ids else {}
        if left := [one for one in told if states.get(one.delivery_id) in CLAIMABLE]:
            await self.take(left)
        return ids - states.keys()

    async def run(self) -> None:
        """Claim from the ledger what is due, until stopped."""
        self._look_at = self.clock.monotonic_seconds() + self.idle_seconds
        while not self.stopping:
            self.turned_at, self._is_short = self.clock.monotonic_seconds(), False
            try:
                await self._claim_probes()
                async with self.in_flight.claiming:
                    await self._claim_due()
            except Transient as error:
                log.warning("claims_wait", reason=str(error))
            await self._idle()

    def heed(self, paused: bool) -> None:
        """Heed whether a person has stopped the channel."""
        went_on, self.paused = self.paused and not paused, paused
        if went_on:
            self.look()

    def look(self) -> None:
        """Say that the ledger may have something due."""
        self._more = True
        self._wake.set()

    async def drain(self, seconds: float, record_seconds: float) -> int:
        """Stop claiming, let sends finish, cut off the rest, and have all recorded.

        What was answered is never cut off: it waits for its record as long as the recorder runs.

        Returns:
            Claims that could not be recorded; they will be found IN_DOUBT when their lease ends.
        """
        self.stopping = True
        self._wake.set()
        ends_at = self.clock.monotonic_seconds() + seconds
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds), self.in_flight.claiming:
                pass  # a claim under way has been answered, and its sends are in flight
        await self.in_flight.wait(max(0.0, ends_at - self.clock.monotonic_seconds()))
        self.sender.cut_off()
        await self.in_flight.wait(record_seconds)
        return len(self.in_flight)

    async def _claim_probes(self) -> None:
        """Claim one delivery for each destination that may get a probe now.

        Each statement looks for all of them, so that one is enough where nothing waits for any; and
        what the topic tells of is claimed between two.
        """
        due = set(self.breakers.due_probes(self.clock.monotonic_seconds()))
        while due:
            async with self.in_flight.claiming:
                # A probe needs no trust: what is unanswered there must not keep it from going.
                if self._is_still or self.places.left <= 0 or not self._has_turns():
                    return
                only = sorted(due) if self.traits.breaker_per_recipient else None
                claimed = await self._claim(self.pace.claim(self.claims, Due(1, only=only)))
            due = self._still_due(due, claimed)

    def _still_due(self, due: set[str], claimed: InTurn) -> set[str]:
        """Note what was found for a probe; return the destinations that are to be looked for."""
        found = {self.traits.destination(each.recipient) for each in claimed.claims}
        for destination in found:
            self.breakers.probe(destination)
        if found:
            return due - found
        self._is_short = claimed.is_short
        if not claimed.is_short:
            now = self.clock.monotonic_seconds()
            for destination in due:
                self.breakers.nothing_waits(destination, now, self.idle_seconds)
        return set()

    async def _claim_due(self) -> None:
        """Claim once; where more may be found, the next turn comes at once.

        Between two claims go probes and whoever waits for `claiming`, as a sweep does and what the
        topic tells of: a backlog that lasts keeps none of them waiting.
        """
        if not self._may_find():
            return
        full, freed = self.places.full(), self._freed()
        room = min(self.places.unseen, CLAIM_LIMIT)
        without = [*self.breakers.open_destinations(), *full]
        for_all, self._more = self._more, False  # whoever asks for a look meanwhile gets one
        only = None if for_all else sorted(freed)
        due = Due(room, only, without, self.places.unseen_characters)
        try:
            claimed = await self._claim(self.pace.claim(self.claims, due))
        except Transient:
            self._more = True
            raise
        found_all = self._has_all(claimed, due)
        if for_all:
            self._more, self._passed_over = self._more or not found_all, full
        elif found_all:
            self._passed_over -= freed
        if self._may_find():
            self._wake.set()

    def _has_all(self, claimed: InTurn, due: Due) -> bool:
        """Tell whether nothing more is due than what was claimed."""
        is_limited = claimed.is_short or is_cut(claimed.claims, due.characters)
        return len(claimed.claims) < due.limit and not is_limited

    def _may_find(self) -> bool:
        """Tell whether a claim may find, now, what can be sent."""
        has_room = self.breakers.closed("") and self._free_places() > 0
        return has_room and (self._more or bool(self._freed())) and self._has_turns()

    def _has_turns(self) -> bool:
        """Tell whether there may be turns; where not, what waits for them is not forgotten."""
        self._is_short = self.pace.ask_in_seconds() > 0
        return not self._is_short

    async def _by_id(self, delivery_ids: Sequence[str], limit: int) -> InTurn:
        """Claim what the topic told of; its sends need not wait."""
        characters = self.places.unseen_characters
        claimed = await self.claims.by_id(delivery_ids, limit, characters)
        return InTurn(claimed, await self.pace.surely(len(claimed)))

    async def _claim(self, asked: Coroutine[Any, Any, InTurn]) -> InTurn:
        """Claim, and begin each send in its turn."""
        begun = self.clock.monotonic_seconds()
        claimed = self._new(await asked)
        now = self.clock.monotonic_seconds()
        metrics.CLAIM_SECONDS.observe(now - begun)
        for number, claim in enumerate(claimed.claims):
            window = SendWindow(self.clock, begun + self.traits.send_timeout_seconds)
            wait = claimed.turns.wait_seconds(number, self.clock.monotonic_seconds())
            standing = self.places.take(self.traits.destination(claim.recipient), claim.record)
            sending = self.spawn(self._deliver(claim, standing, window, wait))
            self.in_flight.add(claim, sending)
        if claimed.claims:
            self.spawn(self._announce(claimed.claims))  # begun after the sends, which come first
        metrics.IN_FLIGHT.labels(self.traits.name).set(len(self.in_flight))
        return claimed

    def _new(self, claimed: InTurn) -> InTurn:
        """Leave out what was ours under the same fence: its lease ends, and it is in doubt."""
        forgotten = [each.delivery_id for each in claimed.claims if self.in_flight.had(each)]
        if not forgotten:
            return claimed
        log.warning("claims_forgotten", delivery_ids=forgotten)
        new = [each for each in claimed.claims if not self.in_flight.had(each)]
        return replace(claimed, claims=new)

    async def _announce(self, claimed: Sequence[Claim]) -> None:
        for claim in claimed:
            self.announcer.moved(claim, claim.before, (State.CLAIMED,))

    async def _deliver(
        self, claim: Claim, standing: Standing, window: SendWindow, wait_seconds: float
    ) -> None:
        await self.sender.deliver(claim, standing, window, wait_seconds)
        # Not if that fails: a claim of ours that is not in flight passes for one that was not sent.
        self.in_flight.end(claim)
        self.places.give_back(standing, claim.record)
        self._wake.set()

    def _fitting(self, told: Sequence[Delivery]) -> list[str]:
        """Return ids of those whose destination is not left alone and has a place for them."""
        once = {each.delivery_id: self.traits.destination(each.recipient) for each in told}
        closed = {each: to for each, to in once.items() if self.breakers.closed(to)}
        fits = self.places.fitting(list(closed.values()))
        return [each for each, is_fitting in zip(closed, fits, strict=True) if is_fitting]

    def _freed(self) -> set[str]:
        """Return the destinations that are to be looked for again, as they have a place now."""
        return self._passed_over - self.places.full()

    @property
    def _is_still(self) -> bool:
        return self.stopping or self.paused

    def _free_places(self) -> int:
        return 0 if self._is_still else min(self.places.free, CLAIM_LIMIT)

    async def _idle(self) -> None:
        """Wait for news, for the next turns, or until the ledger is to be looked into again.

        That time stands, however often a send that has ended wakes us: what nobody tells of, like
        a retry, is found by a look alone.
        """
        wait = self.pace.ask_in_seconds() if self._is_short else self.idle_seconds
        left = max(0.0, self._look_at - self.clock.monotonic_seconds())
        with suppress(TimeoutError):
            async with asyncio.timeout(min(wait, left)):
                await self._wake.wait()
        self._wake.clear()
        now = self.clock.monotonic_seconds()
        if now >= self._look_at:
            self._more, self._look_at = True, now + self.idle_seconds
