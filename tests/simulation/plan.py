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
    STORE_DIES_BEFORE = "Postgres crashes before the statement"
    STORE_DIES_AFTER = "Postgres crashes after the statement, its answer unseen"
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
    Kind.STORE_DIES_BEFORE,
    Kind.STORE_DIES_AFTER,
)
_KINDS: Final = tuple(Kind)
OF_SEND: Final = _KINDS[_KINDS.index(Kind.REFUSED) : _KINDS.index(Kind.CONFIRM)]
OF_CALLBACK: Final = _KINDS[_KINDS.index(Kind.CONFIRM) : _KINDS.index(Kind.WITNESS_UNCLEAR)]
OF_LOOK_UP: Final = (Kind.WITNESS_UNCLEAR, Kind.WITNESS_LATE)
OF_ALL: Final = _KINDS[_KINDS.index(Kind.PROVIDER_AWAY) :]
OF_PROVIDER: Final = {"send": OF_SEND, "callback": OF_CALLBACK, "look_up": OF_LOOK_UP}

STATEMENTS: Final = {
    "lookout": ("accept", "secure", "mark", "unpublished", "read", "waiting", "produce", "produce"),
    "deliverer": (
        "by_id",
        "due",
        "settle",
        "settle",
        "lost",
        "give_back",
        "lease_over",
        "rule",
        "weigh",
        "give",
        "look_ups",
    ),
}
"""Names of statements by program; those named twice are hit twice as often."""
KEEPER_STATEMENTS: Final = (
    *("standing", "fresh", "judge_due", "judge_due", "judge_ended", "judge_page", "next_to_send"),
    *("backlog", "sweep", "judge_groups", "judge_groups", "escalate", "escalate", "fall_back"),
)
TROUBLE: Final = (
    OF_PROCESS
    + OF_STATEMENT
    + (
        *(Kind.CRASH_OPEN, Kind.CRASH_TAKEN, Kind.PAUSE_OPEN, Kind.PAUSE_TAKEN),
        *(Kind.STORE_AWAY, Kind.STORE_CLOCK, Kind.KAFKA_AWAY),
    )
)
"""What may keep a keeper, or its news, from coming in time."""


KEEPING_SHARE: Final = 0.2
TELLING_FOR_KEEPERS: Final = (
    *(Kind.PROVIDER_AWAY, Kind.PERMANENT, Kind.DOWN, Kind.BUSY, Kind.REFUSED),
    *(Kind.CRASH, Kind.CRASH_AFTER, Kind.ANSWER_LOST, Kind.STORE_AWAY),
)
"""What makes messages wait, fail for good, or a keeper stop in the middle."""


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


class Word(StrEnum):
    """What a person may say."""

    SILENCE = "silences"
    END = "ends the oldest silence"
    ACKNOWLEDGE = "acknowledges"


@dataclass(frozen=True, slots=True)
class Saying:
    """One thing that a person says at a time: of a crowd's alerts, or of one by its number."""

    word: Word
    at_seconds: float
    crowd: str = "*"
    number: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        about = self.number if self.word is Word.ACKNOWLEDGE else self.crowd
        return f"{self.at_seconds:.1f} s: ann {self.word} {about} {self.seconds or ''}".rstrip()


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
    keeping: bool = False
    """Whether routes hold back, gather, escalate and fall back, and lookouts have keepers."""
    sayings: tuple[Saying, ...] = ()
    mirrored: frozenset[str] = frozenset()
    """Of which programs, lookouts or deliverers, the second is a mirror of the first."""

    @property
    def untroubled(self) -> bool:
        """Whether nothing goes wrong with programs, stores or clocks."""
        return not any(each.kind in TROUBLE for each in self.faults)

    def is_mirror(self, slot: str) -> bool:
        """Tell whether the program of a slot reads beside another what that one reads."""
        program, _, number = slot.partition("-")
        return number == "1" and program in self.mirrored


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
    keeping = rng.random() < KEEPING_SHARE
    if keeping and rng.random() < 0.5:
        kinds = rng.sample(TELLING_FOR_KEEPERS, rng.randint(1, 3))
    alerts = rng.choice((1, 2, 3, 3) if keeping else (1, 1, 2, 3))
    return Plan(
        seed=seed,
        alerts=tuple(_alert(rng, number, 12 if keeping else 3) for number in range(alerts)),
        faults=tuple(_fault(rng, rng.choice(kinds), slots, keeping) for _ in range(many)),
        keeping=keeping,
        sayings=_sayings(rng, alerts) if keeping else (),
        lookouts=lookouts,
        deliverers=deliverers,
        partitions=rng.choice((1, 2)),
        dedupes=rng.random() < 0.2,
        repeats=rng.random() < 0.6,
        per_recipient=rng.random() < 0.4,
        concurrency=rng.choice((1, 2, 8)),
        per_second=rng.choice((None, 0.3) if keeping else (None, None, None, 1.0)),
        attempts_limit=rng.choice((1, 2, 4, 4)),
        witness=rng.random() < 0.5,
        mirrored=_mirrored(seed, lookouts, deliverers),
    )


def _mirrored(seed: int, lookouts: int, deliverers: int) -> frozenset[str]:
    """Return the mirrored programs: without a draw, so that a seed's history stays as it was."""
    drawn = {"lookout": lookouts > 1 and seed % 2, "deliverer": deliverers > 1 and seed // 2 % 2}
    return frozenset(program for program, is_drawn in drawn.items() if is_drawn)


def _alert(rng: random.Random, number: int, within_seconds: float) -> PlannedAlert:
    first = rng.random() * rng.choice((3, within_seconds))
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


def _sayings(rng: random.Random, alerts: int) -> tuple[Saying, ...]:
    return tuple(
        Saying(
            rng.choice((Word.SILENCE, Word.SILENCE, Word.END, Word.ACKNOWLEDGE)),
            rng.random() * rng.choice((5, 25)),
            rng.choice(("one", "two", "*", "*")),
            rng.randrange(alerts),
            rng.choice((3.0, 15.0, 30.0)),
        )
        for _ in range(rng.choice((0, 1, 1, 2, 3)))
    )


def _fault(rng: random.Random, kind: Kind, slots: Sequence[str], keeping: bool) -> Fault:
    at, seconds = rng.random() * 8, rng.choice((0.5, 1.5, 3.0, 7.0, 12.0))
    who = rng.choice(slots)
    if kind in OF_STATEMENT:
        program = who.partition("-")[0]
        statement = rng.choice(STATEMENTS[program])
        if keeping and program == "lookout" and rng.random() < 0.7:
            statement = rng.choice(KEEPER_STATEMENTS)
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
