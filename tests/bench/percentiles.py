"""What a list of latencies says."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Latency:
    """Latencies of probes, in milliseconds, by the nearest-rank method."""

    count: int
    p50_ms: float
    p99_ms: float
    p999_ms: float
    max_ms: float


def summary(samples_ns: Sequence[int]) -> Latency:
    """Summarise latencies given in nanoseconds; none at all are shown as endless."""
    ordered = sorted(samples_ns)

    def rank_ms(share: float) -> float:
        if not ordered:
            return math.inf
        return round(ordered[math.ceil(share * len(ordered)) - 1] / 1e6, 3)

    return Latency(
        count=len(ordered),
        p50_ms=rank_ms(0.5),
        p99_ms=rank_ms(0.99),
        p999_ms=rank_ms(0.999),
        max_ms=rank_ms(1),
    )
