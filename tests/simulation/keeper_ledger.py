"""What keepers ask of the ledger, over a line that may fail, as in ledger.py.

What a sweep looks at is not locked: it is judged at a later moment, in another statement.
"""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from services.backbone.clock import Clock
from services.backbone.ledger.alerts import escalations, fallbacks
from services.backbone.ledger.alerts.escalations import Escalations, Taken
from services.backbone.ledger.alerts.fallbacks import Fallbacks, Followed
from services.backbone.ledger.alerts.inhibitors import InhibitorRow, Inhibitors
from services.backbone.ledger.alerts.suppressions import Judge, Moved, Suppressions, Waiting
from services.backbone.ledger.operators.silences import SilenceRow, Silences
from services.lookout.intake.circumstances import Circumstances
from services.lookout.standing import Silence
from tests.simulation.keeper_judge import KeeperJudge
from tests.simulation.memory.following import MemoryEscalations, MemoryFallbacks
from tests.simulation.memory.silences import MemoryInhibitors, MemorySilences
from tests.simulation.memory.suppressions import MemorySuppressions
from tests.simulation.store import Line


@dataclass
class Knowledge:
    """When a lookout has read the silences that it knows, in seconds of the history."""

    asked_at: float = -1.0
    read_at: float = -1.0


class KnownCircumstances(Circumstances):
    """What stands, and since when that is known."""

    def __init__(self, clock: Clock, knowledge: Knowledge) -> None:
        super().__init__(clock)
        self._knowledge = knowledge

    def refresh(
        self,
        spoken: tuple[Silence, ...],
        rows: Sequence[InhibitorRow],
        doubted: Set[str] = frozenset(),
    ) -> None:
        super().refresh(spoken, rows, doubted)
        self._knowledge.read_at = self._knowledge.asked_at


class LineSilences(Silences):
    """Silences over a line."""

    def __init__(self, line: Line, memory: MemorySilences, knowledge: Knowledge) -> None:
        self._line = line
        self._memory = memory
        self._knowledge = knowledge

    def standing(self) -> list[SilenceRow]:
        def work() -> list[SilenceRow]:
            self._knowledge.asked_at = self._line.kernel.now
            return self._memory.standing()

        return self._line.ask_now("standing", work)


class LineInhibitors(Inhibitors):
    """Inhibitors over a line."""

    def __init__(self, line: Line, memory: MemoryInhibitors) -> None:
        self._line = line
        self._memory = memory

    def fresh(self, within_seconds: float) -> list[InhibitorRow]:
        return self._line.ask_now("fresh", lambda: self._memory.fresh(within_seconds))


class LineSuppressions(Suppressions):
    """What waits, over a line; whatever is released is held against the promises."""

    def __init__(
        self, line: Line, memory: MemorySuppressions, promises: KeeperJudge, known: Knowledge
    ) -> None:
        self._line = line
        self._memory = memory
        self._promises = promises
        self._known = known

    def judge_due(self, judge: Judge) -> list[Moved]:
        return self._watched("judge_due", lambda: self._memory.judge_due(judge))

    def judge_ended_early(self, judge: Judge) -> list[Moved]:
        return self._watched("judge_ended", lambda: self._memory.judge_ended_early(judge))

    def judge_page(self, after: str, judge: Judge) -> tuple[str | None, list[Moved]]:
        place: list[str | None] = []

        def work() -> list[Moved]:
            last, moved = self._memory.judge_page(after, judge)
            place.append(last)
            return moved

        moved = self._watched("judge_page", work)
        return place[-1], moved

    def judge_groups(self, judge: Judge) -> list[Moved]:
        return self._watched("judge_groups", lambda: self._memory.judge_groups(judge))

    def judge_next_to_send(
        self, channels: Sequence[str], ahead_seconds: float, judge: Judge
    ) -> list[Moved]:
        return [moved for each in channels for moved in self._sweep(each, ahead_seconds, judge)]

    def _sweep(self, channel: str, ahead_seconds: float, judge: Judge) -> list[Moved]:
        def work() -> list[Waiting]:
            return self._memory.next_to_send(channel, ahead_seconds)

        rows = self._line.ask_now("next_to_send", work)
        return self._watched("sweep", lambda: self._memory.rule(rows, judge)) if rows else []

    def judge_backlog(
        self, after: tuple[datetime, str], judge: Judge
    ) -> tuple[tuple[datetime, str], list[Moved]]:
        place, rows = self._line.ask_now("backlog", lambda: self._memory.backlog(after))
        moved = self._watched("sweep", lambda: self._memory.rule(rows, judge)) if rows else []
        return place, moved

    def _watched(self, name: str, work: Callable[[], list[Moved]]) -> list[Moved]:
        def done() -> list[Moved]:
            moved = work()
            self._promises.released(moved, self._known.read_at)
            return moved

        return self._line.ask_now(name, done)


class LineEscalations(Escalations):
    """Escalations over a line."""

    def __init__(self, line: Line, memory: MemoryEscalations) -> None:
        self._line = line
        self._memory = memory

    def take(self, limit: int, decide: escalations.Decide) -> Taken:
        return self._line.ask_now("escalate", lambda: self._memory.take(limit, decide))


class LineFallbacks(Fallbacks):
    """Fallbacks over a line."""

    def __init__(self, line: Line, memory: MemoryFallbacks) -> None:
        self._line = line
        self._memory = memory

    def take(self, limit: int, decide: fallbacks.Decide) -> Followed:
        return self._line.ask_now("fall_back", lambda: self._memory.take(limit, decide))
