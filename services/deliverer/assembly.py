"""Puts the parts of one deliverer together."""

import random
import uuid
from dataclasses import dataclass, field

from services.backbone.backoff import Backoff
from services.backbone.clock import Clock
from services.backbone.kafka.producer import Producer
from services.backbone.ledger.database import AsyncPool, async_pool
from services.backbone.ledger.deliveries.breakers import BreakerBook
from services.backbone.ledger.deliveries.claims import Claims
from services.backbone.ledger.deliveries.evidence import AsyncEvidenceBook
from services.backbone.ledger.deliveries.look_ups import LookUps
from services.backbone.ledger.deliveries.names import NamesBook
from services.backbone.ledger.deliveries.occasions import Occasions
from services.backbone.ledger.deliveries.sweeps import Sweeps
from services.backbone.ledger.deliveries.turns import Rate
from services.backbone.ledger.deliveries.untold import UntoldMoves
from services.deliverer.announcer import Announcer
from services.deliverer.breaker import Breakers
from services.deliverer.channel import Channel, Traits, Witness
from services.deliverer.dispatcher import Dispatcher, Spawn
from services.deliverer.doubts import DoubtTerms
from services.deliverer.in_flight import InFlight
from services.deliverer.inbox import PROGRAM
from services.deliverer.notices import Notices
from services.deliverer.pace import Pace, Paced, Unlimited
from services.deliverer.places import Places
from services.deliverer.reconciler import Reconciler
from services.deliverer.recorder import Recorder
from services.deliverer.sending import Sender
from services.deliverer.settings import DelivererSettings
from services.deliverer.sweeper import Sweeper
from services.deliverer.trust import Trust


@dataclass(frozen=True)
class Parts:
    """What one deliverer is made of; a channel that cannot be asked has no reconciler."""

    pool: AsyncPool
    producer: Producer
    channel: Channel
    recorder: Recorder
    dispatcher: Dispatcher
    sweeper: Sweeper
    reconciler: Reconciler | None


@dataclass(frozen=True)
class _Making:
    """What the parts are made from."""

    settings: DelivererSettings
    channel: Channel
    traits: Traits
    clock: Clock
    pool: AsyncPool
    owner: str
    announcer: Announcer
    in_flight: InFlight = field(default_factory=InFlight)

    @property
    def witness(self) -> Witness | None:
        return self.channel if isinstance(self.channel, Witness) else None

    @property
    def doubts(self) -> DoubtTerms:
        wait_seconds = self.settings.in_doubt_deadline_seconds
        return DoubtTerms.of(self.traits, wait_seconds, has_witness=self.witness is not None)

    @property
    def age_limit_seconds(self) -> float:
        return self.settings.age_limit_hours * 3600

    def claims(self) -> Claims:
        return Claims(
            self.pool,
            channel=self.settings.channel,
            owner=self.owner,
            lease_seconds=self.settings.lease(self.traits),
            age_limit_seconds=self.age_limit_seconds,
        )

    def breakers(self) -> Breakers:
        settings = self.settings
        cooldown = Backoff(
            settings.breaker_first_seconds, limit_seconds=settings.breaker_limit_seconds
        )
        # What waits for a destination is tried that often at least, however few there are.
        told_seconds = settings.breaker_limit_seconds + settings.retry_limit_seconds
        rng = random.SystemRandom()
        return Breakers(settings.breaker_failures_limit, cooldown, rng, told_seconds)

    def pace(self, of: str = "", share: float = 1.0) -> Pace:
        """Return the channel's pace, or that of a part of its work."""
        settings = self.settings
        if settings.rate_per_second is None:
            return Unlimited()
        return Rate(
            self.pool,
            self.clock,
            channel=settings.channel + of,
            per_second=settings.rate_per_second * share,
            burst=settings.rate_burst,
        )

    def dispatcher(self, claims: Claims, sender: Sender, spawn: Spawn) -> Dispatcher:
        return Dispatcher(
            claims=claims,
            sender=sender,
            breakers=sender.breakers,
            pace=Paced(self.pace(), self.clock),
            announcer=self.announcer,
            clock=self.clock,
            traits=self.traits,
            places=Places(
                self.settings.concurrency, self.traits.breaker_per_recipient, sender.trust
            ),
            in_flight=self.in_flight,
            idle_seconds=self.settings.sweep_seconds,
            spawn=spawn,
        )

    def sweeper(self, dispatcher: Dispatcher) -> Sweeper:
        channel = self.settings.channel
        whose = {"channel": channel, "owner": self.owner}
        age_limit = self.age_limit_seconds
        return Sweeper(
            occasions=Occasions(self.pool, **whose, age_limit_seconds=age_limit),
            sweeps=Sweeps(self.pool, **whose, age_limit_seconds=age_limit),
            book=AsyncEvidenceBook(self.pool),
            untold=UntoldMoves(self.pool, channel),
            in_flight=self.in_flight,
            announcer=self.announcer,
            policy=self.settings.policy(self.traits),
            doubts=self.doubts,
            clock=self.clock,
            channel=channel,
            interval_seconds=self.settings.sweep_seconds,
            heed=dispatcher.heed,
            tell=self.notices(dispatcher.breakers).tell,
        )

    def notices(self, breakers: Breakers) -> Notices:
        channel = self.settings.channel
        books = NamesBook(self.pool, channel), BreakerBook(self.pool, channel, self.owner)
        return Notices(*books, self.traits, breakers, self.clock)

    def reconciler(self, sends: Paced) -> Reconciler | None:
        settings, witness, times = self.settings, self.witness, self.doubts.look_up_seconds
        if witness is None or not times:
            return None
        look_ups = LookUps(
            self.pool, channel=settings.channel, owner=self.owner, times_seconds=times
        )
        return Reconciler(
            witness=witness,
            look_ups=look_ups,
            book=AsyncEvidenceBook(self.pool),
            clock=self.clock,
            channel=settings.channel,
            lease_seconds=settings.lease(self.traits),
            timeout_seconds=settings.look_up_timeout_seconds,
            interval_seconds=settings.sweep_seconds,
            share=self.pace("/look-ups", share=0.5),
            sends=sends,
        )


def assemble(settings: DelivererSettings, channel: Channel, clock: Clock, spawn: Spawn) -> Parts:
    """Make the parts of a deliverer; each start is a new owner of claims."""
    traits = settings.traits(channel.traits)
    pool, producer = async_pool(settings), Producer(settings, PROGRAM)
    owner = f"{settings.instance}/{uuid.uuid4().hex[:12]}"
    making = _Making(settings, channel, traits, clock, pool, owner, Announcer(producer, clock))
    rng = random.SystemRandom()
    claims = making.claims()
    recorder = Recorder(claims, clock, rng)
    sender = Sender(
        channel=channel,
        traits=traits,
        policy=settings.policy(traits),
        recorder=recorder,
        announcer=making.announcer,
        breakers=making.breakers(),
        trust=Trust(settings.breaker_failures_limit, settings.concurrency),
        clock=clock,
        rng=rng,
    )
    dispatcher = making.dispatcher(claims, sender, spawn)
    sweeper, reconciler = making.sweeper(dispatcher), making.reconciler(dispatcher.pace)
    return Parts(pool, producer, channel, recorder, dispatcher, sweeper, reconciler)
