"""Rehearsals in a real ledger: each is taken by one, answered once, and never lost."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from services.backbone.errors import Refused
from services.backbone.ledger.database import Pool, transaction
from services.backbone.ledger.operators.rehearsals import KEPT_DAYS, OPEN_LIMIT, Rehearsals, ask_on
from services.backbone.service import Life
from services.contracts.rehearsals import Answer, Rehearsal
from services.rehearsal.program import Runner
from services.rehearsal.trying import Failed, Stopped

pytestmark = pytest.mark.postgres

LEASE_SECONDS = 300.0


def ask(pool: Pool, name: str) -> str:
    with transaction(pool) as connection:
        ask_on(connection, name * 32, "ann", name, Rehearsal(new=f"watch: {name}"))
    return name * 32


def run_out(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE rehearsals SET lease_ends = lease_ends - interval '1 day'")


def test_each_is_taken_by_one_the_oldest_first(pool: Pool) -> None:
    book = Rehearsals(pool)
    asked = [ask(pool, name) for name in "abcd"]
    with ThreadPoolExecutor(4) as threads:
        taken = list(threads.map(lambda n: book.take(f"runner-{n}", LEASE_SECONDS), range(4)))
    assert sorted(each.rehearsal_id for each in taken if each) == asked
    assert book.take("late", LEASE_SECONDS) is None


def test_what_its_runner_never_answered_is_tried_once_more_and_then_given_up(
    pool: Pool, ledger_url: str
) -> None:
    book, asked = Rehearsals(pool), ask(pool, "a")
    first = book.take("first", LEASE_SECONDS)
    run_out(ledger_url)
    second = book.take("second", LEASE_SECONDS)
    assert first is not None
    assert second == first
    assert not book.answer(first, "first", Answer(watch="late"))
    run_out(ledger_url)
    assert book.take("third", LEASE_SECONDS) is None
    found = book.one(asked)
    assert found is not None
    assert (found.state, found.answer) == ("FAILED", None)
    assert "ended without an answer, twice" in found.trouble


def test_only_so_many_wait_and_old_ones_are_forgotten(pool: Pool, ledger_url: str) -> None:
    book = Rehearsals(pool)
    for name in "0123456789"[:OPEN_LIMIT]:
        ask(pool, name)
    with pytest.raises(Refused, match="10 rehearsals wait already"):
        ask(pool, "f")
    with psycopg.connect(ledger_url) as connection:
        connection.execute(
            "UPDATE rehearsals SET asked_at = asked_at - make_interval(days => %s)", (KEPT_DAYS,)
        )
    ask(pool, "f")
    assert [each.watch for each in book.newest(50).rows] == ["f"]


class Played:
    """Tries in Spark's stead."""

    def __init__(self, *outcomes: Answer | Exception) -> None:
        self._outcomes = list(outcomes)

    def answer(self, rehearsal: Rehearsal) -> Answer:
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def runner(pool: Pool, *outcomes: Answer | Exception) -> Runner:
    played = Played(*outcomes)
    return Runner("me", Rehearsals(pool), played, Life(), LEASE_SECONDS, 0.01)


def test_the_program_answers_what_is_asked(pool: Pool) -> None:
    asked = [ask(pool, name) for name in "abc"]
    one = runner(pool, Answer(watch="a"), Failed("no memory"), Answer(refused="line 3"))
    assert [one.step() for _ in range(4)] == [True, True, True, False]
    states = [
        (each.state, each.found, each.trouble) for each in map(one.rehearsals.one, asked) if each
    ]
    assert states == [
        ("DONE", Answer(watch="a"), ""),
        ("FAILED", None, "no memory"),
        ("DONE", Answer(refused="line 3"), ""),
    ]


def test_a_stopped_program_gives_back_what_it_has_begun(pool: Pool) -> None:
    asked = ask(pool, "a")
    one = runner(pool, Stopped(), Stopped(), Stopped(), Answer(watch="a"))
    for _ in range(4):
        assert one.step()
    found = one.rehearsals.one(asked)
    assert found is not None
    assert found.state == "DONE"
