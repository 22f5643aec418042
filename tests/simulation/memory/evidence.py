"""Evidence, in memory; see ledger/deliveries/evidence.py and weighing.py."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from services.backbone.ledger.deliveries.evidence import WEIGH_LIMIT, Evidence, EvidenceKind
from services.backbone.ledger.deliveries.moves import Move
from services.contracts.states import State
from tests.simulation.memory.tables import AttemptRow, PieceKey, PieceRow, Row, Tables

TAKEN: Final = (State.SENT, State.CONFIRMED)
WEIGHED_IN: Final = (
    State.IN_DOUBT,
    State.HELD,
    State.RETRY_WAIT,
    State.SUPPRESSED,
    State.SENT,
)
OUTCOMES: Final = {
    EvidenceKind.CONFIRMED: State.CONFIRMED,
    EvidenceKind.UNDELIVERED: State.FAILED,
    EvidenceKind.TAKEN: State.SENT,
    EvidenceKind.ABSENT: State.RETRY_WAIT,
}
"""What the try's own row gets; the first of these counts most."""
STRENGTH: Final = tuple(OUTCOMES)


@dataclass(frozen=True, slots=True)
class _Told:
    """A piece, the try that it is about, and what is known of that."""

    key: PieceKey
    detail: str
    attempt: int | None
    outcome: State | None
    other_taken: bool


@dataclass(frozen=True)
class MemoryEvidence:
    """The statements of the evidence book, each at one moment."""

    tables: Tables

    def give(self, evidence: Sequence[Evidence]) -> list[Move]:
        """Keep evidence and move the deliveries that it allows to move."""
        wanted = {each.delivery_id for each in evidence}
        rows = [self.tables.rows[key] for key in sorted(wanted) if key in self.tables.rows]
        return [self._weighed(row, evidence) for row in rows]

    def weigh(self, channel: str) -> list[Move]:
        """Weigh what has waited for claims that have ended."""
        return [self._weighed(row, ()) for row in self.to_be_weighed(channel)[:WEIGH_LIMIT]]

    def to_be_weighed(self, channel: str) -> list[Row]:
        """Return the rows whose evidence has waited so."""
        waiting = {key.delivery_id for key, each in self.tables.pieces.items() if not each.weighed}
        rows = [self.tables.rows[key] for key in sorted(waiting)]
        return [row for row in rows if row.channel == channel and row.state is not State.CLAIMED]

    def _weighed(self, row: Row, given: Iterable[Evidence]) -> Move:
        told = [self._named(row, key) for key in self._kept(row, given)]
        before, reason = row.state, ""
        path: tuple[State, ...] = ()
        if before is not State.CLAIMED:
            path, reason = self._moved(row, told)
            self._note_tries(row, told)
        applied = Move(
            row.delivery_id,
            row.alert_id,
            row.channel,
            row.recipient,
            row.attempt,
            before,
            path,
            reason,
            row.provider_id,
        )
        if path:
            self.tables.untold.append(Move(*(getattr(applied, n) for n in _FIELDS)))
        return applied

    def _kept(self, row: Row, given: Iterable[Evidence]) -> list[PieceKey]:
        """Keep new pieces; return those to weigh now, the ones that have waited included."""
        free = row.state is not State.CLAIMED
        pieces = self.tables.pieces
        waited = [
            key
            for key, each in pieces.items()
            if key.delivery_id == row.delivery_id and not each.weighed
        ]
        new: dict[PieceKey, PieceRow] = {}
        for each in given:
            key = PieceKey(each.delivery_id, each.kind, each.source, each.provider_id, each.attempt)
            if each.delivery_id == row.delivery_id and key not in pieces:
                new.setdefault(key, PieceRow(each.detail, weighed=free))
        pieces.update(new)
        for key in waited if free else ():
            pieces[key].weighed = True
        return [*new, *waited]

    def _named(self, row: Row, key: PieceKey) -> _Told:
        tries = self.tables.tries(row.delivery_id)
        attempt = key.attempt or _by_provider_id(tries, key.provider_id)
        if attempt is None:
            last = tries.get(row.attempt)
            unknown = last is None or last.provider_id == ""
            attempt = row.attempt if key.provider_id == "" or unknown else None
        own = tries.get(attempt) if attempt is not None else None
        return _Told(
            key,
            self.tables.pieces[key].detail,
            attempt,
            own.outcome if own else None,
            any(each.outcome in TAKEN for number, each in tries.items() if number != attempt),
        )

    def _moved(self, row: Row, told: Iterable[_Told]) -> tuple[tuple[State, ...], str]:
        ruled = [(rule, each) for each in told if (rule := _rule(row, each)) is not None]
        if not ruled or not _is_weighed(row):
            return (), ""
        ruled.sort(key=lambda each: each[1].key.source)
        ruled.sort(key=lambda each: each[1].key.provider_id, reverse=True)
        rule, first = min(ruled, key=lambda each: each[0])
        path = _path(rule, row.state)
        self.tables.move(row, *path)
        colon = ": " if first.detail else ""
        row.reason = f"{first.key.kind} by {first.key.source}{colon}{first.detail}"
        row.provider_id = first.key.provider_id or row.provider_id
        row.next_attempt_at = self.tables.now()
        return path, row.reason

    def _note_tries(self, row: Row, told: Iterable[_Told]) -> None:
        best: dict[int, _Told] = {}
        ordered = sorted(told, key=lambda each: each.key.source)
        ordered.sort(key=lambda each: each.key.provider_id, reverse=True)
        ordered.sort(key=lambda each: STRENGTH.index(each.key.kind))
        for each in ordered:
            if each.attempt is not None and _tells_of_try(each):
                best.setdefault(each.attempt, each)
        for attempt, each in best.items():
            kept = self.tables.attempts.get((row.delivery_id, attempt))
            if kept is not None:
                kept.outcome, kept.reason = OUTCOMES[each.key.kind], each.detail
                kept.finished_at = self.tables.now()
                kept.provider_id = each.key.provider_id or kept.provider_id


