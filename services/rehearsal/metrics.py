"""The rehearsal program's metrics."""

from prometheus_client import Counter, Gauge

ENDED = Counter("aldebaran_rehearsals_total", "Rehearsals that ended, by outcome.", ["outcome"])
RUNS = Gauge("aldebaran_rehearsal_runs", "1 while one runs.")
