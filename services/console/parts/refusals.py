"""How many events were refused lately, by what gateways' counters grow from look to look."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from services.console.parts.looking import Look, Target
from services.console.parts.samples import Samples, growth, named

LATELY_SECONDS: Final = 3600.0

Counts = Mapping[str, float]
"""Events by stream."""


@dataclass
class Refusals:
    """Keeps what was refused in the last hour.

    What a process had counted when it was first seen is left out: nobody knows since when.
    """

    seconds: float = LATELY_SECONDS
    _counted: dict[Target, Counts] = field(default_factory=dict)
    _rounds: deque[tuple[float, Counts]] = field(default_factory=deque)

    def keep(self, seen: Sequence[Look]) -> None:
        """Add what was refused since the looks before; forget what is too old or gone."""
        # A ready process may have counted nothing yet; what one that did not answer counts
        # meanwhile comes with its next answer.
        answered = [look for look in seen if look.found or look.ready]
        told = {look.target: refused(look.found) for look in answered}
        grown = _summed(
            {name: growth(before.get(name, 0.0), count) for name, count in counts.items()}
            for target, counts in told.items()
            if (before := self._counted.get(target)) is not None
        )
        known = {each.target for each in seen} & self._counted.keys()
        self._counted = {each: self._counted[each] for each in known} | told
        self._keep_round(max((look.at_seconds for look in seen), default=0.0), grown)

    def _keep_round(self, at_seconds: float, grown: Counts) -> None:
        if any(grown.values()):
            self._rounds.append((at_seconds, grown))
        while self._rounds and at_seconds - self._rounds[0][0] > self.seconds:
            self._rounds.popleft()

    def lately(self) -> Counts:
        """Return how many of each stream: nought too, where a gateway has had events of it."""
        nought = (dict.fromkeys(counts, 0.0) for counts in self._counted.values())
        return _summed([*nought, *(grown for _, grown in self._rounds)])


def refused(found: Samples) -> Counts:
    """Return how many events of each stream a process has refused since its start."""
    return {
        labels["stream"]: value
        for labels, value in named(found, "aldebaran_gateway_events_total")
        if labels.get("result") == "rejected" and "stream" in labels
    }


def _summed(several: Iterable[Counts]) -> Counts:
    made: dict[str, float] = {}
    for counts in several:
        for name, count in counts.items():
            made[name] = made.get(name, 0.0) + count
    return made
