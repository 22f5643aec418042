"""What open books cost: memory, disk and the pause between batches, by their number."""

import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from services.contracts.topics import ALERTS
from tests.bench.drain import MARKED, STREAM, write_markers
from tests.bench.engine import Scene
from tests.bench.engines import auditors
from tests.bench.load import client
from tests.bench.markers import Markers
from tests.bench.stores import Broker
from tests.bench.traffic import probe_order, purchase, request

BATCH_SECONDS = 20.0
TIMEOUT_SECONDS = 900
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
    with Markers(broker.bootstrap, ALERTS) as markers:
        settings = auditors.settings(scene, "a")
        with auditors.running(scene, [settings]) as (auditor,):
            begun = max(markers.wait(first, TIMEOUT_SECONDS).values())
            ended = max(markers.wait(last, TIMEOUT_SECONDS).values())
            at_ms = time.time() * 1000
            pauses = _pauses(auditor.log_file, at_ms, count=2)
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


def _pauses(log_file: Path, since_ms: float, count: int) -> list[float]:
    """Wait until `count` batches more have ended; return what each took beyond its time."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        ends = [at_ms for at_ms in auditors.batches_ended_ms(log_file) if at_ms > since_ms]
        if len(ends) > count:
            steps = zip(ends[1:], ends, strict=False)
            return [round((b - a) / 1000 - BATCH_SECONDS, 2) for b, a in steps]
        time.sleep(0.5)
    raise TimeoutError("batches do not end")


def _metric(port: int, name: str) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))


def _folder_mebibytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) // 2**20
