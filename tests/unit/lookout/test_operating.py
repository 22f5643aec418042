"""Commands of operators: what they ask of the API, and what a person reads."""

import argparse
import io
import json
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from services.backbone.clock import ManualClock
from services.backbone.errors import Refused, Transient
from services.lookout.commands import operating
from services.lookout.commands.api_client import LookoutSettings, lookout_client

SILENCE = {
    "silence_id": "5" * 32,
    "match": {"watch": ["over-heat"]},
    "starts_at": "2026-11-21T12:00:00Z",
    "ends_at": "2026-11-21T14:00:00Z",
    "ended_at": None,
    "author": "ann",
    "reason": "fans",
}


class Api:
    """Answers from a list, and remembers what was asked."""

    def __init__(self, *answers: tuple[int, Any]) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str, Any]] = []
        self.keys: list[str | None] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content) if request.content else None
        path = request.url.raw_path.decode()
        self.asked.append((request.method, path, body))
        self.keys.append(request.headers.get("idempotency-key"))
        assert request.headers["authorization"] == "Bearer key"
        status, answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return httpx2.Response(status, json=answer)

    def run(self, *arguments: str) -> tuple[int, str]:
        parser = argparse.ArgumentParser()
        operating.add_commands(parser.add_subparsers(dest="command"))
        settings = LookoutSettings(operator_key=SecretStr("key"))
        client = lookout_client(settings, httpx2.MockTransport(self))
        out = io.StringIO()
        code = operating.act(parser.parse_args(arguments), client, ManualClock(), out)
        client.close()
        return code, out.getvalue()


def test_a_silence_is_asked_for_as_the_routes_spell_it() -> None:
    api = Api((201, SILENCE))
    code, said = api.run(
        *("silence", "add", "--watch", "over-heat", "--label", "hall=north"),
        *("--severity", "info", "--lasts", "2h", "--reason", "fans"),
    )
    match = {"watch": ["over-heat"], "severity": ["info"], "labels": {"hall": "north"}}
    body = {"match": match, "lasts": "2h", "reason": "fans"}
    assert api.asked == [("POST", "/silences", body)]
    assert (code, "ann: fans" in said) == (0, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("silence", "add", "--watch", "cpu", "--reason", "fans"),
        ("test-send", "--person", "ann"),
    ],
)
def test_a_deed_whose_answer_was_lost_is_done_once_by_its_key(arguments: tuple[str, ...]) -> None:
    api = Api((503, {"title": "no", "detail": "because"}))
    for more in ((), ("--key", "mine")):
        with pytest.raises(Transient, match="the same command with --key"):
            api.run(*arguments, *more)
    assert api.keys[0]
    assert api.keys[1:] == ["mine"]


def test_what_others_wrote_moves_no_terminal() -> None:
    hostile = SILENCE | {"reason": "fans\x1b[2J\nforged"}
    assert (
        "fans\\x1b[2J\\nforged\n" in Api((200, {"silences": [hostile]})).run("silence", "list")[1]
    )


def test_silences_are_listed_and_ended() -> None:
    api = Api((200, {"silences": [SILENCE]}))
    assert api.run("silence", "list", "--standing")[1].startswith("5" * 32)
    api = Api((200, SILENCE | {"ended_at": "2026-11-21T13:00:00Z"}))
    assert "to 2026-11-21T13:00:00Z" in api.run("silence", "end", "5" * 32)[1]
    assert api.asked == [("DELETE", "/silences/" + "5" * 32, None)]


@pytest.mark.parametrize(
    ("written", "asked"), [("5f\r", "5f"), (" 5f", "5f"), ("5f?all=yes", "5f%3Fall%3Dyes")]
)
def test_what_is_written_for_an_id_is_one_part_of_the_path(written: str, asked: str) -> None:
    api = Api((200, SILENCE))
    api.run("silence", "end", written)
    assert api.asked == [("DELETE", f"/silences/{asked}", None)]


def test_a_preview_tells_what_would_be_caught() -> None:
    caught = {"alert_id": "a" * 32, "severity": "info", "watch": "cpu", "summary": "hot"}
    told = {
        "alerts_looked_at": 9,
        "alerts_caught": 1,
        "alerts": [caught],
        "deliveries_looked_at": 3,
        "deliveries_held_back": 2,
    }
    said = Api((200, told)).run("silence", "preview", "--watch", "cpu")[1]
    assert "of the newest 9 alerts it would have caught 1" in said
    assert "hold back 2" in said
    assert "cpu: hot" in said


@pytest.mark.parametrize(
    ("ends", "code"),
    [(["SENT"], 0), (["SENT", "CONFIRMED"], 0), (["SENT", "FAILED"], 1), (["HELD"], 1)],
)
def test_a_test_is_followed_to_its_end(ends: list[str], code: int) -> None:
    def page(states: list[str]) -> dict[str, Any]:
        rows = [
            {
                "delivery_id": str(number),
                "channel": "bus",
                "recipient": "t",
                "state": state,
                "sentence": f"is {state}",
            }
            for number, state in enumerate(states)
        ]
        return {"recipients": rows}

    ids = [str(number) for number in range(len(ends))]
    made = {"alert_id": "a" * 32, "why": "/alerts/a/why", "delivery_ids": ids}
    missing = (404, {"title": "no_such_alert", "detail": "not yet"})
    away = (503, {"title": "store_away", "detail": "Postgres: away"})
    api = Api((202, made), missing, away, (200, page(["PENDING"] * len(ends))), (200, page(ends)))
    result, said = api.run("test-send", "--channel", "bus", "--to", "t", "--wait")
    assert result == code
    assert said.count("PENDING  is PENDING") == len(ends)
    assert all(f"{state}  is {state}" in said for state in ends)


def test_a_test_that_does_not_end_is_told_where_to_look() -> None:
    made = {"alert_id": "a" * 32, "why": "/alerts/a/why", "delivery_ids": ["0"]}
    api = Api((202, made), (200, {"recipients": []}))
    code, said = api.run("test-send", "--person", "ann", "--wait", "--wait-seconds", "3")
    assert (code, "look again: GET /alerts/a/why" in said) == (1, True)
    assert api.asked[0][2] == {
        "person": "ann",
        "severity": "info",
        "text": "",
        "heed_silences": False,
    }


@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        (401, Refused, "ALDEBARAN_OPERATOR_KEY"),
        (403, Refused, "because"),
        (422, Refused, "because"),
        (503, Transient, "because"),
    ],
)
def test_a_refusal_is_said_in_the_apis_words(status: int, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        Api((status, {"title": "no", "detail": "because"})).run("silence", "list")


def test_what_is_no_lookout_is_said_to_be_none() -> None:
    with pytest.raises(Refused, match="is this the lookout's address"):
        Api((500, "oops")).run("silence", "list")
    with pytest.raises(Refused, match="write NAME=VALUE"):
        Api((200, {})).run("silence", "add", "--label", "hall", "--reason", "r")
    twice = ("--label", "hall=north", "--label", "hall=south")
    with pytest.raises(Refused, match="--label hall stands twice"):
        Api((200, {})).run("silence", "add", *twice, "--reason", "r")


def test_another_note_on_an_alert_in_hand_is_told_to_be_kept() -> None:
    told = {"new": False, "noted": True, "acknowledgements": [{"person": "ann", "at": "12:00"}]}
    api = Api((200, told))
    assert api.run("ack", "a" * 32, "--note", "a fan") == (0, "noted\nann at 12:00\n")
    api = Api((200, told | {"noted": False}))
    assert api.run("ack", "a" * 32) == (0, "ann at 12:00\n")
