"""An auditor leaves when its partner has been whole for a while, and never waits beyond a limit."""

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.relief import ASK_EVERY_SECONDS, http_address, page_is_ready, relieved
from services.backbone.clock import ManualClock

STEADY, LIMIT = 15.0, 120.0


def answers_of(plan: list[bool]) -> Callable[[], bool]:
    """Answer as planned, one answer a question; after the plan, no."""
    left = iter(plan)
    return lambda: next(left, False)


def longest_run(plan: list[bool]) -> int:
    """Return the length of the longest unbroken row of yes."""
    best = run = 0
    for answer in plan:
        run = run + 1 if answer else 0
        best = max(best, run)
    return best


@given(st.lists(st.booleans(), max_size=120))
def test_it_leaves_just_when_the_partner_was_steady_for_long_enough(plan: list[bool]) -> None:
    needed = int(STEADY / ASK_EVERY_SECONDS) + 1
    assert relieved(answers_of(plan), ManualClock(), STEADY, LIMIT) == (
        longest_run(plan[: int(LIMIT)]) >= needed
    )


def test_a_partner_that_stops_at_the_same_moment_is_waited_for() -> None:
    both_stop = [True] * 10 + [False] * 30 + [True] * 20
    clock = ManualClock()
    begun = clock.monotonic_seconds()
    assert relieved(answers_of(both_stop), clock, STEADY, LIMIT)
    assert clock.monotonic_seconds() - begun >= 10 + 30 + STEADY


def test_the_wait_ends_at_its_limit() -> None:
    clock = ManualClock()
    begun = clock.monotonic_seconds()
    assert not relieved(lambda: False, clock, STEADY, LIMIT)
    assert clock.monotonic_seconds() - begun == LIMIT


def test_a_page_that_does_not_answer_is_not_ready() -> None:
    assert not page_is_ready(http_address("http://127.0.0.1:9/healthz/ready"))


class _Ready(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_proxy_that_the_cluster_names_is_not_asked_for_the_partner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", ".svc")
    monkeypatch.setattr("urllib.request._opener", None)
    with HTTPServer(("127.0.0.1", 0), _Ready) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        assert page_is_ready(f"http://127.0.0.1:{server.server_port}/healthz/ready")
