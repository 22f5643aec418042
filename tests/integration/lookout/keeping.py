"""Lookouts with keepers on a real ledger, whose clock the test moves; a provider that counts."""

import asyncio
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from pydantic import SecretStr

from services.backbone.clock import ManualClock
from services.backbone.errors import Trouble
from services.backbone.kafka.producer import Outgoing
from services.backbone.ledger.alerts.intake import Intake
from services.backbone.ledger.alerts.outbox import Outbox
from services.backbone.ledger.database import AsyncPool, Pool, async_pool, open_pool
from services.backbone.ledger.deliveries.claims import Claim, Claims, Due, Settlement
from services.backbone.ledger.operators.acknowledgements import Acknowledgements
from services.backbone.ledger.operators.silences import NewSilence, Silences
from services.backbone.settings import LedgerSettings
from services.contracts.ids import alert_id, delivery_id
from services.contracts.records import Alert, Delivery, Severity
from services.contracts.states import State
from services.lookout.decisions.silencing import read_match
from services.lookout.duties.roster import judging, refreshing
from services.lookout.duties.telling import Teller
from services.lookout.intake.circumstances import Circumstances
from services.lookout.intake.pipeline import Lookout
from services.lookout.intake.repeats import SettledAlerts
from services.lookout.keeper import Duty
from services.lookout.matching import Match
from services.lookout.outbox.publishing import Publisher
from services.lookout.routing import (
    Grouping,
    Inhibition,
    Instruction,
    Quiet,
    Route,
    Routes,
    SilenceRule,
    Target,
    decide,
)
from services.lookout.settings import LookoutSettings
from services.lookout.standing import Silence
from services.lookout.week_times import WeekPart, WeekTimes
from tests.integration.lookout.crashing import Topics, arrivals
from tests.unit.lookout.judging_model import World as Model
from tests.unit.lookout.samples import sample

START: Final = datetime(2026, 11, 21, 21, 0, tzinfo=UTC)
CHANNELS: Final = ("sms", "email")
AGE_LIMIT_HOURS: Final = 100.0
ROWS_LIMIT: Final = 40
"""More than the rows of a history, so that one round sees what a claim could take."""
NIGHTS: Final = WeekTimes(
    "nights", (WeekPart(frozenset(range(7)), 22 * 60, 6 * 60, ZoneInfo("UTC")),)
)
CRITICAL, INFO = (frozenset({each}) for each in (Severity.CRITICAL, Severity.INFO))
ROUTES: Final = Routes(
    (
        Route(
            "hot",
            Match(watch=("over-heat",)),
            (
                Instruction(Target("sms", "a"), "hot", quiet=Quiet(NIGHTS, CRITICAL)),
                Instruction(
                    Target("email", "b"),
                    "hot",
                    quiet=Quiet(NIGHTS, CRITICAL),
                    grouping=Grouping(("labels.zone",), 60.0, 3),
                ),
            ),
        ),
    ),
    (Instruction(Target("email", "c"), "default", quiet=Quiet(NIGHTS)),),
    version_id="1",
    times={"nights": NIGHTS},
    inhibitions=(Inhibition("zone", Match(severity=CRITICAL), Match(severity=INFO),
                            ("labels.zone",), 600.0),),
    silences=(SilenceRule("works", Match(labels=(("zone", ("south",)),)), "bob", "works",
                          START + timedelta(hours=1), START + timedelta(hours=2)),),
)  # fmt: skip


class Gone(BaseException):
    """The process is gone here."""


@dataclass
class MortalTopics(Topics):
    """Topics whose writer dies instead of publishing a delivery, if asked to."""

    dies: bool = False

    def send(self, records: Sequence[Outgoing]) -> "Future[list[Trouble | None]]":
        if self.dies and any(each.topic.startswith("deliveries.") for each in records):
            raise Gone
        return super().send(records)


