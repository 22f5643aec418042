"""A plan: everything that is to happen in one history, as values drawn from a seed.

Shrinking takes faults and alerts out of a plan; what is left is run again.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from services.contracts.records import Severity


class Kind(StrEnum):
    """What can go wrong."""

    # To a process, at a time.
    CRASH = "crash"
    PAUSE = "pause"
    DRAIN = "told to stop"
    WALL_CLOCK = "wall clock jumps"
    # To one of a process's statements, by the statement's name and number.
    CRASH_BEFORE = "crash before the statement"
    CRASH_AFTER = "crash after the statement, its answer unseen"
    ANSWER_LOST = "statement committed, answer lost"
    NOT_DONE = "statement not done, connection lost"
    SLOW = "statement waits in the network"
    SLOW_ANSWER = "statement's answer waits in the network"
    PAUSE_AFTER = "paused between the commit and its answer"
    # To one send, by its number at the provider.
    REFUSED = "refused"
    BUSY = "refused with a pause"
    DOWN = "no connection"
    PERMANENT = "refused for good"
    DROPPED = "taken, then the connection is lost"
    SILENT = "not taken, and the connection is lost"
    LATE_ANSWER = "taken, answered late"
    LATE_TAKE = "taken late, then answered"
    CRASH_OPEN = "sender dies before the bytes leave"
    CRASH_TAKEN = "taken, then the sender dies"
    PAUSE_OPEN = "sender is paused before it checks its window"
    PAUSE_TAKEN = "taken, then the sender is paused"
    # What the provider reports, by its number.
    CONFIRM = "callback: the recipient has it"
    CONFIRM_AT_ONCE = "the same, before the send's own answer"
    CONFIRM_TWICE = "the same, twice"
    UNDELIVERED = "callback: it could not be delivered"
    # To one look-up, by its number.
    WITNESS_UNCLEAR = "the provider cannot say"
    WITNESS_LATE = "the provider does not answer a look-up"
    # To what all share, at a time.
    PROVIDER_AWAY = "provider is away"
    STORE_AWAY = "Postgres is away"
    STORE_CLOCK = "Postgres' clock jumps"
    KAFKA_AWAY = "Kafka is away"
    TOPIC_LOST = "the delivery topics lose their records"
    REWIND = "committed offsets go back"
    REBALANCE = "partitions change hands"
    STRAY = "messages that nobody can use"


OF_PROCESS: Final = (Kind.CRASH, Kind.PAUSE, Kind.DRAIN, Kind.WALL_CLOCK)
OF_STATEMENT: Final = (
    Kind.CRASH_BEFORE,
    Kind.CRASH_AFTER,
    Kind.ANSWER_LOST,
    Kind.NOT_DONE,
    Kind.SLOW,
    Kind.SLOW_ANSWER,
    Kind.PAUSE_AFTER,
)
_KINDS: Final = tuple(Kind)
OF_SEND: Final = _KINDS[_KINDS.index(Kind.REFUSED) : _KINDS.index(Kind.CONFIRM)]
OF_CALLBACK: Final = _KINDS[_KINDS.index(Kind.CONFIRM) : _KINDS.index(Kind.WITNESS_UNCLEAR)]
OF_LOOK_UP: Final = (Kind.WITNESS_UNCLEAR, Kind.WITNESS_LATE)
OF_ALL: Final = _KINDS[_KINDS.index(Kind.PROVIDER_AWAY) :]
OF_PROVIDER: Final = {"send": OF_SEND, "callback": OF_CALLBACK, "look_up": OF_LOOK_UP}

STATEMENTS: Final = {
    "lookout": ("accept", "mark", "unpublished", "waiting", "produce", "produce"),
    "deliverer": (
        "by_id",
        "due",
        "settle",
        "settle",
        "unsent",
        "lease_over",
        "rule",
        "weigh",
        "give",
        "look_ups",
    ),
}
"""Names of statements by program; those named twice are hit twice as often."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong: to `who`, at a time or (`statement`, number), for some seconds."""

    kind: Kind
    who: str = ""
    at_seconds: float = 0.0
    statement: str = ""
    number: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        place = f"{self.statement} {self.number}" if self.number else f"{self.at_seconds:.1f} s"
        lasts = f", {self.seconds:+.1f} s" if self.seconds else ""
        return f"{self.kind} ({self.who or 'all'}, {place}{lasts})"


