"""Messages lead to the console's page of their alert, where people are told its address."""

import pytest

from services.contracts.records import TEXT_LIMIT_CHARACTERS
from services.lookout.routing import Instruction, Routes, Target
from services.lookout.templates.rendering import Message
from services.lookout.templates.words import NO_LINKS, Words, opened
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


@pytest.mark.parametrize("channel", ["email", "sms"])
def test_what_is_put_before_a_long_text_leaves_its_links_whole(channel: str) -> None:
    links = "\nacknowledge: https://alerts.example.com/a/2026a.x\nmore: https://a.example/x"
    long = Message("s", "x" * (TEXT_LIMIT_CHARACTERS - len(links)) + links)
    read = opened(long, "Escalated: nobody has acknowledged. " * 20, channel)
    assert len(read.text) == TEXT_LIMIT_CHARACTERS
    assert read.text.startswith("Escalated")
    assert read.text.endswith("…" + links)
