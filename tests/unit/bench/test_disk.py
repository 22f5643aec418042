"""What is told of a disk beside a measurement."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.bench.disk import AFTER_MS, STALL_MS, Disk, undisturbed

MS = 1_000_000
looks = st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 400)))


@given(looks, st.lists(st.integers(0, 6000), unique=True))
def test_an_instant_is_undisturbed_unless_a_stall_lies_around_or_shortly_before_it(
    stalls_ms: list[tuple[int, int]], instants_ms: list[int]
) -> None:
    found = undisturbed(
        [(began * MS, took * MS) for began, took in stalls_ms], [each * MS for each in instants_ms]
    )
    for instant in instants_ms:
        is_hit = False
        for began, took in stalls_ms:
            if took > STALL_MS and began <= instant < began + took + AFTER_MS:
                is_hit = True
        assert (instant * MS in found) is not is_hit


def test_a_disk_is_written_and_its_writes_are_counted(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "block")
    for _ in range(3):
        disk.look()
    disk.close()
    assert disk.latency().count == 3
    assert (tmp_path / "block").stat().st_size == 4096
