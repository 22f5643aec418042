"""How many events were refused lately, by what gateways' counters grow from look to look."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from services.console.parts.looking import Look, Target
from services.console.parts.samples import Samples, growth, named

LATELY_SECONDS: Final = 3600.0

Counts = Mapping[str, float]
"""Events by stream."""


@dataclass(frozen=True, slots=True)
class Tally:
    """One process' count for one stream: at one address another process may answer each time, so
    what tells them apart is when they began to count.
    """

    target: Target
    stream: str
    born_seconds: float
    """Since 1970; 0 where it is not told."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a counter stood at when it was last read."""

    at_seconds: float
    count: float


@dataclass
class Refusals:
    """Keeps what was refused in the last hour, as far as gateways' counters were met.

    What one that is older had counted when it was first met is left out: nobody knows since when.
    """

    seconds: float = LATELY_SECONDS
    _read: dict[Tally, Read] = field(default_factory=dict)
    _rounds: deque[tuple[float, Counts]] = field(default_factory=deque)

    def keep(self, seen: Sequence[Look], now_ms: int) -> None:
        """Add what was refused since the looks before; forget what is too old."""
        at_seconds = max((look.at_seconds for look in seen), default=0.0)
        told = {each: count for look in seen for each, count in refused(look)}
        grown = _summed(
            (each.stream, self._growth(each, count, now_ms)) for each, count in told.items()
        )
        # A process that answers no more may be met again, and go on from where it was.
        read = self._read | {each: Read(at_seconds, count) for each, count in told.items()}
        self._read = {each: it for each, it in read.items() if self._lately(at_seconds, it)}
        self._keep_round(at_seconds, grown)

    def _growth(self, tally: Tally, count: float, now_ms: int) -> float:
        if before := self._read.get(tally):
            return growth(before.count, count)
        return count if now_ms / 1000 - tally.born_seconds <= self.seconds else 0.0

    def _lately(self, at_seconds: float, read: Read) -> bool:
        return at_seconds - read.at_seconds <= self.seconds

    def _keep_round(self, at_seconds: float, grown: Counts) -> None:
        if any(grown.values()):
            self._rounds.append((at_seconds, grown))
        while self._rounds and at_seconds - self._rounds[0][0] > self.seconds:
            self._rounds.popleft()

    def lately(self) -> Counts:
        """Return how many of each stream: nought too, where a gateway has had events of it."""
        nought = ((tally.stream, 0.0) for tally in self._read)
        return _summed([*nought, *(each for _, grown in self._rounds for each in grown.items())])


def refused(look: Look) -> Iterator[tuple[Tally, float]]:
    """Return how many events of each stream a process has refused since it began to count."""
    born = dict(_rejected(look.found, "aldebaran_gateway_events_created"))
    for stream, count in _rejected(look.found, "aldebaran_gateway_events_total"):
        yield Tally(look.target, stream, born.get(stream, 0.0)), count


def _rejected(found: Samples, name: str) -> Iterator[tuple[str, float]]:
    for labels, value in named(found, name):
        if labels.get("result") == "rejected" and "stream" in labels:
            yield labels["stream"], value


def _summed(counts: Iterable[tuple[str, float]]) -> Counts:
    made: dict[str, float] = {}
    for name, count in counts:
        made[name] = made.get(name, 0.0) + count
    return made
