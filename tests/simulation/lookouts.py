"""A lookout as a simulated process: the real consumer loop, stages, publisher and relay.

The program's threads block while they wait for Postgres or Kafka. Here such a wait lets the kernel
go on from inside the call. So a thread that waits goes on only after those that began to wait later
have come to an end of their turn: waits are nested, the one limit of this simulation of threads.
"""

import random
from dataclasses import dataclass
from functools import cache, partial
from typing import Final

from services.backbone.errors import Transient
from services.backbone.loop import ConsumerLoop
from services.backbone.service import Life
from services.contracts import topics
from services.lookout.duties.refreshing import Refreshing
from services.lookout.intake.circumstances import Circumstances
from services.lookout.intake.mirror import mirrored
from services.lookout.intake.pipeline import Arrival, Lookout, decode
from services.lookout.intake.repeats import SettledAlerts
from services.lookout.keeper import Keeper
from services.lookout.outbox.publishing import Publisher
from services.lookout.outbox.relay import Relay
from services.lookout.routes.reading import read_routes
from services.lookout.routing import Routes
from services.lookout.settings import LookoutSettings
from tests.simulation.broker import Broker
from tests.simulation.kafka import GroupConsumer, LineProducer
from tests.simulation.keeper_judge import KeeperJudge
from tests.simulation.keepers import INTERVAL_SECONDS, keeper_parts
from tests.simulation.kernel import Died, Kernel, Process, ProcessClock
from tests.simulation.ledger import LineIntake, LineOutbox
from tests.simulation.memory.intake import MemoryIntake
from tests.simulation.memory.outbox import MemoryOutbox
from tests.simulation.plan import Plan
from tests.simulation.store import Line, Store
from tests.simulation.weather import Weather

RELAY_SECONDS: Final = 3.0
AGAIN_SECONDS: Final = 0.5
CROWDS: Final = {
    "one": ("first.example",),
    "two": ("second.example",),
    "both": ("first.example", "second.example"),
}
"""Recipients by route."""

_ROUTES: Final = """
version: 1
routes:
  - {name: one, match: {labels: {crowd: one}}, send: [{channel: webhook, to: "https://first.example"}]}
  - {name: two, match: {labels: {crowd: two}}, send: [{channel: webhook, to: "https://second.example"}]}
default:
  send: [{channel: webhook, to: ["https://first.example", "https://second.example"]}]
"""


def recipients(crowd: str) -> tuple[str, ...]:
    """Return who is told of alerts of a crowd."""
    return tuple(f"https://{name}" for name in CROWDS[crowd])


# A history begins at 11:06:40.
_KEEPING_ROUTES: Final = """
version: 1
times:
  early: [{from: "11:06", to: "11:07"}]
silences:
  - {name: works, match: {severity: warning, labels: {crowd: two}}, from: 2026-11-18T11:06:42Z,
     to: 2026-11-18T11:06:54Z, author: bob, reason: works}
inhibit:
  - {name: worst, when: {severity: critical}, mutes: {severity: warning}, equal: watch, for: 8s}
escalations:
  desk:
    - after: 5s
      send: [{channel: webhook, to: "https://night.example"}]
      repeat: {every: 4s, times: 1}
    - {after: 10s, send: [{channel: webhook, to: "https://second.example"}]}
routes:
  - name: one
    match: {labels: {crowd: one}}
    group: {by: [watch], wait: 3s, limit: 3}
    send:
      - {channel: webhook, to: "https://first.example",
         fallback: [{channel: webhook, to: "https://third.example"}]}
  - name: two
    match: {labels: {crowd: two}}
    quiet: {during: early, unless: critical}
    escalate: desk
    send:
      - {channel: webhook, to: "https://second.example",
         fallback: [{channel: webhook, to: "https://third.example"}]}
default:
  send: [{channel: webhook, to: ["https://first.example", "https://second.example"]}]
"""


@cache
def routes(keeping: bool = False) -> Routes:
    """Return the routes of all histories, of those with keepers and those without."""
    return read_routes(_KEEPING_ROUTES if keeping else _ROUTES, ["webhook"], {})


@cache
def _settings() -> LookoutSettings:
    return LookoutSettings(
        lookout_relay_age_seconds=1.0, lookout_relay_deliveries=2, lookout_batch_alerts=10
    )


