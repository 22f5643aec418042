"""What all ways in share: the dials as they are now, the counts, and the line for people."""

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from services.backbone.clock import Clock
from services.simulator.inbox.faults import Dials, Faults
from services.simulator.inbox.metrics import ARRIVALS
from services.simulator.inbox.received import Arrival, Received


@dataclass
class Switchboard:
    """Held by the servers and by the page that turns the dials; safe from any thread."""

    dials: Dials
    received: Received
    clock: Clock
    say: Callable[[str], None]
    rng: random.Random = field(default_factory=random.Random)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def faults(self, way: str) -> Faults:
        """Return the dials of one way in, as they are now."""
        return self.dials[way]

    def turn(self, dials: Dials) -> None:
        """Use other dials from the next message on."""
        with self._lock:
            self.dials = dials

    def took(self, arrival: Arrival, readable: str) -> None:
        """Keep an arrival and show it as one line."""
        self.received.add(arrival)
        ARRIVALS.labels(way=arrival.way, verdict=arrival.verdict.value).inc()
        shown = " ".join(readable.split())[:200]
        self.say(f"{arrival.way:<5} {arrival.verdict.value:<8} {shown}")
