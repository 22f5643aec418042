"""The accountant's metrics; alert when `aldebaran_accountant_accounted_at_seconds` stands still."""

from typing import Final

from prometheus_client import Counter, Gauge

ACCOUNTED_AT: Final = Gauge(
    "aldebaran_accountant_accounted_at_seconds",
    "When the last whole accounting ended, in seconds since 1970 (UTC)",
)
FINDINGS: Final = Gauge("aldebaran_accountant_findings", "What is wrong now, by kind", ["kind"])
ALERTS: Final = Counter("aldebaran_accountant_alerts_total", "Records of topic alerts compared")
RAISED: Final = Counter(
    "aldebaran_accountant_raised_total", "Messages about findings, by channel", ["channel"]
)
UNRAISABLE: Final = Gauge(
    "aldebaran_accountant_without_recipients", "1 if nobody is set to be told of findings"
)
HEARTBEATS: Final = Counter(
    "aldebaran_accountant_heartbeats_total",
    "Heartbeats to the dead man's URL, by outcome",
    ["outcome"],
)
PRUNED: Final = Counter(
    "aldebaran_accountant_pruned_total", "Alerts removed beyond the ledger's retention"
)