@dataclass
class LookoutProcess:
    """One run of the program."""

    kernel: Kernel
    process: Process
    line: Line
    consumer: GroupConsumer
    loop: ConsumerLoop[Arrival]
    relay: Relay
    outbox: LineOutbox
    fresh: Refreshing | None
    """What must be known before the first alert is judged."""
    keeper: Keeper | None
    first: bool = True
    busy: bool = False
    woken: bool = False
    """Whether it was woken while it was busy, and so has to look again."""

    def open(self) -> None:
        """Learn what is silenced now, and begin; again until the store answers."""
        try:
            if self.fresh is not None:
                self.fresh.do()
        except Transient:
            self.kernel.after(AGAIN_SECONDS, self.open, self.process)
            return
        except Died:
            return
        self.fresh = None
        self.turn()
        if self.keeper is not None:
            self.keep()

    def keep(self) -> None:
        """Do one round of the keeper's thread."""
        try:
            if self.keeper is not None:
                self.keeper.round()
        except Died:
            return
        self.kernel.after(INTERVAL_SECONDS, self.keep, self.process)

    def turn(self) -> None:
        """Take one batch, if there is one."""
        self.woken = True
        if self.busy or self.fresh is not None:
            return
        self.busy, self.woken = True, False
        try:
            self.consumer.one_batch(self.line.block)
            self.loop.run()
        except Died:
            return
        finally:
            self.busy = False
        if self.woken or self.consumer.has_more():
            self.kernel.after(0.001, self.turn, self.process)

    def sweep(self) -> None:
        """Do one turn of the relay's thread."""
        try:
            self.relay.sweep(0.0 if self.first else _settings().lookout_relay_age_seconds)
            self.outbox.waiting(_settings().lookout_relay_age_seconds)
        except Transient:
            pass
        except Died:
            return
        self.first = False
        self.kernel.after(RELAY_SECONDS, self.sweep, self.process)


@dataclass(frozen=True)
class LookoutFactory:
    """Puts lookouts together as the program does (services/lookout/program.py)."""

    kernel: Kernel
    store: Store
    weather: Weather
    broker: Broker
    plan: Plan
    promises: KeeperJudge

    def begin(self, process: Process, run: int) -> LookoutProcess:
        """Start a lookout's run."""
        clock = ProcessClock(self.kernel, process)
        line = Line(self.kernel, process, self.store, self.weather)
        producer = LineProducer(self.broker, line)
        intake = LineIntake(line, MemoryIntake(self.store.tables))
        outbox = LineOutbox(line, MemoryOutbox(self.store.tables))
        publisher = Publisher(producer, outbox)
        is_mirror = self.plan.is_mirror(process.slot)
        group = (self.broker.mirrors if is_mirror else self.broker.groups)[topics.ALERTS]

        def wake() -> None:
            one.turn()

        consumer = GroupConsumer(self.broker, group, topics.ALERTS, process, wake)
        life = Life(clock=clock, stop=consumer.stop)
        current = partial(routes, self.plan.keeping)
        kept = None
        if self.plan.keeping:
            kept = keeper_parts(line, clock, current, publisher, producer, self.promises)
        circumstances = kept.circumstances if kept else Circumstances(clock)
        lookout = Lookout(
            current, intake, publisher, producer, SettledAlerts(100), circumstances, clock
        )
        if is_mirror:
            lookout = mirrored(lookout, intake.recorded)
        loop = ConsumerLoop[Arrival](
            "lookout",
            consumer,
            lookout.writer,
            decode,
            lookout,
            life,
            batch_limit=_settings().lookout_batch_alerts,
            rng=random.Random(f"{self.plan.seed}/{process.slot}/{run}"),
            secure=lookout.secure,
        )
        relay = Relay(outbox, publisher, _settings(), life)
        one = LookoutProcess(
            kernel=self.kernel,
            process=process,
            line=line,
            consumer=consumer,
            loop=loop,
            relay=relay,
            outbox=outbox,
            fresh=kept.fresh if kept else None,
            keeper=kept.keeper if kept else None,
        )
        if kept is not None:
            self.kernel.after(0.0, one.open, process)
        self.kernel.after(0.001, one.sweep, process)
        return one
