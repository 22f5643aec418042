"""One history: everything put together, the faults let loose, and the end judged."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Final

from services.contracts import topics
from services.contracts.ids import alert_id
from services.contracts.records import Alert, Severity
from tests.simulation.broker import Broker
from tests.simulation.deliverers import TOPIC, Deliverer, DelivererFactory
from tests.simulation.judge import Judge
from tests.simulation.keeper_judge import KeeperJudge
from tests.simulation.kernel import START_MS, Kernel, Process, Violation
from tests.simulation.lookouts import LookoutFactory, recipients, routes
from tests.simulation.people import People
from tests.simulation.plan import OF_ALL, OF_PROCESS, Fault, Kind, Plan, PlannedAlert
from tests.simulation.provider import Provider
from tests.simulation.step_judge import SETTLED_WITHIN_SECONDS, Announced, StepJudge
from tests.simulation.store import Store
from tests.simulation.weather import Weather

RESTART_SECONDS: Final = 0.7
Trace = Callable[[float, str, str], None]


def _announced(planned: PlannedAlert) -> Announced:
    value = _alert(planned.number, planned.severity, planned.crowd)
    return Announced(_alert_id(planned), value, recipients(planned.crowd))


def _alert_id(planned: PlannedAlert) -> str:
    return alert_id("simulated", [str(planned.number)])


@lru_cache(maxsize=64)
def _alert(number: int, severity: Severity, crowd: str) -> bytes:
    labels = {} if crowd == "both" else {"crowd": crowd}
    return Alert(
        alert_id=alert_id("simulated", [str(number)]),
        watch="simulated",
        severity=severity,
        summary="more than allowed",
        key={"number": str(number)},
        labels=dict(labels),
        appended_at_ms=START_MS,
        detected_at_ms=START_MS,
        auditor="a",
    ).encode()


@dataclass
class World:
    """All processes and what they share."""

    plan: Plan
    trace: Trace | None = None
    slots: dict[str, Process] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)
    deliverers: dict[str, Deliverer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        plan = self.plan
        self.kernel = Kernel(self.trace)
        self.weather = Weather(plan, random.Random(f"{plan.seed}/weather"))
        self.store = Store(self.kernel)
        tables = self.store.tables
        self.keepers = KeeperJudge(
            self.kernel, tables, routes(plan.keeping), plan.untroubled and not plan.dedupes
        )
        self.people = People(self.kernel, self.store, self.keepers)
        self.broker = Broker(self.kernel)
        alerts = self.broker.declare(topics.ALERTS, plan.partitions)
        self.broker.declare(TOPIC, plan.partitions)
        for program, topic in (("lookout", topics.ALERTS), ("deliverer", TOPIC)):
            if program in plan.mirrored:
                self.broker.mirror(topic)
        self.steps = StepJudge(self.store, alerts, [_announced(each) for each in plan.alerts])
        self.store.on_step = alerts.on_commit = self.steps.look
        self.judge = Judge(self.kernel, tables, plan.dedupes, self.keepers, self.steps)
        tables.on_move, tables.on_insert = self.judge.moving, self.keepers.inserting
        self.provider = Provider(self.kernel, self.judge, self.weather, self.store)
        self._lookouts = LookoutFactory(
            self.kernel, self.store, self.weather, self.broker, plan, self.keepers
        )
        self._deliverers = DelivererFactory(
            self.kernel, self.store, self.weather, self.provider, self.broker, plan
        )

    def run(self) -> None:
        """Live through the history.

        Raises:
            Violation: a promise was broken.
        """
        for number in range(self.plan.lookouts):
            self.begin(f"lookout-{number}")
        for number in range(self.plan.deliverers):
            self.begin(f"deliverer-{number}")
        for alert in self.plan.alerts:
            self._announce(alert)
        for saying in self.plan.sayings:
            self.kernel.at(saying.at_seconds, partial(self.people.say, saying))
        for fault in self.plan.faults:
            if not fault.number:
                self.kernel.at(fault.at_seconds, partial(self._strike, fault))
        self.kernel.run(self._faults_over_at())
        self.weather.calm = True
        self._settle()

    def begin(self, slot: str) -> None:
        """Start a program, or start it anew after its end."""
        process = self.slots[slot] = Process(slot)
        run = self.runs[slot] = self.runs.get(slot, 0) + 1
        self.kernel.tell(slot, f"starts, run {run}")
        process.on_missing.append(lambda: self._restart(process))
        if slot.startswith("lookout"):
            self._lookouts.begin(process, run)
        else:
            self.deliverers[slot] = self._deliverers.begin(process, run)

    def close(self) -> None:
        """Let go of everything that this history has begun."""
        for loop in self._deliverers.loops:
            loop.close()

    @property
    def met(self) -> set[Kind]:
        """The kinds of faults that have struck."""
        return self.weather.met

    def _restart(self, process: Process) -> None:
        if not process.alive:
            self.kernel.after(RESTART_SECONDS, lambda: self.begin(process.slot))

    def _announce(self, planned: PlannedAlert) -> None:
        value = _alert(planned.number, planned.severity, planned.crowd)
        for copy, at in enumerate(planned.told_at_seconds):
            key = f"{planned.number}" if copy % 2 else f"{planned.number + copy}"
            self.kernel.at(at, partial(self.broker.append, topics.ALERTS, key, value))

    def _faults_over_at(self) -> float:
        times = [at for alert in self.plan.alerts for at in alert.told_at_seconds]
        times += [each.at_seconds for each in self.plan.sayings]
        times += [
            each.at_seconds + abs(each.seconds) for each in self.plan.faults if not each.number
        ]
        return max(times, default=0.0) + 1.0

    def _settle(self) -> None:
        """Go on until nothing is left to be done; everything must come to rest by itself."""
        ends_at = self.kernel.now + SETTLED_WITHIN_SECONDS
        while left := self._left():
            if self.kernel.now >= ends_at:
                raise Violation(f"I2: not settled {SETTLED_WITHIN_SECONDS:g} s after: {left}")
            self.kernel.run(self.kernel.now + 2.0)

    def _left(self) -> list[str]:
        expected = {
            (_alert_id(alert), recipient)
            for alert in self.plan.alerts
            for recipient in recipients(alert.crowd)
        }
        left = self.judge.missing(expected) + self.judge.unsettled()
        return left + self.keepers.unsettled() if self.plan.keeping else left

    def _strike(self, fault: Fault) -> None:
        self.kernel.tell("fault", str(fault))
        self.weather.met.add(fault.kind)
        if fault.kind in OF_PROCESS:
            self._strike_process(fault, self.slots[fault.who])
        elif fault.kind in OF_ALL:
            self._strike_all(fault)

    def _strike_process(self, fault: Fault, process: Process) -> None:
        match fault.kind:
            case Kind.CRASH:
                self.kernel.kill(process)
            case Kind.PAUSE:
                self.kernel.stop(process, fault.seconds)
            case Kind.WALL_CLOCK:
                process.wall_shift_seconds += fault.seconds
            case Kind.DRAIN if fault.who in self.deliverers:
                process.run(self.deliverers[fault.who].drain)
            case Kind.DRAIN:
                self.kernel.kill(process)

    def _strike_all(self, fault: Fault) -> None:
        until = self.kernel.now + fault.seconds
        match fault.kind:
            case Kind.PROVIDER_AWAY:
                self.provider.away_until = max(until, self.provider.away_until)
            case Kind.STORE_AWAY:
                self.store.go_away(fault.seconds)
            case Kind.STORE_CLOCK:
                self.store.clock_shift += fault.seconds
                self.judge.clock_jumped = True
            case Kind.KAFKA_AWAY:
                self.broker.away_until = max(until, self.broker.away_until)
                self.kernel.at(until, self.broker.back)
            case Kind.TOPIC_LOST:
                self.broker.lose(TOPIC)
            case Kind.STRAY:
                self._stray()
            case _:
                self._strike_groups(fault)

    def _strike_groups(self, fault: Fault) -> None:
        for group in self.broker.every_group:
            if fault.kind is Kind.REWIND:
                group.rewind(1 + int(fault.seconds))
            else:
                group.rebalance()

    def _stray(self) -> None:
        """Messages without use: no record at all, and deliveries that nobody has recorded."""
        for topic in (topics.ALERTS, TOPIC):
            self.broker.append(topic, "stray", b"\x00no record")
