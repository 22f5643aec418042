"""A broker whose disk takes nothing for seconds is ended, so that others lead in its place.

Kafka itself takes the lead from no broker that lives, and one that cannot write down what the
controller says goes on as if it led what others lead by now: its clients wait for as long as the
disk does (docs/reports/recovery.md).
"""

import math
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Protocol

from services.machine.servers.broker import BrokerNode
from services.machine.supervision.readiness import KafkaReadiness, Look, Readiness
from services.machine.waiting import now_seconds

LATE_SECONDS: Final = 3.0
"""A disk that has not made one block durable for so long is late: each wait of Kafka for its disk
takes as long, and a broker's session is over after two seconds."""
QUICK_SECONDS: Final = 1.0
"""A disk is well, or well again, when it takes a block within so long."""
EVERY_SECONDS: Final = 2.0
LOOK_SECONDS: Final = 0.5
GRACE_SECONDS: Final = 1.0
"""A broker that the controller hears hands over what it leads in some tenths of a second."""
BLOCK: Final = "disk-probe"


class Write(Protocol):
    """A block under way to a disk."""

    def poll(self) -> int | None:
        """Return None while it is under way."""


@dataclass
class Disk:
    """Where one broker keeps its data; it is given one block after the other."""

    begin: Callable[[], Write | None]
    """Begins a write; returns None where that cannot be done, which says nothing of the disk."""
    now_seconds: Callable[[], float]
    _write: Write | None = None
    _begun_seconds: float = float("-inf")
    _quick_seconds: float = float("-inf")
    """When the newest was begun that was quick."""
    _late_seconds: float | None = None
    """When the first was begun of those that are late, or were and none has been quick since."""

    def late_since_seconds(self) -> float | None:
        """Look; return since when the disk is late, None where it is not."""
        took_seconds = self.now_seconds() - self._begun_seconds
        if self._write is not None and self._write.poll() is None:
            if self._late_seconds is None and took_seconds > LATE_SECONDS:
                self._late_seconds = self._begun_seconds
        elif took_seconds >= EVERY_SECONDS:
            self._write, self._begun_seconds = self.begin(), self.now_seconds()
        elif self._write is not None:
            if took_seconds <= QUICK_SECONDS:
                self._late_seconds, self._quick_seconds = None, self._begun_seconds
            self._write = None
        return self._late_seconds

    def was_quick_since(self, seconds: float) -> bool:
        """Look; tell whether a block was quick that was begun at that moment or later."""
        return self.late_since_seconds() is None and self._quick_seconds >= seconds


@dataclass(frozen=True)
class Peer:
    """A broker that could lead in another's place."""

    disk: Disk
    readiness: Readiness

    def has_been_well_since(self, seconds: float) -> bool:
        """Tell whether it serves, and its disk has been quick since then."""
        return self.disk.was_quick_since(seconds) and self.readiness.is_ready()


@dataclass(frozen=True)
class DiskLiveness:
    """Whether a broker is to be ended, or not to be started yet, for its disk's sake.

    Only where all others' disks were quick meanwhile: a disk that all share ends none.
    """

    disk: Disk
    peers: tuple[Peer, ...]
    every_seconds: float = field(default=LOOK_SECONDS, init=False)
    looks_limit: int = field(default=1, init=False)
    grace_seconds: float = field(default=GRACE_SECONDS, init=False)
    silence_limit_seconds: float = field(default=math.inf, init=False)

    def look(self) -> Look:
        """Find it dead only where others could lead in its place."""
        since_seconds = self.disk.late_since_seconds()
        if since_seconds is None:
            return Look()
        # What was begun at the same moment may have been quick just before a stall that all share.
        well_since_seconds = since_seconds + QUICK_SECONDS
        if all(peer.has_been_well_since(well_since_seconds) for peer in self.peers):
            return Look(f"its disk takes no block within {LATE_SECONDS:g} s, those of others do")
        return Look()


def livenesses(nodes: tuple[BrokerNode, ...]) -> Mapping[str, DiskLiveness]:
    """Return each broker's by its name; none where there is no other to lead."""
    if len(nodes) == 1:
        return {}
    peers = {
        node.name: Peer(Disk(_writer(node), now_seconds), KafkaReadiness(node.host, node.port))
        for node in nodes
    }
    return {
        name: DiskLiveness(own.disk, tuple(peers[other] for other in peers if other != name))
        for name, own in peers.items()
    }


def _writer(node: BrokerNode) -> Callable[[], Write | None]:
    block = node.data / BLOCK
    command = ("dd", "if=/dev/zero", f"of={block}", "bs=512", "count=1", "conv=notrunc,fsync")

    def begin() -> Write | None:
        nothing = subprocess.DEVNULL
        with suppress(OSError):
            return subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing)
        return None

    return begin
