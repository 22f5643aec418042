"""What all metrics share; each program names its own in its file `metrics.py`."""

from typing import Final

LATENCY_BUCKETS_SECONDS: Final = (
    0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.025, 0.05,
    0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
)  # fmt: skip
"""Buckets around the promise of 5 ms, and up to a minute for faults."""
