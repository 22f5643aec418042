"""I2 and I3 of the design, judged after every step and not only when all has come to rest.

A step is whatever changes what outlives the programs: a statement that Postgres has carried out
(also where its answer gets lost; but for those that only read), a crash of Postgres, a committed
offset, a person's word, a provider's callback. Right after it, before anything else can happen,
two things are looked at.

I2 after a step: each delivery that was recorded has its row, in the state to which judged moves
have led it, with the age that it has had from the first. If it is open, its row also says who or
what moves it on, within the time in which everything must come to rest: CLAIMED its owner, its try
and the end of its lease; IN_DOUBT its try; what waits the time of the next look; and SUPPRESSED
the rule that holds it back. And what has to wait for its next try is not tried before, however
often it is held back and released meanwhile.

I3 after a step: if every program died now and Postgres crashed, nothing would be lost. Each alert
that was announced is on the ledger's disk, with a row for every recipient, or a copy of it lies in
its topic where no offset is committed past it; what a lookout has only in its hands counts for
nothing. And what was recorded besides (tries, look-ups, evidence, words, decisions) is still there.
"""

from dataclasses import dataclass, field
from typing import Final

from services.contracts.states import State
from tests.simulation.broker import Group
from tests.simulation.kernel import Violation
from tests.simulation.memory.tables import Row, Tables
from tests.simulation.store import Store

SETTLED_WITHIN_SECONDS: Final = 150.0
"""From the end of all faults until nothing is left to be done, at the latest."""
WAITING: Final = (State.PENDING, State.RETRY_WAIT, State.SUPPRESSED)
TRIED: Final = (State.CLAIMED, State.IN_DOUBT)


@dataclass(frozen=True, slots=True)
class Announced:
    """One alert of the plan, and who must be told of it."""

    alert_id: str
    value: bytes
    recipients: tuple[str, ...]


@dataclass(slots=True)
class Known:
    """What the judge remembers of a row."""

    state: State
    created_at: float
    alert_id: str
    not_before: float = 0.0
    """Until when its next try has to wait, on the ledger's clock."""


@dataclass
class StepJudge:
    """Remembers what was recorded, and holds what is there after a step against it."""

    store: Store
    alerts: Group
    announced: list[Announced]
    _rows: dict[str, Known] = field(default_factory=dict)
    _whole: set[str] = field(default_factory=set)
    """Alerts that were seen in the ledger with all their rows."""
    _sizes: tuple[int, ...] = (0,) * 6

    def moved(self, row: Row, after: State) -> None:
        """Remember a move that was judged."""
        self._known(row).state = after

    def look(self) -> None:
        """Look at everything after a step; most steps have changed nothing, and cost little."""
        tables, unsynced = self.store.tables, self.store.unsynced
        latest = tables.now() + SETTLED_WITHIN_SECONDS
        for key, row in tables.rows.items():
            known, state = self._rows.get(key) or self._known(row), row.state
            if known.state is not state or known.created_at != row.created_at:
                _tell_change(known, row)
            if state in WAITING:
                _has_its_time(row, latest)
                if state is State.RETRY_WAIT:
                    known.not_before = row.next_attempt_at
            elif state in TRIED:
                _has_its_try(row, tables, latest)
                _has_waited(row, tables, known)
        if len(self._rows) != len(tables.rows):
            self._forget_undone(tables)
        if (sizes := _sizes(tables)) != self._sizes:
            self._only_grows(sizes)
        for each in self.announced:
            key = each.alert_id
            if key not in self._whole or key in unsynced or key not in tables.alerts:
                self._outlives_everybody(each)

    def _known(self, row: Row) -> Known:
        new = Known(row.state, row.created_at, row.alert_id)
        return self._rows.setdefault(row.delivery_id, new)

    def _forget_undone(self, tables: Tables) -> None:
        for gone in self._rows.keys() - tables.rows.keys():
            alert_id = self._rows.pop(gone).alert_id
            if alert_id in tables.alerts:
                raise Violation(f"I2: {gone[:6]} was recorded, and is gone")
            self._whole.discard(alert_id)

    def _only_grows(self, sizes: tuple[int, ...]) -> None:
        if any(map(int.__lt__, sizes, self._sizes)):
            raise Violation(f"I3: recorded, and gone: {self._sizes} rows were, {sizes} are")
        self._sizes = sizes

    def _outlives_everybody(self, alert: Announced) -> None:
        recorded = alert.alert_id in self.store.tables.alerts
        if recorded and alert.alert_id not in self._whole:
            self._has_all_rows(alert)
            self._whole.add(alert.alert_id)
        on_disk = recorded and alert.alert_id not in self.store.unsynced
        if not on_disk and self.alerts.is_settled(alert.value):
            raise Violation(f"I3: {alert.alert_id[:6]} is committed, and would be lost in a crash")

    def _has_all_rows(self, alert: Announced) -> None:
        rows = self.store.tables.rows.values()
        have = {row.recipient for row in rows if row.alert_id == alert.alert_id}
        if missing := set(alert.recipients) - have:
            raise Violation(f"I3: {alert.alert_id[:6]} is recorded without {sorted(missing)}")


def _sizes(tables: Tables) -> tuple[int, ...]:
    return (
        len(tables.attempts),
        len(tables.pieces),
        len(tables.look_ups),
        len(tables.acknowledgements),
        len(tables.silences),
        len(tables.decisions),
    )


def _tell_change(known: Known, row: Row) -> None:
    short = row.delivery_id[:6]
    if known.state is not row.state:
        raise Violation(f"I2: {short} is {row.state}, but was moved to {known.state}")
    raise Violation(f"I2: the age of {short} begins anew")


def _has_its_try(row: Row, tables: Tables, latest: float) -> None:
    tried = tables.attempts.get((row.delivery_id, row.attempt))
    if tried is None or (tried.owner, tried.fence) != (row.owner, row.fence):
        raise Violation(f"I2: {row.delivery_id[:6]} is {row.state}, and no try says by whom")
    if row.state is State.CLAIMED and (row.lease_until is None or row.lease_until > latest):
        raise Violation(f"I2: {row.delivery_id[:6]} is CLAIMED, and its lease does not end")


def _has_waited(row: Row, tables: Tables, known: Known) -> None:
    if tables.attempts[row.delivery_id, row.attempt].claimed_at < known.not_before:
        raise Violation(f"I2: {row.delivery_id[:6]} is tried before its wait is over")


def _has_its_time(row: Row, latest: float) -> None:
    if row.next_attempt_at > latest:
        raise Violation(f"I2: {row.delivery_id[:6]} is {row.state}, and nobody looks at it again")
    if row.state is State.SUPPRESSED and not row.suppressed_by:
        raise Violation(f"I2: {row.delivery_id[:6]} is SUPPRESSED, and nobody can say by what")
