"""A console without its ledger is reachable and says so; it is whole once the ledger is there."""

from dataclasses import dataclass

import pytest
from psycopg.errors import QueryCanceled

from services.backbone.clock import ManualClock
from services.backbone.errors import Refused, Transient
from services.backbone.kafka.lag import Told
from services.backbone.ledger.answers.overview import AtLeast, Overview
from services.backbone.ledger.rows import AlertRow
from services.backbone.service import Life
from services.console.lagging import LagWatch
from services.console.live import Board
from services.console.now import Now
from services.console.program import watch
from services.console.settings import ConsoleSettings
from services.console.watching import LedgerWatch

AWAY = {"ledger": "the ledger does not answer"}
BEHIND = {"ledger": "the ledger is not up to date yet: another program may be at it"}


@dataclass(frozen=True)
class Stood:
    """How a console stood after one look."""

    failures: dict[str, str]
    notes: dict[str, str]
    has_ledger: bool


class Looks(Board):
    """Keeps how the console stood after each of some looks; then it ends."""

    def __init__(self, life: Life, many: int) -> None:
        super().__init__()
        self._life, self._many = life, many
        self.stood: list[Stood] = []

    def publish(self, now: Now) -> None:
        super().publish(now)
        health = self._life.health
        self.stood.append(Stood(health.ready(), health.notes(), now.overview is not None))
        if len(self.stood) == self._many:
            self._life.stop.set()


def looks(*answers: Exception | None) -> list[Stood]:
    """Return how a new console stands after each look at a ledger that answers so."""
    life = Life(ManualClock())
    board = Looks(life, len(answers))

    def answer() -> None:
        if error := answers[len(board.stood)]:
            raise error

    def stand(_: int) -> tuple[Overview, list[AlertRow]]:
        answer()
        return Overview({}, [], [], 0, AtLeast([], [], failed=False)), []

    lagging = LagWatch(lambda: Told(()), life)
    watch(ConsoleSettings(), LedgerWatch(answer, stand), board, lagging, life)
    return board.stood


def away() -> Transient:
    return Transient("Postgres: connection refused")


def busy() -> Transient:
    """Return what comes of waiting for another program, which brings the ledger up to date."""
    trouble = Transient("Postgres: canceling statement due to statement timeout")
    trouble.__cause__ = QueryCanceled()
    return trouble


def test_it_begins_without_its_ledger_and_is_whole_once_that_is_there() -> None:
    assert looks(away(), away(), None) == [
        Stood({}, AWAY, has_ledger=False),
        Stood({}, AWAY, has_ledger=False),
        Stood({}, {}, has_ledger=True),
    ]


def test_an_outage_hides_no_page() -> None:
    assert looks(None, away()) == [
        Stood({}, {}, has_ledger=True),
        Stood({}, AWAY, has_ledger=False),
    ]


def test_while_the_ledger_is_brought_up_to_date_the_console_of_before_goes_on() -> None:
    """A moment without an answer in between lets nobody in: the pages need what is made there."""
    assert looks(away(), busy(), away(), None, busy()) == [
        Stood({}, AWAY, has_ledger=False),
        Stood(BEHIND, BEHIND, has_ledger=False),
        Stood(BEHIND, AWAY, has_ledger=False),
        Stood({}, {}, has_ledger=True),
        Stood({}, AWAY, has_ledger=False),
    ]


def test_where_the_ledger_does_not_let_it_in_it_ends() -> None:
    with pytest.raises(Refused):
        looks(Refused("Postgres: password authentication failed"))
