"""What a run did, for people and for tests that reconcile counts."""

from pydantic import BaseModel, ConfigDict

from services.contracts.ids import alert_id
from services.simulator.history import Kind
from services.simulator.tally import Outcome, Tally


class Report(BaseModel):
    """A run's counts; all are exact, only the lists of ids are bounded.

    `sent` counts messages that left at least once; each then is in exactly one of `accepted`,
    `rejected` and `unknown` (no answer at the end). `requests`, `purchases`, `duplicates` and
    `malformed` split `sent`. `expected_alerts` follows from the accepted messages alone;
    `doubtful_order_ids` are orders whose verdict hangs on an unknown message.
    """

    model_config = ConfigDict(frozen=True)

    run_id: str
    seed: int
    target: str
    seconds: float
    rate_per_second: float
    lag_max_seconds: float
    sent: int
    accepted: int
    rejected: int
    unknown: int
    retried: int
    requests: int
    purchases: int
    duplicates: int
    malformed: int
    malformed_accepted: int
    expected_alerts: int
    expected_order_ids: list[str]
    expected_alert_ids: list[str]
    doubtful_order_ids: list[str]

    def text(self) -> str:
        """Return the summary that a person reads."""
        return (
            f"run {self.run_id}: {self.sent} messages to {self.target} in {self.seconds:.1f} s"
            f" ({self.rate_per_second:,.0f}/s), latest {self.lag_max_seconds * 1000:.0f} ms late\n"
            f"  answers   accepted {self.accepted}, rejected {self.rejected},"
            f" unknown {self.unknown}, sent again {self.retried}\n"
            f"  messages  requests {self.requests}, purchases {self.purchases},"
            f" duplicates {self.duplicates}, malformed {self.malformed}\n"
            f"  must alert {self.expected_alerts} orders{self._first_ids()}\n"
        )

    def _first_ids(self) -> str:
        first = ", ".join(self.expected_order_ids[:3])
        return f": {first}{', …' if self.expected_alerts > 3 else ''}" if first else ""


def report_of(
    tally: Tally,
    *,
    run_id: str,
    seed: int,
    target: str,
    watch: str,
    seconds: float,
    lag_max_seconds: float,
    retried: int,
) -> Report:
    """Put a run's report together."""
    sent = sum(tally.sent)
    return Report(
        run_id=run_id,
        seed=seed,
        target=target,
        seconds=round(seconds, 3),
        rate_per_second=round(sent / seconds, 1) if seconds > 0 else 0.0,
        lag_max_seconds=round(lag_max_seconds, 6),
        sent=sent,
        accepted=sum(tally.outcomes[Outcome.ACCEPTED]),
        rejected=sum(tally.outcomes[Outcome.REJECTED]),
        unknown=sum(tally.outcomes[Outcome.UNKNOWN]),
        retried=retried,
        requests=tally.sent[Kind.REQUEST],
        purchases=tally.sent[Kind.PURCHASE],
        duplicates=tally.sent[Kind.DUPLICATE],
        malformed=tally.sent[Kind.MALFORMED],
        malformed_accepted=tally.outcomes[Outcome.ACCEPTED][Kind.MALFORMED],
        expected_alerts=tally.expected_alerts,
        expected_order_ids=tally.expected_order_ids,
        expected_alert_ids=[alert_id(watch, [each]) for each in tally.expected_order_ids],
        doubtful_order_ids=tally.doubtful_order_ids,
    )
