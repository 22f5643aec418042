"""Messages lead to the console's page of their alert, where people are told its address."""

from services.lookout.rendering import Message
from services.lookout.routing import Instruction, Routes, Target
from services.lookout.words import NO_LINKS, Words
from tests.unit.lookout.samples import sample

ALERT = sample()
DESK = Instruction(Target("email", "desk@example.com"), "r")


def written(words: Words) -> Message:
    return words.of(ALERT, Routes((), ()), now_ms=0)(DESK, 0)


def test_a_message_leads_to_the_page_of_its_alert() -> None:
    told = written(Words(console_url="https://alerts.example.com/"))
    assert f"more: https://alerts.example.com/alerts/{ALERT.alert_id}" in told.text.splitlines()


def test_without_an_address_there_is_no_link() -> None:
    assert "more:" not in written(NO_LINKS).text
    assert "http" not in written(Words(public_url="https://a.example")).text
