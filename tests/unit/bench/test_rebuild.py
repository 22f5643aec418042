"""What a rebuild is timed by: the last of the kept events, and then orders that are not kept."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.bench import drain
from tests.bench.drain import write_backlog
from tests.bench.engine import Scene, Usage
from tests.bench.rebuild import __main__ as rebuild
from tests.bench.stores import Broker

PARTITIONS = rebuild.PARTITIONS


class Written:
    """A producer that keeps the keys in their order."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def produce(self, topic: str, event: bytes, key: str, *partition: int) -> None:
        self.keys.append(key)

    def poll(self, seconds: float) -> None:
        pass

    def flush(self, seconds: float) -> None:
        pass


class MadeUp:
    """An auditor that ends a batch whenever it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def usage(self) -> Usage:
        return Usage(1.0, 700)

    def boundaries_ns(self) -> list[int]:
        self.asked += 1
        return list(range(self.asked))

    def kill(self) -> None:
        pass


class Awaited:
    """Markers that all come at once; keeps which were waited for."""

    orders: set[str]

    def __init__(self, *_: object) -> None:
        pass

    def __enter__(self) -> "Awaited":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def wait(self, orders: set[str], _: float) -> None:
        Awaited.orders = orders


@contextmanager
def running(*_: object) -> Iterator[list[MadeUp]]:
    yield [MadeUp()]


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Written:
    producer = Written()
    for module in (drain, rebuild):
        monkeypatch.setattr(module, "client", lambda _: producer)
    monkeypatch.setattr(rebuild, "running", running)
    monkeypatch.setattr(rebuild, "Markers", Awaited)
    return producer


def test_it_is_built_by_the_last_kept_event(written: Written, tmp_path: Path) -> None:
    backlog = write_backlog("127.0.0.1:1", 50, PARTITIONS)
    rebuild.from_empty(*around(tmp_path), backlog)
    last, others = written.keys[-3 * PARTITIONS :], written.keys[: -3 * PARTITIONS]
    assert Awaited.orders == set(last)
    assert not Awaited.orders & set(others)


def test_what_crossed_meanwhile_was_not_kept(written: Written, tmp_path: Path) -> None:
    backlog = write_backlog("127.0.0.1:1", 50, PARTITIONS)
    kept = set(written.keys)
    rebuild.from_checkpoint(*around(tmp_path), backlog)
    assert Awaited.orders == set(written.keys[-3 * PARTITIONS :])
    assert not Awaited.orders & kept


def around(home: Path) -> tuple[Scene, Broker]:
    return Scene("127.0.0.1:1", home), Broker("127.0.0.1:1", psutil.Process(), home)
