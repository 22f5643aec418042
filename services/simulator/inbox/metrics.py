"""The inbox's metrics."""

from prometheus_client import Counter

ARRIVALS = Counter(
    "aldebaran_inbox_arrivals_total",
    "Messages that came all the way in, by way and what became of them.",
    ["way", "verdict"],
)
