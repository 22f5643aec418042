"""The promises I1 to I5 of the design, checked at every happening that could break one.

I1, I4 and I5 are judged here, at each send and move; I2 and I3 after each step (step_judge.py).
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Final

from services.backbone.ledger.deliveries.evidence import EvidenceKind
from services.contracts.states import State, may_move
from services.deliverer.channel import Message
from tests.simulation.keeper_judge import KeeperJudge
from tests.simulation.kernel import Kernel, Violation
from tests.simulation.memory.tables import Row, Tables
from tests.simulation.step_judge import StepJudge

DELIVERED: Final = (State.SENT, State.CONFIRMED)
UNSETTLED: Final = (
    State.PENDING,
    State.CLAIMED,
    State.RETRY_WAIT,
    State.IN_DOUBT,
    State.SUPPRESSED,
)


@dataclass
class Judge:
    """Knows what the provider has really taken, and holds rows and sends against it."""

    kernel: Kernel
    tables: Tables
    dedupes: bool
    keepers: KeeperJudge
    steps: StepJudge
    takes: Counter[str] = field(default_factory=Counter)
    marked_takes: Counter[str] = field(default_factory=Counter)
    writes: Counter[tuple[str, int]] = field(default_factory=Counter)
    refused_for_good: set[str] = field(default_factory=set)
    confirmed: set[str] = field(default_factory=set)
    """What the provider has reported, or will, as received or as refused for good."""
    clock_jumped: bool = False
    """Postgres' clock has jumped, so that a lease may end before its owner can know."""
    paths: defaultdict[str, list[State]] = field(default_factory=lambda: defaultdict(list))
    """The states that each row has passed."""

    def moving(self, row: Row, path: tuple[State, ...]) -> None:
        """Look at a row that is about to move along a path."""
        before = row.state
        for after in path:
            if not may_move(before, after):
                raise Violation(f"no such move: {_short(row.delivery_id)} {before} to {after}")
            before = after
        if path[0] is State.CLAIMED:
            self.keepers.claiming(row)
            self._claiming(row)
        self.paths[row.delivery_id] += path
        self.steps.moved(row, path[-1])
        if self.kernel.traced:
            steps = " -> ".join((row.state, *path))
            self.kernel.tell("ledger", f"{_short(row.delivery_id)} {steps}")
        if path[-1] in DELIVERED and not self._was_taken(row.delivery_id):
            raise Violation(f"I5: {_short(row.delivery_id)} is {path[-1]}, but was never taken")
        if path[-1] is State.CONFIRMED and row.delivery_id not in self.confirmed:
            raise Violation(f"I5: {_short(row.delivery_id)} CONFIRMED, but nobody confirmed it")
        if path[-1] is State.FAILED and row.delivery_id not in self.refused_for_good:
            raise Violation(f"I5: {_short(row.delivery_id)} FAILED, but nobody refused it for good")

    def writing(self, owner: str, message: Message) -> None:
        """Look at a send whose first byte leaves now; keepers judge one that has been claimed."""
        key = message.delivery.delivery_id, message.attempt
        self.writes[key] += 1
        tried = self.tables.attempts.get(key)
        if tried is None or tried.owner != owner:
            raise Violation(f"I4: {_short(key[0])} is sent by {owner}, which has not claimed it")
        row = self.tables.rows[key[0]]
        holds = row.state is State.CLAIMED and row.fence == tried.fence
        if not holds and not self.clock_jumped:
            raise Violation(f"I4: {_short(key[0])} is sent by {owner}, whose claim is over")
        if self.writes[key] > 1:
            raise Violation(f"I4: try {key[1]} of {_short(key[0])} is sent twice")
        self.keepers.writing(message.delivery)

    def taken(self, message: Message) -> None:
        """Look at what the provider has just taken."""
        key = message.delivery.delivery_id
        mark = ", marked" if message.marked_repeat else ""
        self.kernel.tell("provider", f"takes {_short(key)}, try {message.attempt}{mark}")
        (self.marked_takes if message.marked_repeat else self.takes)[key] += 1
        if self.dedupes:
            return
        marked, unmarked = self.marked_takes[key], self.takes[key]
        if unmarked > 1:
            raise Violation(f"I1: {_short(key)} was sent twice without the mark")
        if marked > self.tables.rows[key].marked_repeat:
            raise Violation(f"I1: {_short(key)} was sent {marked} times with the mark")
        self.keepers.taken(message)

    def _claiming(self, row: Row) -> None:
        """Look at a row that is about to be claimed: nothing may prove that it was taken."""
        known = {
            key.kind
            for key, piece in self.tables.pieces.items()
            if key.delivery_id == row.delivery_id and piece.weighed
        }
        taken = EvidenceKind.TAKEN in known and EvidenceKind.UNDELIVERED not in known
        if taken or EvidenceKind.CONFIRMED in known:
            raise Violation(f"I1: {_short(row.delivery_id)} goes again, and is proven to be taken")

    def _was_taken(self, delivery_id: str) -> bool:
        return delivery_id in self.takes or delivery_id in self.marked_takes

    def unsettled(self) -> list[str]:
        """Return what is still to be done."""
        return [
            f"{_short(row.delivery_id)} is {row.state}"
            for row in self.tables.rows.values()
            if row.state in UNSETTLED
            or (row.published_at is None and row.state is not State.CLOSED)
        ]

    def missing(self, expected: set[tuple[str, str]]) -> list[str]:
        """Return which of the expected (alert, recipient) have no row."""
        have = {(row.alert_id, row.recipient) for row in self.tables.rows.values()}
        return [
            f"{_short(alert)} for {recipient} is missing" for alert, recipient in expected - have
        ]


def _short(delivery_id: str) -> str:
    return delivery_id[:6]