@dataclass
class Program:
    """One lookout as a process has it in memory."""

    lookout: Lookout
    duties: Sequence[Duty]
    topics: MortalTopics

    def round(self) -> None:
        for duty in self.duties:
            while duty.do():
                pass


@dataclass(frozen=True)
class Desk:
    """Connections to one ledger, one per pool, so that each follows the moved clock.

    Histories share them, each after it has wiped the ledger: to connect costs more than a history.
    """

    runner: asyncio.Runner
    pool: Pool
    async_pool: AsyncPool

    def wipe(self) -> None:
        """Forget all alerts and silences."""
        with self.pool.connection() as connection:
            connection.execute("DELETE FROM alerts")
            connection.execute("DELETE FROM silences")

    def set_clock(self, now: datetime) -> None:
        """Make it now for every connection."""
        statement, terms = "SELECT set_config('aldebaran.now', %s, false)", (now.isoformat(),)
        with self.pool.connection() as connection:
            connection.execute(statement, terms)

        async def move() -> None:
            async with self.async_pool.connection() as connection:
                await connection.execute(statement, terms)

        self.runner.run(move())


@contextmanager
def open_desk(url: str) -> Iterator[Desk]:
    """Open connections to a migrated ledger."""
    one = LedgerSettings(postgres_url=SecretStr(url), postgres_pool_size=1)
    with asyncio.Runner() as runner, open_pool(one) as pool:
        over_there = async_pool(one)
        runner.run(over_there.open())
        try:
            yield Desk(runner, pool, over_there)
        finally:
            runner.run(over_there.close())


