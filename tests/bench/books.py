"""What open books cost: memory, disk and the pause between batches, by their number."""

import urllib.request
from dataclasses import dataclass
from pathlib import Path

from services.contracts.topics import ALERTS
from services.machine.waiting import wait_until
from tests.bench.drain import MARKED, STREAM, write_markers
from tests.bench.engine import Scene
from tests.bench.engines import auditors
from tests.bench.load import client
from tests.bench.markers import Markers
from tests.bench.stores import Broker
from tests.bench.traffic import probe_order, purchase, request

BATCH_SECONDS = 20.0
TIMEOUT_SECONDS = 2400
MARKER_ROW = 5
STATE_BYTES = "aldebaran_auditor_state_bytes"


@dataclass(frozen=True)
class BooksRow:
    """One auditor with so many open books of a request and a purchase each.

    `boundary_seconds` is the longest pause between two batches after all books were open; `disk`
    is the checkpoint's folder, `state` what RocksDB says it keeps in memory.
    """

    books: int
    events_per_second: int
    resident_mebibytes: int
    state_mebibytes: int
    disk_mebibytes: int
    boundary_seconds: float


def measure_books(broker: Broker, books: int, partitions: int) -> BooksRow:
    """Open the books, let two batches end, and look."""
    scene = Scene(broker.bootstrap, broker.home / f"books-{books}", batch_seconds=BATCH_SECONDS)
    write_books(broker.bootstrap, books, partitions)
    first = {probe_order(MARKED, each) for each in range(partitions)}
    last = {probe_order(MARKED, MARKER_ROW + each) for each in range(partitions)}
    with (
        Markers(broker.bootstrap, ALERTS) as markers,
        auditors.running(scene, auditors.alone(scene)) as (auditor,),
    ):
        begun = max(markers.wait(first, TIMEOUT_SECONDS).values())
        ended = max(markers.wait(last, TIMEOUT_SECONDS).values())
        pauses = _pauses(auditor.log_file, count=2)
        return BooksRow(
            books=books,
            events_per_second=int(2 * books / ((ended - begun) / 1e9)),
            resident_mebibytes=auditor.usage().memory_mebibytes,
            state_mebibytes=round(_metric(auditor.http_port, STATE_BYTES) / 2**20),
            disk_mebibytes=_folder_mebibytes(scene.home / "checkpoints"),
            boundary_seconds=max(pauses),
        )


def write_books(bootstrap: str, books: int, partitions: int) -> None:
    """Write a request and a purchase within it for each book, between two rows of markers."""
    producer = client(bootstrap)
    write_markers(producer, 0, partitions)
    for number in range(books):
        order = f"book-{number:012d}"
        for event in (request(order), purchase(order, 0, 60)):
            while True:
                try:
                    producer.produce(STREAM, event, order)
                    break
                except BufferError:
                    producer.poll(0.1)
        producer.poll(0)
    write_markers(producer, MARKER_ROW, partitions)


def _pauses(log_file: Path, count: int) -> list[float]:
    """Wait for the end of this batch and of `count` more; return the pauses after those."""
    until = len(auditors.pauses_seconds(log_file)) + 1 + count
    wait_until(
        lambda: len(auditors.pauses_seconds(log_file)) >= until,
        TIMEOUT_SECONDS,
        f"batches to end; see {log_file}",
    )
    return auditors.pauses_seconds(log_file)[until - count : until]


def _metric(port: int, name: str) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))


def _folder_mebibytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) // 2**20
