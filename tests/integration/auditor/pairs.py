"""Two auditors side by side as real processes, a load that counts itself, and what each raised."""

import itertools
import json
import threading
from dataclasses import dataclass, field

from tests.integration.auditor.running import Findings, Place, Running, Sender

PERIOD_SECONDS = 10.0
EVERY_SECONDS = 0.05


@dataclass
class Pair:
    """Auditors `a` and `b` of one place; either may be killed and started again."""

    place: Place
    running: dict[str, Running] = field(default_factory=dict)

    def start(self, name: str) -> Running:
        """Start one of them, in its half of the period."""
        settings = self.place.environment(
            AUDITOR_ID=self.ident(name),
            AUDITOR_PHASE=self.part(name),
            AUDITOR_BATCH_SECONDS=PERIOD_SECONDS,
        )
        self.running[name] = Running(settings, self.place.folder / f"auditor-{name}.log")
        return self.running[name]

    def ident(self, name: str) -> str:
        return f"{self.place.name}-{name}"

    def part(self, name: str) -> float:
        return {"a": 0.0, "b": 0.5}[name]

    def boundaries(self, name: str) -> list[float]:
        """Return how far each boundary so far lay from this auditor's moment, in seconds."""
        lines = (self.place.folder / f"auditor-{name}.log").read_text().splitlines()
        said = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]
        return [one["phase_error_seconds"] for one in said if one["event"] == "boundary"]

    def staggered(self, name: str, count: int = 2) -> bool:
        """Tell whether the last boundaries lay nearer to its own moment than to the other's."""
        last = self.boundaries(name)[-count:]
        return len(last) == count and all(abs(error) < PERIOD_SECONDS / 4 for error in last)

    def close(self) -> None:
        for each in self.running.values():
            each.kill()


class Load:
    """Orders that each cross their limit, at an even pace, until it is ended."""

    def __init__(self, place: Place) -> None:
        self._sender = Sender(place)
        self._end = threading.Event()
        self.sent: list[str] = []
        self._thread = threading.Thread(target=self._send, daemon=True)
        self._thread.start()

    def end(self) -> set[str]:
        """Stop; return all orders that must have alerted."""
        self._end.set()
        self._thread.join(30)
        self._sender.flush()
        return set(self.sent)

    def _send(self) -> None:
        for number in itertools.count():
            if self._end.wait(EVERY_SECONDS):
                return
            order = f"order-{number}"
            self._sender.request(order, 1)
            self._sender.purchase(f"{order}-p", order, 2)
            self.sent.append(order)


class Raised(Findings):
    """What the two of a pair raised, by auditor."""

    def __init__(self, pair: Pair) -> None:
        super().__init__(pair.place)
        self.names = {pair.ident(name): name for name in "ab"}
        self.by: dict[str, set[str]] = {"a": set(), "b": set()}

    def read(self) -> dict[str, set[str]]:
        """Return the orders that each has raised so far."""
        for alert in self.fresh():
            if name := self.names.get(alert.auditor):
                self.by[name].add(alert.key["order_id"])
        return self.by

    def either(self) -> set[str]:
        """Return the orders that any of them has raised."""
        return set().union(*self.read().values())
