"""A deliverer as a simulated process: the program's own parts on virtual time."""

import asyncio
import random
from dataclasses import dataclass, field
from typing import Final

from services.backbone.backoff import Backoff
from services.backbone.errors import Transient
from services.backbone.kafka.consumer import Incoming
from services.backbone.outage import SOON
from services.contracts.records import Malformed
from services.deliverer.announcer import Announcer
from services.deliverer.breaker import Breakers
from services.deliverer.decision import Policy
from services.deliverer.dispatcher import Dispatcher
from services.deliverer.doubts import DoubtTerms
from services.deliverer.in_flight import InFlight
from services.deliverer.inbox import Arrival
from services.deliverer.pace import Pace, Paced, Unlimited
from services.deliverer.places import Places
from services.deliverer.reconciler import Reconciler
from services.deliverer.recorder import Recorder
from services.deliverer.sending import Sender
from services.deliverer.sweeper import Sweeper
from services.deliverer.trust import Trust
from tests.simulation.broker import Broker
from tests.simulation.kafka import GroupConsumer, QuietProducer
from tests.simulation.kernel import Kernel, Process, ProcessClock, Violation
from tests.simulation.ledger import (
    LineClaims,
    LineEvidence,
    LineLookUps,
    LineOccasions,
    LineRate,
    LineSweeps,
    LineUntold,
)
from tests.simulation.memory.claims import MemoryClaims
from tests.simulation.memory.evidence import MemoryEvidence
from tests.simulation.memory.look_ups import MemoryLookUps, MemoryUntold
from tests.simulation.memory.occasions import MemoryOccasions
from tests.simulation.memory.sweeps import MemorySweeps
from tests.simulation.memory.turns import MemoryRate
from tests.simulation.plan import Plan
from tests.simulation.process_loop import ProcessLoop
from tests.simulation.provider import Provider, ProviderChannel, traits_of
from tests.simulation.store import Line, Store
from tests.simulation.weather import Weather

CHANNEL: Final = "webhook"
TOPIC: Final = "deliveries.webhook"
LEASE_SECONDS: Final = 4.0
DOUBT_SECONDS: Final = 5.0
SWEEP_SECONDS: Final = 2.5
AGE_LIMIT_SECONDS: Final = 3600.0
FIRST_SENDS: Final = 3
"""Sends to a destination that has not answered yet; as many that fail open its breaker."""
_PRODUCER: Final = QuietProducer()


@dataclass
class Deliverer:
    """One run of the program; a restart makes a new one with a new owner's name."""

    kernel: Kernel
    process: Process
    loop: ProcessLoop
    dispatcher: Dispatcher
    sweeper: Sweeper
    recorder: Recorder
    reconciler: Reconciler | None
    store: Store
    stop: asyncio.Event
    news: asyncio.Event
    rng: random.Random
    is_mirror: bool
    consumer: GroupConsumer | None = None
    turning: list["asyncio.Task[None]"] = field(default_factory=list)
    """What ends by itself when told to stop."""

    def start(self, broker: Broker) -> None:
        """Begin all tasks."""
        group = (broker.mirrors if self.is_mirror else broker.groups)[TOPIC]
        self.consumer = GroupConsumer(broker, group, TOPIC, self.process, self.news.set)
        turning = [self.dispatcher.run(), self.sweeper.run(self.stop)]
        if self.reconciler is not None:
            turning.append(self.reconciler.run(self.stop))
        self.turning = [self.loop.spawn(work) for work in turning]
        for work in (self.recorder.run(), self._read(self.consumer)):
            self.loop.spawn(work)
        self.process.run(lambda: None)

    def drain(self) -> None:
        """End as the program does when it is told to stop."""
        self.loop.spawn(self._drain())

    async def _drain(self) -> None:
        self.stop.set()
        await self.dispatcher.drain(2.0, 0.5)
        await asyncio.wait(self.turning, timeout=0.5)
        self.kernel.kill(self.process)

    async def _read(self, consumer: GroupConsumer) -> None:
        """Do what the inbox does on its thread: hand batches over, and commit them."""
        while True:
            batch = consumer.again().batch(200, 0.0)
            if batch:
                await self._settle(batch)
                consumer.commit(batch)
            else:
                await self.news.wait()
                self.news.clear()

    async def _settle(self, batch: list[Incoming]) -> None:
        take = self.dispatcher.take_left if self.is_mirror else self.dispatcher.take
        told = [each for each in map(_decoded, batch) if each is not None]
        tries = 0
        while True:
            try:
                unknown = await take([each.delivery for each in told])
            except Transient:
                tries += 1
                await asyncio.sleep(SOON.seconds(tries, self.rng))
            else:
                tables = self.store.tables
                if lost := unknown & tables.rows.keys() - tables.undone:
                    raise Violation(f"I3: thrown away although it has a row: {lost}")
                return


def _decoded(message: Incoming) -> Arrival | None:
    try:
        return Arrival.decode(message.value)
    except Malformed:
        return None


def owner_name(slot: str, run: int) -> str:
    """Return a name that no other run has."""
    return f"{slot}/{run}"


