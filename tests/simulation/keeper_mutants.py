"""Known bugs of keepers, planted one at a time, as in mutants.py."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, Final
from unittest.mock import PropertyMock, patch

from services.backbone.ledger.alerts.escalations import Due, Turn
from services.backbone.ledger.alerts.fallbacks import Followed
from services.backbone.ledger.alerts.suppressions import Ruling, Suppression, Waiting
from services.contracts.records import Alert
from services.contracts.states import State
from services.lookout.decisions import rejudgement
from services.lookout.decisions.escalation import escalate
from services.lookout.decisions.rejudgement import Rejudgement
from services.lookout.duties import following, judging
from services.lookout.duties.refreshing import Refreshing
from services.lookout.templates.digest import digest_message
from tests.simulation.memory.following import (
    MemoryAcknowledgements,
    MemoryFallbacks,
)
from tests.simulation.memory.suppressions import MemorySuppressions

Planted = AbstractContextManager[Any]


def _never_released() -> Planted:
    return patch.object(judging.Releasing, "do", lambda self: 0)


def _never_gathered() -> Planted:
    return patch.object(judging.Gathering, "do", lambda self: 0)


def _not_asked_again() -> Planted:
    def held(self: Rejudgement, *terms: Any, **more: Any) -> Suppression | None:
        return None

    return patch.object(Rejudgement, "_held", held)


def _never_swept() -> Planted:
    return patch.object(judging.Sweeping, "do", lambda self: 0)


def _silences_are_read_once() -> Planted:
    real = Refreshing.do

    def once(self: Refreshing) -> int:
        known = self.circumstances
        if getattr(known, "read_once", False):
            return 0
        done = real(self)
        known.read_once = True  # type: ignore[attr-defined] # the mutant's own mark
        return done

    return patch.object(Refreshing, "do", once)


def _ruled_although_claimed_meanwhile() -> Planted:
    real = MemorySuppressions._apply  # noqa: SLF001 - the mutant changes one value inside

    def apply(self: MemorySuppressions, ruling: Ruling) -> Any:
        row = self.tables.rows[ruling.row.delivery_id]
        seen = replace(ruling.row, state=row.state, fence=row.fence)
        return real(self, replace(ruling, row=seen))

    return patch.object(MemorySuppressions, "_apply", apply)


def _digest_leaves_one_out() -> Planted:
    real = digest_message

    def short(told: Sequence[tuple[str, Alert]], channel: str) -> tuple[str, str]:
        return real(told[:-1], channel)

    return patch.object(rejudgement, "digest_message", short)


def _members_go_besides() -> Planted:
    real = rejudgement._told_together  # noqa: SLF001 - the mutant changes one value inside

    def told(rows: Sequence[Waiting]) -> list[Ruling]:
        return [replace(each, after=State.PENDING) for each in real(rows)]

    return patch.object(rejudgement, "_told_together", told)


@contextmanager
def _escalates_what_is_acknowledged() -> Iterator[None]:
    real = escalate

    def blind(due: Due, *rest: Any) -> Turn:
        return real(replace(due, acknowledged=False), *rest)

    with (
        patch.object(MemoryAcknowledgements, "_end", lambda self, alert_id: []),
        patch.object(following, "escalate", blind),
    ):
        yield


def _sent_although_acknowledged() -> Planted:
    real = MemorySuppressions._seen  # noqa: SLF001 - the mutant changes one value inside

    def seen(self: MemorySuppressions, row: Any) -> Waiting:
        return replace(real(self, row), acknowledged=False, members=())

    return patch.object(MemorySuppressions, "_seen", seen)


def _steps_stay_due() -> Planted:
    return patch.object(Turn, "state", PropertyMock(return_value="WAITING"))


def _failures_are_not_followed() -> Planted:
    return patch.object(MemoryFallbacks, "take", lambda self, limit, decide: Followed())


def _failures_are_followed_twice() -> Planted:
    real = MemoryFallbacks.take

    def take(self: MemoryFallbacks, limit: int, decide: Any) -> Followed:
        followed = real(self, limit, decide)
        for row in self.tables.rows.values():
            row.fallback_at = None
        return followed

    return patch.object(MemoryFallbacks, "take", take)


KEEPER_MUTANTS: Final[dict[str, Callable[[], Planted]]] = {
    "what waits is never released": _never_released,
    "groups are never gathered": _never_gathered,
    "a release does not ask again": _not_asked_again,
    "what is not claimed yet is not looked at": _never_swept,
    "silences are read once only": _silences_are_read_once,
    "a ruling moves what was claimed meanwhile": _ruled_although_claimed_meanwhile,
    "a digest leaves one alert out": _digest_leaves_one_out,
    "a digest's members go besides": _members_go_besides,
    "an acknowledged alert is escalated": _escalates_what_is_acknowledged,
    "an acknowledged alert is released": _sent_although_acknowledged,
    "a step that was done stays due": _steps_stay_due,
    "failures are not followed": _failures_are_not_followed,
    "failures are followed again and again": _failures_are_followed_twice,
}
"""Each by a sentence that says what is wrong."""
