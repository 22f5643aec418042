"""An alert's way through the parts, as moments in the sequence of their times."""

from dataclasses import dataclass
from typing import Final

from services.backbone.ledger.rows import AlertDetail, AttemptRow, DecisionRow, DeliveryRow

TONES: Final = {
    "SENT": "good",
    "CONFIRMED": "good",
    "FAILED": "bad",
    "IN_DOUBT": "bad",
    "HELD": "bad",
    "RETRY_WAIT": "warn",
    "SUPPRESSED": "warn",
}


@dataclass(frozen=True, slots=True)
class Moment:
    """One thing that happened; `after_ms` counts from the newest event's append."""

    at_ms: int
    after_ms: int
    what: str
    detail: str = ""

    @property
    def tone(self) -> str:
        """How it is to be taken: good, bad, warn, or nothing of these."""
        return TONES.get(self.what.upper(), "")


def timeline(detail: AlertDetail) -> list[Moment]:
    """Return appended, detected, accepted, every decision, and every attempt's claim and end."""
    alert = detail.alert
    recipients = {each.delivery_id: each for each in detail.deliveries}
    happened = [
        (alert.appended_at_ms, "appended", "the newest event behind it"),
        (alert.detected_at_ms, "detected", f"by auditor {detail.record.get('auditor', '')}"),
        (alert.accepted_at_ms, "accepted", f"routes: {detail.routed_by}"),
    ]
    for attempt in detail.attempts:
        happened += _tried(attempt, recipients.get(attempt.delivery_id))
    happened += [_decided(each, recipients) for each in detail.decisions]
    start = alert.appended_at_ms
    ordered = sorted(happened, key=lambda moment: moment[0])
    return [Moment(at_ms, at_ms - start, what, text) for at_ms, what, text in ordered]


def _decided(decision: DecisionRow, recipients: dict[str, DeliveryRow]) -> tuple[int, str, str]:
    delivery = recipients.get(decision.delivery_id or "")
    whom = f"{delivery.channel} to {delivery.recipient}: " if delivery else ""
    return decision.at_ms, decision.decided.lower(), f"{whom}{decision.why}"


def _tried(attempt: AttemptRow, delivery: DeliveryRow | None) -> list[tuple[int, str, str]]:
    whom = f"{delivery.channel} to {delivery.recipient}" if delivery else attempt.delivery_id
    moments = [(attempt.claimed_at_ms, "claimed", f"{whom}, attempt {attempt.attempt}")]
    if attempt.finished_at_ms is not None:
        said = ": ".join(text for text in (whom, attempt.reason or attempt.provider_id) if text)
        moments.append((attempt.finished_at_ms, (attempt.outcome or "ended").lower(), said))
    return moments
