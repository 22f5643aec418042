"""Lines for people: whatever others have written is on its line, and nothing moves the terminal."""

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.aldebaran.__main__ import carry_out, parser
from services.backbone.clock import ManualClock
from services.backbone.lines import harmless, tell_text

HOSTILE = "\x1b]0;owned\x07\x1b[2J\r\n2026 forged\x9b31m\u202etxt\u2028\x00\x7f"


@given(st.text())
def test_whatever_was_sent_stands_on_one_line(text: str) -> None:
    told = harmless(text)
    assert told.isprintable()
    assert told == text or not text.isprintable()


def test_a_terminal_is_told_nothing() -> None:
    assert harmless("a\x1b[2J\nb") == "a\\x1b[2J\\nb"


@given(st.text())
def test_a_text_of_lines_keeps_them(text: str) -> None:
    out = io.StringIO(newline="\n")
    tell_text(out, text)
    assert out.getvalue().split("\n")[:-1] == [harmless(line) for line in text.split("\n")]


class Api:
    """Answers every question with this text wherever somebody outside writes."""

    def __init__(self, text: str) -> None:
        happened = {"at_ms": 1, "what": text, "detail": text}
        told = {"channel": "email", "recipient": text, "state": "SENT", "sentence": text}
        silence: dict[str, Any] = {
            "ended_at": None,
            "ends_at": text,
            "match": {},
            "silence_id": "s",
        }
        trace = {"trace_id": "t", "key": "o-1", "ends_at_ms": 2_000}
        trace |= {"is_on": False, "is_closed": True}
        alert = {"alert_id": "a", "severity": "info", "watch": text, "summary": text}
        head = alert | {"accepted_at_ms": 1, "deliveries": [told]}
        tried = {"delivery_id": "d", "age_ms": 1, "attempt": 1, "reason": text, "summary": text}
        route = {"fits": True, "depth": 0, "name": text, "why": text, "route": text}
        rejected = {"at_ms": 1, "source": text, "reason": text, "detail": text, "original": text}
        rejected |= {"encoding": "utf-8", "size_bytes": 1, "cut": False}
        caught = {"alerts_looked_at": 1, "alerts_caught": 1, "alerts": [alert]}
        heard = {"deliveries_looked_at": 1, "deliveries_held_back": 1}
        self._pages: dict[str, dict[str, Any]] = {
            "/v1/alerts": {"rows": [head]},
            "/v1/why/a": head | {"considered": [route], "cut": ["recipients"], "recipients": [
                told | {"happened": [happened]}], "acknowledged_at_ms": 1, "happened": [happened],
                "repeats": [{"auditor": text, "copies": 1, "last_at_ms": 1}]},
            f"/v1/alerts/{'a' * 32}/acknowledge": {"new": True, "first": text},
            "/v1/deliveries": {"rows": [tried | told]},
            "/v1/silences": {"rows": [silence | {"author": text, "reason": text}]},
            "/v1/silences/preview": caught | heard,
            "/v1/routes/explain": {
                "told": [told | route | {"unreachable": text, "fallback": [told]}],
                "considered": [route]},
            "/v1/streams/halls/rejected": {"rows": [rejected],
                "looked": {"records": 1, "whole": True}},
            "/v1/traces": {"rows": [trace | {"person": text, "why": text, "is_on": True}]},
            "/v1/traces/t/lines": {"rows": [], "next_after": 1, "trace": trace,
                "trouble": f"Kafka: {text}"},
            "/v1/watches": {"rows": [{"watch": text, "figures": None, "paused": True}],
                "problems": [text]},
        }  # fmt: skip
        self._lines = [{"at_ms": 1, "step": "ACCEPTED", "detail": text}]

    def ask(self, _: str, path: str, *__: object, **___: object) -> dict[str, Any]:
        page = {"next_cursor": None} | self._pages[path]
        if path == "/v1/traces/t/lines":
            page["rows"], self._lines = self._lines, []
        return page


COMMANDS = {
    "alerts list": 1,
    "why a": 11,
    f"ack {'a' * 32}": 1,
    "todo": 1,
    "silence list": 1,
    "silence preview --watch w": 2,
    "who w": 2,
    "rejected halls": 2,
    "traces": 1,
    "trace o-1": 4,
    "watch list": 2,
}


def run(command: str, text: str) -> str:
    api: Any = Api(text)
    out = io.StringIO(newline="\n")
    assert carry_out(parser().parse_args(command.split()), api, ManualClock(), out) == 0
    return out.getvalue()


@pytest.mark.parametrize("command", COMMANDS)
@given(text=st.one_of(st.just(HOSTILE), st.text()))
def test_no_command_lets_others_write_to_the_terminal(command: str, text: str) -> None:
    lines = run(command, text).split("\n")
    assert lines.pop() == ""
    assert len(lines) == COMMANDS[command]
    assert all(each.isprintable() for each in lines)
