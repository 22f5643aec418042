"""What keepers ask of the ledger, of both ledgers: every command is given to both."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from services.backbone.errors import Refused
from services.backbone.ledger.alerts import escalations, fallbacks
from services.backbone.ledger.alerts.escalations import Escalations
from services.backbone.ledger.alerts.fallbacks import Fallbacks
from services.backbone.ledger.alerts.inhibitors import Inhibitors
from services.backbone.ledger.alerts.intake import NewDelivery
from services.backbone.ledger.alerts.suppressions import Judge, Moved, Ruling, Suppressions, Waiting
from services.backbone.ledger.operators.acknowledgements import Acknowledgements
from services.backbone.ledger.operators.silences import NewSilence, Silences
from tests.simulation.memory.comparing import Both
from tests.simulation.memory.following import (
    MemoryAcknowledgements,
    MemoryEscalations,
    MemoryFallbacks,
)
from tests.simulation.memory.silences import MemoryInhibitors, MemorySilences
from tests.simulation.memory.suppressions import MemorySuppressions, moment

_DELIVERIES: Final = """
SELECT delivery_id, plan, suppressed_by, group_key, group_limit, digest_id,
  record ->> 'subject' AS subject, extract(epoch FROM not_before)::float8 AS not_before,
  extract(epoch FROM fallback_at)::float8 AS fallback_at FROM deliveries"""
_STEPS: Final = """
SELECT alert_id, name, step, extract(epoch FROM due_at)::float8 AS due_at, plan, repetition, state
FROM escalations"""
_DECISIONS: Final = "SELECT alert_id, delivery_id, stage, decided, why FROM decisions"
_ACKNOWLEDGED: Final = """
SELECT alert_id, person, extract(epoch FROM at)::float8 AS at,
  (SELECT acknowledged_at IS NOT NULL FROM alerts a WHERE a.alert_id = w.alert_id) AS noted
