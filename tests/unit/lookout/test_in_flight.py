"""A batch on its way while a rule ends: what it holds back is judged anew all the same.

Goal: whatever ends between judgement and recording, and whatever becomes of the recording, all that
waits after the keeper's next round is what the rules hold back then.
Method: the real pipeline and the keeper's real duties on the ledger in memory. At each point where
the pipeline waits a person acknowledges, the routes change and the keeper has its round, at random.
"""

from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum
from typing import Any, Final, cast
from unittest.mock import patch

from hypothesis import example, given
from hypothesis import strategies as st

from services.backbone.clock import ManualClock
from services.backbone.errors import Transient, Trouble
from services.backbone.kafka.producer import Outgoing
from services.backbone.ledger.alerts.inhibitors import Inhibitors
from services.backbone.ledger.alerts.intake import Accepted, NewAlert
from services.backbone.ledger.alerts.outbox import Listed, Outbox, OutboxEntry
from services.backbone.ledger.alerts.suppressions import Suppressions
from services.backbone.ledger.operators.silences import Silences
from services.contracts.records import Severity
from services.contracts.states import State
from services.lookout.duties.judging import Bench, Releasing
from services.lookout.duties.refreshing import Refreshing
from services.lookout.duties.telling import Teller
from services.lookout.intake import pipeline
from services.lookout.intake.circumstances import Circumstances
from services.lookout.intake.mirror import mirrored
from services.lookout.intake.pipeline import Arrival, Lookout
from services.lookout.intake.repeats import SettledAlerts
from services.lookout.matching import Match
from services.lookout.outbox.publishing import Publisher
from services.lookout.routing import Inhibition, Routes, SilenceRule, Target
from tests.simulation.memory.following import MemoryAcknowledgements
from tests.simulation.memory.intake import MemoryIntake
from tests.simulation.memory.silences import MemoryInhibitors, MemorySilences
from tests.simulation.memory.suppressions import MemorySuppressions
from tests.simulation.memory.tables import Tables
from tests.unit.lookout.samples import sample, told

STRONG: Final = sample(0)
WEAK: Final = [sample(number, severity=Severity.INFO) for number in (1, 2)]
WARM: Final = [sample(number, watch="over-heat", severity=Severity.WARNING) for number in (3, 4)]
INFO, CRITICAL = (frozenset({each}) for each in (Severity.INFO, Severity.CRITICAL))
ROUTES: Final = Routes(
    (),
    told("default", Target("email", "a@example.com")),
    version_id="1",
    inhibitions=(Inhibition("worst", Match(severity=CRITICAL), Match(severity=INFO), (), 600),),
    silences=(SilenceRule("works", Match(watch=("over-heat",)), "bob", "works"),),
)
WITHOUT_WORKS: Final = replace(ROUTES, version_id="2", silences=())


class Event(Enum):
    """What may happen while the pipeline waits."""

    ACKNOWLEDGED = "somebody has acknowledged the strong alert"
    CHANGED = "the window is taken out of the routes"
    ROUND = "the keeper has its round"


class Fate(Enum):
    """What becomes of a recording."""

    DONE = "it is answered"
    AWAY = "it never comes to the ledger"
    LOST = "it is done, and the answer gets lost"
    LATE = "the answer gets lost, and it is done later, before the same alerts come again"


