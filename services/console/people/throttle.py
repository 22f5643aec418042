"""How often somebody may try a password: plain state over times that are passed in."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

REMEMBERED_LIMIT: Final = 10_000
"""Names and addresses whose failures are remembered; the one longest untouched is forgotten."""


FORGOTTEN_SECONDS: Final = 900.0
"""So long after a wait without a further failure those before count no more."""


@dataclass(frozen=True, slots=True)
class Caller:
    """As whom failures are counted, and the longest wait that they lead to."""

    known_as: str
    limit_seconds: float = 900.0


@dataclass(slots=True)
class _Failures:
    count: int = 0
    free_at: float = 0.0


@dataclass
class Throttle:
    """After some failures each further one doubles the wait, up to the caller's limit."""

    free_failures: int = 5
    first_seconds: float = 2.0
    _seen: "OrderedDict[Caller, _Failures]" = field(default_factory=OrderedDict)

    def wait_seconds(self, who: Caller, now: float) -> float:
        """Return how long this one has to wait before the next try; 0 for not at all."""
        failures = self._seen.get(who)
        if failures is None:
            return 0.0
        # A sum of floats may come back larger than what was added.
        return min(max(0.0, failures.free_at - now), who.limit_seconds)

    def failed(self, who: Caller, now: float) -> None:
        """Note a failure."""
        failures = self._seen.pop(who, None) or _Failures()
        if now - failures.free_at > FORGOTTEN_SECONDS:
            failures = _Failures()
        failures.count += 1
        beyond = failures.count - self.free_failures
        wait = self.first_seconds * 2 ** min(beyond, 20) if beyond >= 0 else 0.0
        failures.free_at = now + min(wait, who.limit_seconds)
        self._seen[who] = failures
        if len(self._seen) > REMEMBERED_LIMIT:
            self._seen.popitem(last=False)

    def succeeded(self, who: Caller) -> None:
        """Forget the failures of one who is known now."""
        self._seen.pop(who, None)
