"""What the background load says of itself."""

import time

import pytest

from tests.bench import load


class Taking:
    """A producer that takes everything at once."""

    def produce(self, *_: object) -> None:
        pass

    def poll(self, _: float) -> int:
        return 0

    def flush(self, _: float) -> int:
        return 0


def test_processor_time_is_of_the_time_that_it_lasted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "client", lambda _: Taking())
    began, spent = time.monotonic(), time.process_time()
    said = load.offer("127.0.0.1:1", "trades", "r", 100, 0.05)
    assert said["cpu_seconds"] <= time.process_time() - spent
    assert 0.05 <= said["seconds"] <= time.monotonic() - began
