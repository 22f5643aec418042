"""The keeper: each duty gets its turns, an outage of one stops no other, a bug ends all."""

from dataclasses import dataclass, field

import pytest

from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.service import Life
from services.lookout.keeper import TURNS_LIMIT, Keeper


@dataclass
class Chore:
    """A duty that does what it is told, turn by turn; then nothing is left."""

    name: str
    turns: list[int | Exception] = field(default_factory=list)
    done: int = 0

    def do(self) -> int:
        self.done += 1
        turn = self.turns.pop(0) if self.turns else 0
        if isinstance(turn, Exception):
            raise turn
        return turn


def test_a_round_does_each_duty_until_nothing_is_left() -> None:
    first, second = Chore("first", [3, 1]), Chore("second")
    Keeper([first, second], Life(), 1.0).round()
    assert (first.done, second.done) == (3, 1)


def test_a_duty_without_an_end_does_not_keep_the_others_waiting() -> None:
    endless, other = Chore("endless", [1] * 1000), Chore("other")
    Keeper([endless, other], Life(), 1.0).round()
    assert (endless.done, other.done) == (TURNS_LIMIT, 1)


def test_a_long_round_refreshes_in_between_what_all_go_by() -> None:
    clock = ManualClock()

    @dataclass
    class Slow(Chore):
        def do(self) -> int:
            clock.move(0.4)
            return super().do()

    first, slow = Chore("first"), Slow("slow", [1] * 9)
    Keeper([first, slow], Life(clock=clock), 1.0).round()
    assert (first.done, slow.done) == (1 + 3, 10)


def test_an_outage_of_one_duty_is_shown_until_it_goes_well_again() -> None:
    away, other = Chore("away", [Transient("Postgres: away")]), Chore("other")
    keeper = Keeper([away, other], Life(), 1.0)
    keeper.round()
    assert keeper.trouble() == "away: Postgres: away"
    assert other.done == 1
    keeper.round()
    assert keeper.trouble() is None


def test_a_bug_in_a_duty_ends_the_program() -> None:
    life = Life()
    keeper = Keeper([Chore("broken", [ZeroDivisionError()])], life, 1.0)
    keeper.start()
    assert life.stop.wait(30)
    with pytest.raises(ZeroDivisionError):
        keeper.close(30)