@dataclass
class Race:
    """A lookout with its keeper, and what happens beside it."""

    events: Iterator[Sequence[Event]] = field(default_factory=lambda: iter(()))
    fates: Iterator[Fate] = field(default_factory=lambda: iter(()))
    routes: Routes = ROUTES
    late: list[Sequence[NewAlert]] = field(default_factory=list)

    def __post_init__(self) -> None:
        clock = ManualClock(STRONG.detected_at_ms + 1000)
        self.tables = Tables(clock.monotonic_seconds)
        self.memory = MemoryIntake(self.tables)
        publisher, known = cast(Publisher, self), Circumstances(clock)
        silences = cast(Silences, MemorySilences(self.tables))
        inhibitors = cast(Inhibitors, MemoryInhibitors(self.tables))
        suppressions = cast(Suppressions, MemorySuppressions(self.tables))
        self.fresh = Refreshing(known, silences, inhibitors, lambda: self.routes)
        self.releasing = Releasing(
            Bench(
                suppressions,
                known,
                lambda: self.routes,
                Teller(publisher, self, cast(Outbox, self), clock),
                timedelta(days=1),
            )
        )
        settled = SettledAlerts(100)
        self.lookout = Lookout(lambda: self.routes, self, publisher, self, settled, known, clock)

    def accept(self, batch: Sequence[NewAlert]) -> Accepted:
        """Record, in the way that fate has it."""
        self.meanwhile()
        self._arrive()
        match fate := next(self.fates, Fate.DONE):
            case Fate.AWAY:
                raise Transient("away")
            case Fate.LATE:
                self.late.append(batch)
                raise Transient("late")
            case _:
                accepted = self.memory.accept(batch)
        self.meanwhile()
        if fate is Fate.LOST:
            raise Transient("lost")
        return accepted

    def recorded(self, alert_ids: Collection[str]) -> set[str]:
        """Tell a mirror what is there."""
        self.meanwhile()
        self._arrive()
        return self.memory.recorded(alert_ids)

    def secure(self) -> None:
        """Wait for no disk."""

    def publish(self, entries: Sequence[OutboxEntry]) -> None:
        """Take as long as brokers may."""
        self.meanwhile()

    def read(self, listed: Sequence[Listed]) -> Iterator[list[OutboxEntry]]:
        """Read nothing."""
        return iter(())

    def hand_over(self, entries: Sequence[OutboxEntry]) -> None:
        """Publish nothing."""

    def send(self, records: Sequence[Outgoing]) -> "Future[list[Trouble | None]]":
        """Write nothing."""
        return Future()

    def write(self, records: Sequence[Outgoing]) -> None:
        """Write nothing."""

    def meanwhile(self) -> None:
        """Let happen what happens now."""
        for each in next(self.events, ()):
            match each:
                case Event.ACKNOWLEDGED:
                    kept = MemoryAcknowledgements(self.tables)
                    kept.acknowledge(STRONG.alert_id, person="ann", via="api")
                case Event.CHANGED:
                    self.routes = WITHOUT_WORKS
                case Event.ROUND:
                    self.round()

    def round(self) -> None:
        """Do what the keeper does each second."""
        self.fresh.do()
        while self.releasing.do():
            pass

    def wrong(self) -> list[str]:
        """Return what waits for nothing, or goes although a rule holds it back."""
        held = set[str]() if self.tables.acknowledgements else {each.alert_id for each in WEAK}
        held |= {each.alert_id for each in WARM} if self.routes is ROUTES else set()
        return [
            f"{row.state} {row.reason}"
            for row in self.tables.rows.values()
            if (row.state is State.SUPPRESSED) != (row.alert_id in held)
        ]

    def _arrive(self) -> None:
        for batch in self.late:
            self.memory.accept(batch)
        self.late.clear()


def handled(lookout: Lookout, alerts: Sequence[Any]) -> bool:
    """Give a batch to a lookout; tell whether it has settled it."""
    try:
        lookout([Arrival(each, each.encode()) for each in alerts])
    except Transient:
        return False
    return True


ENDED = [Event.ACKNOWLEDGED, Event.ROUND]
events = st.lists(st.lists(st.sampled_from(Event), max_size=3), max_size=12)


@given(events, st.lists(st.sampled_from(Fate), max_size=3), st.booleans(), st.booleans())
@example([[], ENDED], [Fate.LATE], False, False)
@example([[], [], ENDED], [Fate.LATE], False, True)
def test_what_ends_while_a_batch_is_on_its_way_holds_back_nothing_of_it(
    meanwhile: list[list[Event]], fates: list[Fate], in_parts: bool, is_mirror: bool
) -> None:
    race = Race()
    assert handled(race.lookout, [STRONG])
    race.round()
    race.events, race.fates = iter(meanwhile), iter(fates)
    lookout = mirrored(race.lookout, race.recorded) if is_mirror else race.lookout
    with patch.object(pipeline, "TRANSACTION_LIMIT_BYTES", 1 if in_parts else 2**20):
        while not handled(lookout, [*WEAK, *WARM]):
            race.meanwhile()
    race.round()
    assert race.wrong() == []
    assert len(race.tables.alerts) == 1 + len(WEAK) + len(WARM)


def test_what_was_recorded_without_an_answer_and_comes_again_elsewhere_waits_no_longer() -> None:
    race = Race()
    assert handled(race.lookout, [STRONG])
    race.round()
    race.events, race.fates = iter([ENDED]), iter([Fate.LOST])
    assert not handled(race.lookout, WEAK)
    race.round()
    assert len(race.tables.alerts) == 1 + len(WEAK)
    assert race.wrong() == []


def test_nothing_is_walked_through_again_where_nothing_has_ended() -> None:
    race = Race()
    known = race.lookout.circumstances
    assert handled(race.lookout, [STRONG])
    race.round()
    race.events = iter([[Event.ROUND]] * 3)
    assert handled(race.lookout, WEAK)
    assert known.loosened == 0
    race.events = iter([ENDED])
    assert handled(race.lookout, WARM[:1])
    ended = known.loosened
    assert handled(race.lookout, WARM[1:])
    assert known.loosened == ended == 2, "the word itself, and the batch on its way then"
