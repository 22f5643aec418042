"""The simulator's inbox inside the test process: providers that count exactly, with dials."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from services.backbone.clock import SystemClock
from services.simulator.inbox.dials import turned, untouched
from services.simulator.inbox.received import Arrival, Received
from services.simulator.inbox.switchboard import Switchboard
from services.simulator.inbox.web import WebServer
from tests.integration.deliverer.waiting import DEADLINE_SECONDS
from tests.said import whole_lines, written_to


@dataclass
class Inbox:
    """All providers at one address."""

    board: Switchboard
    journal: Path
    url: str

    def dial(self, way: str, **dials: object) -> None:
        """Turn some dials of one way in."""
        self.board.turn(turned(self.board.dials, {way: dials}))

    def taken(self, way: str) -> Counter[str]:
        """How often each delivery id was taken."""
        return Counter(self.board.received.counts()[way].ids)

    def arrivals(self, way: str) -> list[Arrival]:
        """Everything that came all the way in, refused or not."""
        lines = whole_lines(written_to(self.journal))
        found = [Arrival.model_validate_json(line) for line in lines]
        return [each for each in found if each.way == way]

    def get(self, path: str) -> object:
        """Return what a provider shows."""
        found: object = httpx2.get(self.url + path, timeout=DEADLINE_SECONDS).json()
        return found


@contextmanager
def playing(folder: Path) -> Iterator[Inbox]:
    """Play all providers on a free port; what comes is kept under the folder."""
    dials, journal = untouched(), folder / "received.jsonl"
    received = Received(journal, dials)
    received.open()
    board = Switchboard(dials, received, SystemClock(), lambda line: None)
    server = WebServer(board, "127.0.0.1", 0)
    server.start()
    try:
        yield Inbox(board, journal, f"http://127.0.0.1:{server.server_port}")
    finally:
        server.stop()
        received.close()
