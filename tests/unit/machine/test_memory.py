"""How many auditors start by themselves, by the memory that a machine or container has."""

from pathlib import Path

import pytest

from services.machine import memory
from services.machine.memory import PAIR_MEBIBYTES, how_many_fit, memory_mebibytes


def test_a_containers_limit_counts_where_it_is_less(tmp_path: Path) -> None:
    whole, limit = memory_mebibytes(()), tmp_path / "memory.max"
    limit.write_text("max\n")
    assert memory_mebibytes((limit, tmp_path / "none")) == whole
    limit.write_text(f"{64 * 2**20}\n")
    assert memory_mebibytes((limit,)) == 64
    limit.write_text(f"{2**60}\n")
    assert memory_mebibytes((limit,)) == whole


@pytest.mark.parametrize(("mebibytes", "count"), [(PAIR_MEBIBYTES, 2), (PAIR_MEBIBYTES - 1, 1)])
def test_two_start_where_they_fit(
    monkeypatch: pytest.MonkeyPatch, mebibytes: int, count: int
) -> None:
    monkeypatch.setattr(memory, "memory_mebibytes", lambda: mebibytes)
    assert how_many_fit() == count
