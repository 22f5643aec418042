import signal
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.machine.supervision.undertaker import bury, left_over


@given(st.lists(st.integers(1, 9)), st.lists(st.integers(1, 9)))
def test_what_was_started_and_has_not_ended_is_left(started: list[int], ended: list[int]) -> None:
    lines = [f"+{group}\n" for group in started] + [f"-{group}\n" for group in ended]
    assert left_over(lines) == set(started) - set(ended)


def test_a_group_may_come_back() -> None:
    assert left_over(["+1\n", "-1\n", "+1\n"]) == {1}


def test_what_ends_between_the_look_and_the_kill_keeps_nothing_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended, running = (
        subprocess.Popen(["/bin/sleep", seconds], start_new_session=True)
        for seconds in ("0", "86400")
    )
    ended.wait()
    monkeypatch.setattr("services.machine.supervision.undertaker.exists", lambda _: True)
    bury({ended.pid, running.pid}, grace_seconds=0)
    assert running.wait() == -signal.SIGKILL
