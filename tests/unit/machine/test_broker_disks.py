"""Which broker is ended for its disk's sake: one that is late, while all others are well."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from services.machine.servers.broker_disks import (
    EVERY_SECONDS,
    LATE_SECONDS,
    LOOK_SECONDS,
    QUICK_SECONDS,
    Disk,
    DiskLiveness,
    Peer,
    Write,
    livenesses,
)
from services.machine.servers.cluster import cluster
from services.machine.waiting import wait_until

SHORT_SECONDS = 0.25


@dataclass
class Block:
    """A write that is over when somebody says so."""

    is_over: bool = False

    def poll(self) -> int | None:
        return 0 if self.is_over else None


@dataclass
class Time:
    """What all disks of a test go by."""

    seconds: float = 1000.0


@dataclass
class Bench:
    """A disk whose writes take as long as the test wants, and the time."""

    time: Time = field(default_factory=Time)
    writes: list[Block] = field(default_factory=list)
    begun_seconds: float = 0.0
    disk: Disk = field(init=False)

    def __post_init__(self) -> None:
        self.disk = Disk(self._begin, lambda: self.time.seconds)

    def _begin(self) -> Block:
        self.writes.append(Block())
        self.begun_seconds = self.time.seconds
        return self.writes[-1]

    def look_for(self, seconds: float) -> bool:
        """Look again and again for so long; return what the last look told."""
        late = self.is_late()
        for _ in range(int(seconds / SHORT_SECONDS)):
            self.time.seconds += SHORT_SECONDS
            late = self.is_late()
        return late

    def is_late(self) -> bool:
        return self.disk.late_since_seconds() is not None

    def take(self, seconds: float) -> bool:
        """Let the block under way, or the next, take so long; tell whether the disk is late."""
        while not self.writes or self.writes[-1].is_over:
            self.look_for(SHORT_SECONDS)
        self.look_for(seconds)
        self.writes[-1].is_over = True
        return self.look_for(SHORT_SECONDS)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_disk_that_takes_blocks_is_given_one_after_the_other(bench: Bench) -> None:
    assert [bench.take(0.25) for _ in range(20)] == [False] * 20
    assert bench.time.seconds - 1000.0 >= 19 * EVERY_SECONDS


def test_a_disk_is_late_while_a_block_is(bench: Bench) -> None:
    bench.take(0.25)
    assert not bench.take(LATE_SECONDS)
    assert bench.take(LATE_SECONDS + SHORT_SECONDS)


def test_a_disk_that_was_late_is_so_until_it_takes_a_block_quickly(bench: Bench) -> None:
    bench.take(LATE_SECONDS + 1)
    assert bench.take(QUICK_SECONDS + SHORT_SECONDS)
    assert not bench.take(QUICK_SECONDS - 2 * SHORT_SECONDS)


def test_who_looks_seldom_takes_no_disk_for_late(bench: Bench) -> None:
    """A block that is over when one looks, after whatever time, says nothing."""
    bench.is_late()
    for _ in range(5):
        bench.writes[-1].is_over = True
        bench.time.seconds += 10 * LATE_SECONDS
        assert not bench.is_late()


def test_where_no_write_can_be_begun_the_disk_is_not_blamed() -> None:
    now_seconds = iter(range(1000))
    disk = Disk(lambda: None, lambda: float(next(now_seconds)))
    assert not any(disk.late_since_seconds() is not None for _ in range(100))


@dataclass
class Answers:
    """A broker that serves or does not."""

    does: bool = True

    def is_ready(self) -> bool:
        return self.does


@dataclass
class Brokers:
    """Three brokers; `takes_seconds` is what each one's disk takes for a block."""

    takes_seconds: Mapping[str, float]
    away: str
    time: Time = field(default_factory=Time)

    def __post_init__(self) -> None:
        self.benches = {name: Bench(self.time) for name in self.takes_seconds}
        peers = {
            name: Peer(bench.disk, Answers(name not in self.away))
            for name, bench in self.benches.items()
        }
        self.lives = {
            name: DiskLiveness(own.disk, tuple(peers[other] for other in peers if other != name))
            for name, own in peers.items()
        }

    def ended_within(self, seconds: float) -> str:
        """Look at all as often as a supervisor does; return who is found dead meanwhile."""
        ended = set()
        for _ in range(int(seconds / LOOK_SECONDS)):
            for name, live in self.lives.items():
                if live.look().dead:
                    ended.add(name)
            self.time.seconds += LOOK_SECONDS
            for name, bench in self.benches.items():
                took_seconds = self.time.seconds - bench.begun_seconds
                bench.writes[-1].is_over |= took_seconds >= self.takes_seconds[name]
        return "".join(sorted(ended))