FROM acknowledgements w"""


@dataclass
class Seen:
    """A judge that remembers what it was shown."""

    judge: Judge
    rows: list[Waiting] = field(default_factory=list)

    def __call__(self, now: datetime, rows: Sequence[Waiting]) -> Sequence[Ruling]:
        self.rows += rows
        return self.judge(now, rows)

    def plain(self) -> list[dict[str, Any]]:
        """Return what it was shown, alerts read."""
        found = [asdict(each) for each in self.rows]
        for row in found:
            for part in (row, *row["members"]):
                part["alert"] = json.loads(part["alert"])
        return sorted(found, key=lambda row: str(row["delivery_id"]))


@dataclass
class BothKeepers:
    """The keeper's statements on two ledgers; each method fails where their answers differ."""

    both: Both

    def __post_init__(self) -> None:
        self.real = Suppressions(self.both.pool)
        self.memory = MemorySuppressions(self.both.tables)

    def begin(self) -> None:
        """Empty what `Both.begin` leaves."""
        with self.both.pool.connection() as connection:
            connection.execute("DELETE FROM silences")

    def judge(self, name: str, after: str, judge: Judge) -> None:
        """Have rows judged by both, in one of the keeper's ways."""
        seen, mine = Seen(judge), Seen(judge)
        match name:
            case "due":
                real, memory = self.real.judge_due(seen), self.memory.judge_due(mine)
            case "ended":
                real = self.real.judge_ended_early(seen)
                memory = self.memory.judge_ended_early(mine)
            case "page":
                place, real = self.real.judge_page(after, seen)
                my_place, memory = self.memory.judge_page(after, mine)
                assert place == my_place
            case "groups":
                real, memory = self.real.judge_groups(seen), self.memory.judge_groups(mine)
            case _:
                real, memory = self._sweep(name, after, seen, mine)
        assert seen.plain() == mine.plain()
        assert _moved(real) == _moved(memory)

    def _sweep(
        self, name: str, after: str, seen: Seen, mine: Seen
    ) -> tuple[list[Moved], list[Moved]]:
        if name == "next":
            channels = [self.both.channel, "email"]
            real = self.real.judge_next_to_send(channels, 2.0, seen)
            found = [self.memory.next_to_send(channel, 2.0) for channel in channels]
            return real, [moved for rows in found for moved in self.memory.rule(rows, mine)]
        begin = (moment(self.both.now - 60), after)
        place, real = self.real.judge_backlog(begin, seen)
        my_place, rows = self.memory.backlog(begin)
        assert place == my_place
        return real, self.memory.rule(rows, mine)

    def silence(self, name: str, starts_in: float, lasts: float) -> None:
        """Create a silence in both."""
        start = moment(self.both.now) + timedelta(seconds=starts_in)
        ends = start + timedelta(seconds=lasts)
        new = NewSilence(name, {"watch": ["too-many"]}, start, ends, "ann", "works")
        self._same(lambda: Silences(self.both.pool).create(new),
                   lambda: MemorySilences(self.both.tables).create(new))  # fmt: skip

    def end(self, name: str) -> None:
        """End a silence in both."""
        self._same(lambda: Silences(self.both.pool).end(name, "bob"),
                   lambda: MemorySilences(self.both.tables).end(name, "bob"))  # fmt: skip

    def standing(self) -> None:
        """Read what stands from both."""
        real, memory = Silences(self.both.pool), MemorySilences(self.both.tables)
        assert sorted(map(repr, real.standing())) == sorted(map(repr, memory.standing()))
        fresh = Inhibitors(self.both.pool).fresh(30.0)
        mine = MemoryInhibitors(self.both.tables).fresh(30.0)
        assert sorted(map(repr, fresh)) == sorted(map(repr, mine))

    def acknowledge(self, alert_id: str, person: str, note_text: str) -> None:
        """Acknowledge in both."""
        self._same(
            lambda: Acknowledgements(self.both.pool).acknowledge(
                alert_id, person=person, via="api", note_text=note_text
            ),
            lambda: MemoryAcknowledgements(self.both.tables).acknowledge(
                alert_id, person=person, via="api", note_text=note_text
            ),
        )

    def escalate(self, decide: escalations.Decide) -> None:
        """Take the steps that are due from both."""
        real = Escalations(self.both.pool).take(100, decide)
        memory = MemoryEscalations(self.both.tables).take(100, decide)
        assert (real.steps, _ids(real.deliveries)) == (memory.steps, _ids(memory.deliveries))

    def fall_back(self, decide: fallbacks.Decide) -> None:
        """Take the failures that nothing has followed from both."""
        real = Fallbacks(self.both.pool).take(100, decide)
        memory = MemoryFallbacks(self.both.tables).take(100, decide)
        assert (real.failures, real.exhausted) == (memory.failures, memory.exhausted)
        assert _ids(real.deliveries) == _ids(memory.deliveries)

    def check(self) -> None:
        """Compare what keepers keep, row by row."""
        tables = self.both.tables
        with self.both.rows() as real_rows:
            rows = real_rows.execute(_DELIVERIES).fetchall()
            steps = real_rows.execute(_STEPS).fetchall()
            decisions = real_rows.execute(_DECISIONS).fetchall()
            said = real_rows.execute(_ACKNOWLEDGED).fetchall()
        for real in rows:
            row = tables.rows[real["delivery_id"]]
            assert real == {name: getattr(row, name) for name in real}
        assert {tuple(map(str, each.values())) for each in steps} == {
            tuple(map(str, (*key, step.due_at, step.plan, step.repetition, step.state)))
            for key, step in tables.steps.items()
        }
        mine = sorted(repr(asdict(each)) for each in tables.decisions)
        assert sorted(map(repr, decisions)) == mine
        assert {(each["alert_id"], each["person"], each["at"], each["noted"]) for each in said} == {
            (alert_id, each.person, each.at.timestamp(), True)
            for alert_id, some in tables.acknowledgements.items()
            for each in some
        }

    def _same(self, real: Callable[[], object], memory: Callable[[], object]) -> None:
        assert _answer(real) == _answer(memory)


def _answer(ask: Callable[[], object]) -> object:
    try:
        return ask()
    except Refused as error:
        return str(error)


def _ids(deliveries: Sequence[NewDelivery]) -> list[str]:
    return sorted(each.delivery.delivery_id for each in deliveries)


def _moved(moved: Sequence[Moved]) -> list[dict[str, Any]]:
    plain = [asdict(each) | {"size_bytes": each.size_bytes > 0} for each in moved]
    return sorted(plain, key=lambda each: str(each["delivery_id"]))