@dataclass(frozen=True)
class DelivererFactory:
    """Puts deliverers together as the program does (services/deliverer/program.py)."""

    kernel: Kernel
    store: Store
    weather: Weather
    provider: Provider
    broker: Broker
    plan: Plan
    loops: list[ProcessLoop] = field(default_factory=list)

    def begin(self, process: Process, run: int) -> Deliverer:
        """Start a deliverer's run."""
        owner = owner_name(process.slot, run)
        rng = random.Random(f"{self.plan.seed}/{owner}")
        loop = ProcessLoop(self.kernel, process)  # type: ignore[abstract] # only what tasks need
        self.loops.append(loop)
        deliverer = self._assembled(process, loop, owner, rng)
        deliverer.start(self.broker)
        return deliverer

    def _assembled(
        self, process: Process, loop: ProcessLoop, owner: str, rng: random.Random
    ) -> Deliverer:
        plan, clock = self.plan, ProcessClock(self.kernel, process)
        traits = traits_of(plan)
        policy = policy_of(plan)
        line = Line(self.kernel, process, self.store, self.weather)
        tables = self.store.tables
        claims = LineClaims(
            line, MemoryClaims(tables, CHANNEL, owner, LEASE_SECONDS, AGE_LIMIT_SECONDS)
        )
        sweeps = MemorySweeps(tables, CHANNEL, owner, AGE_LIMIT_SECONDS)
        evidence, untold = MemoryEvidence(tables), MemoryUntold(tables, CHANNEL)
        recorder = Recorder(claims, clock, rng)
        announcer = Announcer(_PRODUCER, clock)
        breakers = Breakers(FIRST_SENDS, Backoff(0.5, limit_seconds=3.0), rng, told_seconds=10.0)
        trust = Trust(FIRST_SENDS, plan.concurrency)
        channel = ProviderChannel(
            self.kernel, process, loop, owner, self.provider, self.weather, traits
        )
        sender = Sender(channel, traits, policy, recorder, announcer, breakers, trust, clock, rng)
        in_flight = InFlight()
        dispatcher = Dispatcher(
            claims=claims,
            sender=sender,
            breakers=breakers,
            pace=Paced(self._pace(line, clock, CHANNEL, 1.0), clock),
            announcer=announcer,
            clock=clock,
            traits=traits,
            places=Places(plan.concurrency, traits.breaker_per_recipient, trust),
            in_flight=in_flight,
            idle_seconds=SWEEP_SECONDS,
            spawn=loop.spawn,
        )
        reconciler = self._reconciler(line, channel, dispatcher.pace, clock)
        sweeper = Sweeper(
            occasions=LineOccasions(line, MemoryOccasions(sweeps, evidence, untold)),
            sweeps=LineSweeps(line, sweeps),
            book=LineEvidence(line, evidence),
            untold=LineUntold(line, untold),
            in_flight=in_flight,
            announcer=announcer,
            policy=policy,
            doubts=doubts_of(plan),
            clock=clock,
            channel=CHANNEL,
            interval_seconds=SWEEP_SECONDS,
            heed=dispatcher.heed,
        )
        return Deliverer(
            kernel=self.kernel,
            process=process,
            loop=loop,
            dispatcher=dispatcher,
            sweeper=sweeper,
            recorder=recorder,
            reconciler=reconciler,
            store=self.store,
            stop=asyncio.Event(),
            news=asyncio.Event(),
            rng=rng,
            is_mirror=plan.is_mirror(process.slot),
        )

    def _pace(self, line: Line, clock: ProcessClock, channel: str, share: float) -> Pace:
        if self.plan.per_second is None:
            return Unlimited()
        rate = self.plan.per_second * share
        return LineRate(line, MemoryRate(self.store.tables, channel, rate, 1), clock)

    def _reconciler(
        self, line: Line, channel: ProviderChannel, sends: Paced, clock: ProcessClock
    ) -> Reconciler | None:
        tables, times = self.store.tables, doubts_of(self.plan).look_up_seconds
        if not times:
            return None
        return Reconciler(
            witness=channel,
            look_ups=LineLookUps(line, MemoryLookUps(tables, CHANNEL, times)),
            book=LineEvidence(line, MemoryEvidence(tables)),
            clock=clock,
            channel=CHANNEL,
            lease_seconds=LEASE_SECONDS,
            timeout_seconds=1.0,
            interval_seconds=SWEEP_SECONDS,
            share=self._pace(line, clock, f"{CHANNEL}/look-ups", 0.5),
            sends=sends,
        )


def doubts_of(plan: Plan) -> DoubtTerms:
    """Return how long a doubt lasts, and when the provider is asked."""
    return DoubtTerms.of(traits_of(plan), DOUBT_SECONDS, has_witness=True)


def policy_of(plan: Plan) -> Policy:
    """Return how the simulated channel repeats and doubts."""
    traits = traits_of(plan)
    return Policy(
        dedupes_by_key=traits.dedupes_by_key,
        repeats=traits.repeats,
        attempts_limit=plan.attempts_limit,
        backoff=Backoff(0.5, limit_seconds=3.0),
        retry_after_limit_seconds=4.0,
    )