@dataclass(frozen=True, slots=True)
class PlannedAlert:
    """One finding, told to topic `alerts` at each of some times."""

    number: int
    severity: Severity
    crowd: str
    """Which of the routes is for it: `one`, `two` or `both`."""
    told_at_seconds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """One history to be."""

    seed: int
    alerts: tuple[PlannedAlert, ...]
    faults: tuple[Fault, ...]
    lookouts: int
    deliverers: int
    partitions: int
    dedupes: bool
    repeats: bool
    per_recipient: bool
    concurrency: int
    per_second: float | None
    attempts_limit: int
    witness: bool
    jitter: bool = True


def draw_plan(seed: int) -> Plan:
    """Return the plan of a seed; each allows only some kinds of faults, and those more often."""
    rng = random.Random(seed)
    lookouts, deliverers = rng.choice((1, 1, 2)), rng.choice((1, 2, 2))
    slots = [f"lookout-{n}" for n in range(lookouts)]
    slots += [f"deliverer-{n}" for n in range(deliverers)] * 2
    kinds = rng.sample(
        rng.choice((_KINDS, _KINDS, OF_SEND + OF_CALLBACK + OF_LOOK_UP)), rng.randint(1, 6)
    )
    many = rng.choice((0, 1, 2, 2, 3, 4, 5, 7))
    return Plan(
        seed=seed,
        alerts=tuple(_alert(rng, number) for number in range(rng.choice((1, 1, 2, 3)))),
        faults=tuple(_fault(rng, rng.choice(kinds), slots) for _ in range(many)),
        lookouts=lookouts,
        deliverers=deliverers,
        partitions=rng.choice((1, 2)),
        dedupes=rng.random() < 0.2,
        repeats=rng.random() < 0.6,
        per_recipient=rng.random() < 0.4,
        concurrency=rng.choice((1, 2, 8)),
        per_second=rng.choice((None, None, None, 1.0)),
        attempts_limit=rng.choice((1, 2, 4, 4)),
        witness=rng.random() < 0.5,
    )


def _alert(rng: random.Random, number: int) -> PlannedAlert:
    first = rng.random() * 3
    copies = rng.choice((0, 1, 1, 2))
    return PlannedAlert(
        number=number,
        severity=rng.choice((Severity.CRITICAL, Severity.CRITICAL, Severity.WARNING)),
        crowd=rng.choice(("one", "one", "two", "both")),
        told_at_seconds=(
            first,
            *(first + rng.choice((0.0, rng.random() * 8)) for _ in range(copies)),
        ),
    )


def _fault(rng: random.Random, kind: Kind, slots: Sequence[str]) -> Fault:
    at, seconds = rng.random() * 8, rng.choice((0.5, 1.5, 3.0, 7.0, 12.0))
    who = rng.choice(slots)
    if kind in OF_STATEMENT:
        statement = rng.choice(STATEMENTS[who.partition("-")[0]])
        return Fault(kind, who, statement=statement, number=_small(rng), seconds=seconds)
    for statement, some in OF_PROVIDER.items():
        if kind in some:
            return Fault(kind, "provider", 0.0, statement, _small(rng), seconds)
    if kind in OF_PROCESS:
        sign = rng.choice((1, -1)) if kind is Kind.WALL_CLOCK else 1
        return Fault(kind, who, at_seconds=at, seconds=sign * seconds)
    sign = rng.choice((1, -1)) if kind is Kind.STORE_CLOCK else 1
    return Fault(kind, at_seconds=at, seconds=sign * seconds)


def _small(rng: random.Random) -> int:
    return min(int(rng.expovariate(0.6)) + 1, 12)