ALMOST_LATE_SECONDS = LATE_SECONDS - LOOK_SECONDS
FAR_TOO_LATE_SECONDS = 4 * LATE_SECONDS


@pytest.mark.parametrize(
    ("takes_seconds", "away", "ended"),
    [
        ((0.1, 0.1, 0.1), "", ""),
        ((FAR_TOO_LATE_SECONDS, 0.1, 0.1), "", "a"),
        ((FAR_TOO_LATE_SECONDS, 0.1, 0.1), "a", "a"),
        ((FAR_TOO_LATE_SECONDS, 0.1, 0.1), "c", ""),
        ((FAR_TOO_LATE_SECONDS, FAR_TOO_LATE_SECONDS, 0.1), "", ""),
        ((FAR_TOO_LATE_SECONDS,) * 3, "", ""),
        ((FAR_TOO_LATE_SECONDS, ALMOST_LATE_SECONDS, ALMOST_LATE_SECONDS), "", ""),
        ((FAR_TOO_LATE_SECONDS, ALMOST_LATE_SECONDS, 0.1), "", ""),
        ((0.1, ALMOST_LATE_SECONDS, 0.1), "", ""),
        ((0.1, 0.1, 0.1), "b", ""),
    ],
)
def test_one_is_ended_only_where_all_others_are_well(
    takes_seconds: tuple[float, ...], away: str, ended: str
) -> None:
    brokers = Brokers(dict(zip("abc", takes_seconds, strict=True)), away)
    assert brokers.ended_within(10 * FAR_TOO_LATE_SECONDS) == ended


def test_a_stall_that_all_share_ends_none_and_one_that_stays_with_one_ends_that_one() -> None:
    takes_seconds = dict.fromkeys("abc", FAR_TOO_LATE_SECONDS)
    brokers = Brokers(takes_seconds, away="")
    assert brokers.ended_within(FAR_TOO_LATE_SECONDS) == ""
    takes_seconds |= {"a": 0.1, "c": 0.1}
    assert brokers.ended_within(FAR_TOO_LATE_SECONDS) == "b"


def test_a_stall_that_all_share_just_after_the_others_were_quick_ends_none() -> None:
    takes_seconds = dict.fromkeys("abc", 0.1)
    brokers = Brokers(takes_seconds, away="")
    brokers.ended_within(EVERY_SECONDS)
    while not all(bench.writes[-1].is_over for bench in brokers.benches.values()):
        brokers.ended_within(LOOK_SECONDS)
    takes_seconds["a"] = FAR_TOO_LATE_SECONDS
    while brokers.benches["a"].writes[-1].is_over:
        brokers.ended_within(LOOK_SECONDS)
    takes_seconds |= dict.fromkeys("bc", FAR_TOO_LATE_SECONDS)
    assert brokers.ended_within(FAR_TOO_LATE_SECONDS) == ""


def test_who_was_ended_is_not_started_before_its_disk_is_quick() -> None:
    takes_seconds = dict.fromkeys("abc", 0.1) | {"b": FAR_TOO_LATE_SECONDS}
    brokers = Brokers(takes_seconds, away="")
    assert brokers.ended_within(FAR_TOO_LATE_SECONDS) == "b"
    for takes_seconds["b"] in (FAR_TOO_LATE_SECONDS, ALMOST_LATE_SECONDS, 2 * QUICK_SECONDS):
        for _ in range(50):
            assert brokers.ended_within(LOOK_SECONDS) == "b"
    takes_seconds["b"] = 0.1
    brokers.ended_within(FAR_TOO_LATE_SECONDS)
    assert brokers.ended_within(FAR_TOO_LATE_SECONDS) == ""


def test_an_only_broker_is_ended_for_no_disk(tmp_path: Path) -> None:
    ports = ((1, 2), (3, 4), (5, 6))
    assert livenesses(cluster(tmp_path, ports[:1]).nodes) == {}
    assert list(livenesses(cluster(tmp_path, ports).nodes)) == ["kafka", "kafka-2", "kafka-3"]


def is_over(write: Write | None) -> bool:
    assert write is not None
    return write.poll() == 0


def test_a_real_block_is_written_where_the_copies_are(tmp_path: Path) -> None:
    nodes = cluster(tmp_path, ((1, 2), (3, 4), (5, 6))).nodes
    for node in nodes:
        node.data.mkdir(parents=True)
    for node, live in zip(nodes, livenesses(nodes).values(), strict=True):
        wait_until(partial(is_over, live.disk.begin()), 60, "the block is not written")
        assert [file.stat().st_size for file in node.data.iterdir()] == [512]
