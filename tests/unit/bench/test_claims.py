"""What a claim costs is of what was claimed, and each batch size finds as many waiting."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from services.backbone.settings import LedgerSettings
from tests.bench.delivering import claims
from tests.bench.delivering.claims import Claimed, measure_claims
from tests.bench.percentiles import summary


class TwoSeconds:
    """A server that took two seconds of processor time."""

    def __init__(self, _: str) -> None:
        pass

    def look(self) -> None:
        pass

    def seconds(self) -> float:
        return 2.0


async def claimed(_: LedgerSettings, batch: int, seconds: float) -> Claimed:
    """Claim 100 batches, in half of the time."""
    return Claimed(100 * batch, seconds / 2, summary([10**6]))


@pytest.fixture
def fills(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    filled: list[tuple[int, int]] = []
    made_up: dict[str, Callable[..., object]] = {
        "fresh_postgres": lambda _: nullcontext("postgresql://127.0.0.1:1/made-up"),
        "migrate": lambda _: [],
        "fill": lambda _, there, more: filled.append((there, more)),
        "claimed": claimed,
        "Work": TwoSeconds,
    }
    for name, each in made_up.items():
        monkeypatch.setattr(claims, name, each)
    return filled


def test_processor_time_is_of_what_was_claimed(
    fills: list[tuple[int, int]], tmp_path: Path
) -> None:
    rows = measure_claims(tmp_path, 5000, (1, 10), 10.0)
    assert [(each.per_second, each.postgres_us) for each in rows] == [(20, 20_000), (200, 2_000)]


def test_each_batch_size_finds_as_many_waiting(
    fills: list[tuple[int, int]], tmp_path: Path
) -> None:
    measure_claims(tmp_path, 5000, (1, 10, 20), 10.0)
    assert fills == [(0, 5000), (5000, 100), (5100, 1000)]
