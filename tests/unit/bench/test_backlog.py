"""A backlog stands in its topic in the encoding that is asked for, its markers too."""

import pytest

from tests.bench import drain
from tests.bench.traffic import as_json

EVENTS, PARTITIONS = 50, 2


class Taken:
    """A producer that keeps what it is given."""

    def __init__(self) -> None:
        self.values: list[bytes] = []

    def produce(self, topic: str, value: bytes, key: str, partition: int = -1) -> None:
        self.values.append(value)

    def poll(self, _: float) -> None:
        pass

    def flush(self, _: float) -> None:
        pass


def shouted(event: bytes) -> bytes:
    return event.upper()


def test_every_event_is_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, encoded = Taken(), Taken()
    for taken, encode in ((plain, as_json), (encoded, shouted)):
        monkeypatch.setattr(drain, "client", lambda _, taken=taken: taken)
        backlog = drain.write_backlog("127.0.0.1:1", EVENTS, PARTITIONS, encode)
    assert backlog.partitions == PARTITIONS
    assert encoded.values == [each.upper() for each in plain.values] != plain.values
