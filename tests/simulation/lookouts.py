"""A lookout as a simulated process: the real consumer loop, stages, publisher and relay.

The program's threads block while they wait for Postgres or Kafka. Here such a wait lets the kernel
go on from inside the call. So a thread that waits goes on only after those that began to wait later
have come to an end of their turn: waits are nested, the one limit of this simulation of threads.
"""

import random
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from services.backbone.errors import Transient
from services.backbone.loop import ConsumerLoop
from services.backbone.service import Life
from services.contracts import topics
from services.lookout.circumstances import Circumstances
from services.lookout.pipeline import Arrival, Lookout, decode
from services.lookout.publishing import Publisher
from services.lookout.relay import Relay
from services.lookout.repeats import SettledAlerts
from services.lookout.routes.reading import read_routes
from services.lookout.routing import Routes
from services.lookout.settings import LookoutSettings
from tests.simulation.broker import Broker
from tests.simulation.kafka import GroupConsumer, LineProducer
from tests.simulation.kernel import Died, Kernel, Process, ProcessClock
from tests.simulation.ledger import LineIntake
from tests.simulation.memory.intake import MemoryIntake
from tests.simulation.plan import Plan
from tests.simulation.store import Line, Store
from tests.simulation.weather import Weather

RELAY_SECONDS: Final = 3.0
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


@cache
def routes() -> Routes:
    """Return the routes of all histories."""
    return read_routes(_ROUTES, ["webhook"], {})


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
    intake: LineIntake
    first: bool = True
    busy: bool = field(default=False)

    def turn(self) -> None:
        """Take one batch, if there is one."""
        if self.busy:
            return
        self.busy = True
        try:
            self.consumer.one_batch(self.line.block)
            self.loop.run()
        except Died:
            return
        finally:
            self.busy = False
        if self.consumer.has_more():
            self.kernel.after(0.001, self.turn, self.process)

    def sweep(self) -> None:
        """Do one turn of the relay's thread."""
        try:
            self.relay.sweep(0.0 if self.first else _settings().lookout_relay_age_seconds)
            self.intake.waiting()
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

    def begin(self, process: Process, run: int) -> LookoutProcess:
        """Start a lookout's run."""
        clock = ProcessClock(self.kernel, process)
        line = Line(self.kernel, process, self.store, self.weather)
        producer = LineProducer(self.broker, line)
        intake = LineIntake(line, MemoryIntake(self.store.tables))
        publisher = Publisher(producer, intake)
        group = self.broker.groups[topics.ALERTS]

        def wake() -> None:
            one.turn()

        consumer = GroupConsumer(self.broker, group, topics.ALERTS, process, wake)
        life = Life(clock=clock, stop=consumer.stop)
        circumstances = Circumstances(clock)
        lookout = Lookout(
            routes, intake, publisher, producer, SettledAlerts(100), circumstances, clock
        )
        loop = ConsumerLoop[Arrival](
            "lookout",
            consumer,
            producer,
            decode,
            lookout,
            life,
            batch_limit=_settings().lookout_batch_alerts,
            rng=random.Random(f"{self.plan.seed}/{process.slot}/{run}"),
        )
        relay = Relay(intake, publisher, _settings(), life)
        one = LookoutProcess(self.kernel, process, line, consumer, loop, relay, intake)
        self.kernel.after(0.001, one.sweep, process)
        return one
