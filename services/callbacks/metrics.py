"""The door's metrics."""

from prometheus_client import Counter, Histogram

from services.backbone.metrics import LATENCY_BUCKETS_SECONDS

CALLBACKS = Counter(
    "aldebaran_callbacks_total",
    "Callbacks by provider and what became of them: told, forged, unreadable, unknown,"
    " ledger_away.",
    ["provider", "outcome"],
)
MOVES = Counter(
    "aldebaran_callbacks_moves_total",
    "Deliveries that evidence moved, by provider and state after.",
    ["provider", "state"],
)
ANSWER_SECONDS = Histogram(
    "aldebaran_callbacks_answer_seconds",
    "Time to answer a callback, the ledger's commit included.",
    ["provider"],
    buckets=LATENCY_BUCKETS_SECONDS,
)
