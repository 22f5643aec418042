"""A word is on the try that the person has looked at, and on no later one."""

import re
from itertools import product

import psycopg
import pytest

from services.backbone.errors import Refused
from services.backbone.ledger.database import Pool
from services.backbone.ledger.operators.words import Word
from services.console.deeds.deliveries import say
from services.console.people.roles import Person, Role
from services.contracts.states import State
from tests.integration.console.conftest import Console
from tests.integration.console.ledger_rows import add_alert, add_attempt, add_delivery

pytestmark = pytest.mark.postgres

ANN = Person("ann", Role.RESPONDER, "page")
ACTIONS = ("arrived", "absent", "resend", "close")


def tried(url: str, state: State, tries: int, name: str = "one") -> str:
    """Add a delivery whose tries all ended unknown."""
    made = add_delivery(url, add_alert(url, name), state=state)
    for number in range(1, tries + 1):
        add_attempt(url, made, number, 0.02, 0.05, "IN_DOUBT")
    with psycopg.connect(url) as connection:
        connection.execute(
            "UPDATE deliveries SET attempt = %s WHERE delivery_id = %s", (tries, made)
        )
    return made


def standing(url: str, delivery: str) -> tuple[str, bool, int]:
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT state, marked_repeat, attempt FROM deliveries WHERE delivery_id = %s",
            (delivery,),
        ).fetchone()
    assert row
    return row[0], row[1], row[2]


@pytest.mark.parametrize("state", [State.IN_DOUBT, State.HELD, State.FAILED])
def test_a_word_on_an_earlier_try_moves_nothing(pool: Pool, ledger_url: str, state: State) -> None:
    for number, (action, looked) in enumerate(product(ACTIONS, (None, 0, 1, 2, 3))):
        named = tried(ledger_url, state, 2, f"{number} named")
        unnamed = tried(ledger_url, state, 2, f"{number} unnamed")
        done = [
            is_done(pool, Word(named, action, "ann", "asked", looked)),
            is_done(pool, Word(unnamed, action, "ann", "asked")),
        ]
        is_stale = looked not in (None, 2) and action != "arrived"
        assert done[0] == (done[1] and not is_stale), (action, looked)
        after = (state, False, 2) if is_stale else standing(ledger_url, unnamed)
        assert standing(ledger_url, named) == after


def is_done(pool: Pool, word: Word) -> bool:
    try:
        return say(pool, ANN, word, None)
    except Refused:
        return False


def try_again(url: str, delivery: str) -> None:
    """Let the deliverer try once more, without an answer."""
    with psycopg.connect(url) as connection:
        connection.execute(
            "UPDATE deliveries SET state = 'IN_DOUBT', attempt = 2 WHERE delivery_id = %s",
            (delivery,),
        )
    add_attempt(url, delivery, 2, 0.1, 0.2, "IN_DOUBT")


@pytest.mark.parametrize("door", ["page", "api"])
def test_two_persons_say_that_the_same_try_did_not_arrive(
    console: Console, ledger_url: str, door: str
) -> None:
    one = tried(ledger_url, State.IN_DOUBT, 1)
    path, word = f"/deliveries/{one}", {"action": "absent", "why": "not on her phone"}
    with console.client("bob") as bob, console.client("carol") as carol:
        hidden = r'name="(word|key|attempt)" value="([0-9a-f]+)"'
        bobs, carols = (dict(re.findall(hidden, each.get(path).text)) for each in (bob, carol))
        assert bobs["attempt"] == "1"
        assert "done" in carol.post(path, data=carols | word).text
        assert standing(ledger_url, one) == (State.RETRY_WAIT, False, 1)
        try_again(ledger_url, one)
        if door == "page":
            late = bob.post(path, data=bobs | word)
        else:
            headers = {"X-Form-Word": bobs["word"]}
            late = bob.post(f"/v1{path}/word", json=word | {"attempt": 1}, headers=headers)
        assert late.status_code == 409
        assert "is at try 2, your word is on try 1: look at it again" in late.text
        assert standing(ledger_url, one) == (State.IN_DOUBT, False, 2)
        if door == "page":
            assert "required></textarea>" in late.text
            assert "You wrote: <bdi>not on her phone</bdi>" in late.text
        again = dict(re.findall(hidden, (late if door == "page" else bob.get(path)).text))
        assert again["attempt"] == "2"
        assert bob.post(path, data=again | word).status_code == 200
    assert standing(ledger_url, one) == (State.RETRY_WAIT, False, 2)
