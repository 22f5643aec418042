"""How long things take, and which planned fault hits what."""

import random
from collections import Counter
from dataclasses import dataclass, field

from tests.simulation.plan import Fault, Kind, Plan


@dataclass
class Weather:
    """Latencies drawn from the seed, and the faults that wait for a statement or a send."""

    plan: Plan
    rng: random.Random
    calm: bool = False
    """Whether the faults are over."""
    met: set[Kind] = field(default_factory=set)
    """The kinds that have struck."""
    _waiting: dict[tuple[str, str, int], Fault] = field(default_factory=dict)
    _counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        for fault in self.plan.faults:
            if fault.number:
                self._waiting[fault.who, fault.statement, fault.number] = fault

    def fault(self, who: str, statement: str) -> Fault | None:
        """Count one more of these, and return the fault that it meets."""
        if not self._waiting:
            return None
        self._counts[who, statement] += 1
        met = self._waiting.get((who, statement, self._counts[who, statement]))
        if met is None or self.calm:
            return None
        self.met.add(met.kind)
        return met

    def there(self) -> float:
        """Return the seconds until a statement is carried out; mostly at once."""
        return self.rng.random() * 0.2 if self.plan.jitter and self.rng.random() < 0.2 else 0.0

    def back(self) -> float:
        """Return the seconds that an answer takes."""
        return 0.001 + self.rng.random() * 0.02 if self.plan.jitter else 0.002