@dataclass
class World:
    """The ledger, two lookouts, a deliverer, and what a plain model knows.

    `told` counts what people have read: channel, recipient and alert, alone or in a digest.
    """

    desk: Desk
    now: datetime = START
    alerts: dict[int, Alert] = field(default_factory=dict)
    acknowledged: set[str] = field(default_factory=set)
    model: Model = field(default_factory=lambda: Model([], list(ROUTES.silences),
                                                       list(ROUTES.inhibitions), []))  # fmt: skip
    sent: Counter[str] = field(default_factory=Counter)
    told: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    written: Topics = field(default_factory=Topics)
    names: "itertools.count[int]" = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        """Begin with an empty ledger and two lookouts."""
        self.pool = self.desk.pool
        self.desk.wipe()
        self.clock = ManualClock(int(START.timestamp() * 1000))
        self.pass_time(0)
        self.programs = [self.start(), self.start()]

    def start(self) -> Program:
        """Start a lookout that remembers nothing."""
        intake, outbox = Intake(self.pool), Outbox(self.pool)
        topics = MortalTopics(self.written.written)
        publisher = Publisher(topics, outbox)
        circumstances = Circumstances(self.clock)
        teller = Teller(publisher, topics, outbox, self.clock)
        settings = LookoutSettings(
            channels=CHANNELS, age_limit_hours=AGE_LIMIT_HOURS, lookout_keeper_rows=ROWS_LIMIT
        )
        fresh = refreshing(self.pool, circumstances, lambda: ROUTES)
        duties = judging(settings, self.pool, circumstances, lambda: ROUTES, teller)
        settled = SettledAlerts(100)
        lookout = Lookout(
            lambda: ROUTES, intake, publisher, topics, settled, circumstances, self.clock
        )
        fresh.do()
        return Program(lookout, [fresh, *duties], topics)

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        self.clock.move(seconds)
        self.desk.set_clock(self.now)

    def alert(self, number: int) -> Alert:
        """Return the alert of a number; what it is about follows from the number."""
        if number not in self.alerts:
            watch = ("over-heat", "cpu")[number % 2]
            self.alerts[number] = sample(
                number,
                alert_id=alert_id(watch, [str(number)]),
                watch=watch,
                severity=(Severity.CRITICAL, Severity.INFO, Severity.WARNING)[number // 2 % 3],
                labels={"zone": ("north", "south")[number // 6 % 2]},
                detected_at_ms=int(self.now.timestamp() * 1000),
            )
            self.model.sources.append(self.alerts[number])
        return self.alerts[number]

    def arrive(self, program: Program, numbers: Sequence[int]) -> None:
        """Some alerts come, maybe again."""
        program.lookout(arrivals([self.alert(number) for number in numbers]))

    def silence(self, hours: float, watch: str) -> None:
        new = NewSilence(
            f"s{next(self.names)}", {"watch": [watch]}, self.now,
            self.now + timedelta(hours=hours), "ann", "works",
        )  # fmt: skip
        Silences(self.pool).create(new)
        match = read_match(new.match, {})
        told = (new.starts_at, new.ends_at, new.author, new.reason)
        self.model.silences.append(Silence(new.silence_id, match, *told))

    def end_silence(self) -> None:
        standing = [each for each in self.model.silences if each.ends_at > self.now]
        if standing:
            Silences(self.pool).end(standing[0].silence_id, "ann")
            self.model.silences.remove(standing[0])

    def acknowledge(self, number: int) -> None:
        if number in self.alerts and self.recorded(self.alerts[number]):
            alert = self.alerts[number]
            Acknowledgements(self.pool).acknowledge(alert.alert_id, person="ann", via="api")
            self.acknowledged.add(alert.alert_id)
            self.model.sources = [each for each in self.model.sources if each is not alert]

    def recorded(self, alert: Alert) -> bool:
        return bool(self.rows("SELECT FROM alerts WHERE alert_id = %s", alert.alert_id))

    def rows(self, query: str, *terms: Any) -> list[Any]:
        with self.pool.connection() as connection:
            return connection.execute(query.encode(), terms).fetchall()

    def deliver(self) -> list[Claim]:
        """Claim and send all that is due; return what was sent."""
        run = self.desk.runner.run
        return [claim for channel in CHANNELS for claim in run(self._deliver(channel))]

    async def _deliver(self, channel: str) -> list[Claim]:
        claims = Claims(
            self.desk.async_pool,
            channel=channel,
            owner="o",
            lease_seconds=30,
            age_limit_seconds=1e9,
        )
        claimed = await claims.due(Due(1000))
        for claim in claimed:
            self.sent[claim.delivery_id] += 1
            for each in read_in(Delivery.decode(claim.record.encode())):
                self.told[channel, claim.recipient, each] += 1
        sent = [Settlement(each.delivery_id, each.fence, State.SENT, State.SENT, None)
                for each in claimed]  # fmt: skip
        if sent:
            await claims.settle(sent)
        return claimed

    def held(self, sent_id: str) -> bool:
        """Tell whether the model holds a message back: a digest, while it does so for all of it."""
        told = self.rows("SELECT delivery_id FROM deliveries WHERE digest_id = %s", sent_id)
        return all(self._held(each) for (each,) in told or [(sent_id,)])

    def _held(self, sent_id: str) -> bool:
        """Tell whether a silence, inhibition or quiet hours hold back one alert's message."""
        for alert in self.alerts.values():
            for told in decide(ROUTES, alert, self.now).instructions:
                if sent_id == self.id_of(alert, told):
                    ungrouped = Instruction(told.target, told.route, quiet=told.quiet)
                    return self.model.held(ungrouped, alert, self.now) is not None
        raise AssertionError(f"nobody asked for {sent_id}")

    @staticmethod
    def id_of(alert: Alert, told: Instruction) -> str:
        return delivery_id(alert.alert_id, told.target.channel, told.target.recipient)


def read_in(delivery: Delivery) -> set[str]:
    """Return the ids of the alerts that a message tells: a digest's lines, or its own alert."""
    in_lines = set(re.findall(r"\(([0-9a-f]{32})\)$", delivery.text, re.MULTILINE))
    return in_lines or {delivery.alert.alert_id}
