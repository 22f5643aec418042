"""The ledger's tables in memory: the simple model of what Postgres keeps.

Used twice: the simulator runs on it, and tests hold it against the real statements on a real
Postgres (test_memory_ledger.py).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from services.backbone.ledger.evidence import EvidenceKind
from services.backbone.ledger.intake import NewAlert, NewDelivery
from services.backbone.ledger.untold import UntoldMove
from services.contracts.records import Severity
from services.contracts.states import State

SENDABLE: Final = (State.PENDING, State.RETRY_WAIT)


@dataclass(slots=True)
class Row:
    """One row of `deliveries`; times are seconds of the ledger's clock."""

    delivery_id: str
    alert_id: str
    channel: str
    recipient: str
    repetition: int
    record: str
    severity: Severity
    alerted_at: float
    created_at: float
    updated_at: float
    next_attempt_at: float
    state: State = State.PENDING
    attempt: int = 0
    fence: int = 0
    owner: str | None = None
    lease_until: float | None = None
    marked_repeat: bool = False
    reason: str = ""
    provider_id: str = ""
    published_at: float | None = None

    @property
    def aged_since(self) -> float:
        """From when its age counts."""
        return min(self.created_at, self.alerted_at)


@dataclass(slots=True)
class AttemptRow:
    """One row of `attempts`."""

    fence: int
    owner: str
    claimed_at: float
    finished_at: float | None = None
    outcome: State | None = None
    reason: str = ""
    provider_id: str = ""


class PieceKey(NamedTuple):
    """What makes a piece of evidence one."""

    delivery_id: str
    kind: EvidenceKind
    source: str
    provider_id: str
    attempt: int


@dataclass(slots=True)
class PieceRow:
    """One row of `evidence`."""

    detail: str
    weighed: bool = False


@dataclass(slots=True)
class LookUpRow:
    """One row of `look_ups`."""

    asked_at: float
    answered_at: float | None = None
    finding: str = ""


Moved = Callable[[Row, tuple[State, ...]], None]
"""Called before a row moves, with its path."""


@dataclass
class Tables:
    """All rows, and the clock that every statement reads."""

    now: Callable[[], float]
    on_move: Moved = lambda row, path: None
    alerts: dict[str, NewAlert] = field(default_factory=dict)
    rows: dict[str, Row] = field(default_factory=dict)
    attempts: dict[tuple[str, int], AttemptRow] = field(default_factory=dict)
    pieces: dict[PieceKey, PieceRow] = field(default_factory=dict)
    look_ups: dict[tuple[str, int, int], LookUpRow] = field(default_factory=dict)
    untold: list[UntoldMove] = field(default_factory=list)
    words: set[str] = field(default_factory=set)
    """Deliveries on which a person has given a word."""

    def insert(self, new: NewDelivery) -> None:
        """Add a row, as a new delivery."""
        delivery, now = new.delivery, self.now()
        self.rows[delivery.delivery_id] = Row(
            delivery_id=delivery.delivery_id,
            alert_id=delivery.alert.alert_id,
            channel=delivery.channel,
            recipient=delivery.recipient,
            repetition=delivery.repetition,
            record=new.encoded.decode(),
            severity=delivery.alert.severity,
            alerted_at=delivery.alert.detected_at_ms / 1000,
            created_at=now,
            updated_at=now,
            next_attempt_at=now,
        )

    def tries(self, delivery_id: str) -> dict[int, AttemptRow]:
        """Return a delivery's tries by number."""
        return {number: each for (key, number), each in self.attempts.items() if key == delivery_id}

    def has_unweighed(self, delivery_id: str) -> bool:
        """Tell whether evidence waits to be weighed."""
        return any(
            key.delivery_id == delivery_id and not each.weighed for key, each in self.pieces.items()
        )

    def move(self, row: Row, *path: State) -> None:
        """Move a row along a path of one or two steps."""
        self.on_move(row, path)
        row.state = path[-1]
        row.updated_at = self.now()