_FIELDS: Final = (
    "delivery_id",
    "alert_id",
    "channel",
    "recipient",
    "attempt",
    "before",
    "path",
    "reason",
    "provider_id",
)


def _is_weighed(row: Row) -> bool:
    """Tell whether evidence may move a row; a PENDING one only where it was tried before."""
    return row.state in WEIGHED_IN or (row.state is State.PENDING and row.attempt > 0)


def _by_provider_id(tries: dict[int, AttemptRow], provider_id: str) -> int | None:
    if not provider_id:
        return None
    found = [number for number, each in tries.items() if each.provider_id == provider_id]
    return max(found, default=None)


def _rule(row: Row, told: _Told) -> int | None:
    kind, is_last = told.key.kind, told.attempt == row.attempt
    failed = told.outcome is State.FAILED
    if kind is EvidenceKind.CONFIRMED:
        return 1
    if kind is EvidenceKind.UNDELIVERED and not failed and not told.other_taken:
        reaches = is_last or (row.state is State.SENT and told.attempt is not None)
        return 2 if reaches else None
    if kind is EvidenceKind.TAKEN and not failed and row.state is not State.SENT:
        return 3
    if kind is EvidenceKind.ABSENT and is_last and row.state is State.IN_DOUBT:
        return 4
    return None


def _path(rule: int, state: State) -> tuple[State, ...]:
    sent: tuple[State, ...] = () if state is State.SENT else (State.SENT,)
    return {
        1: (*sent, State.CONFIRMED),
        2: (*sent, State.FAILED),
        3: (State.SENT,),
        4: (State.RETRY_WAIT,),
    }[rule]


def _tells_of_try(told: _Told) -> bool:
    outcome = told.outcome
    match told.key.kind:
        case EvidenceKind.CONFIRMED:
            return True
        case EvidenceKind.UNDELIVERED:
            return outcome is not State.CONFIRMED
        case EvidenceKind.TAKEN:
            return outcome in (None, State.IN_DOUBT, State.RETRY_WAIT)
        case EvidenceKind.ABSENT:
            return outcome in (None, State.IN_DOUBT)
