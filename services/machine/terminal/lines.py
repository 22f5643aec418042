"""One readable line per alert and per move of a delivery."""

from datetime import UTC, datetime

from services.contracts.records import Alert, DeliveryEvent

SHOWN_ID_LENGTH = 8
LINE_LIMIT = 240


def alert_line(alert: Alert) -> str:
    """Write an alert as when, how urgent, which watch, what; with how long finding it took."""
    took = alert.detected_at_ms - alert.appended_at_ms
    return _line(
        alert.detected_at_ms,
        f"ALERT     {alert.alert_id[:SHOWN_ID_LENGTH]} {alert.severity} {alert.watch}:"
        f" {alert.summary} [{took} ms]",
    )


def delivery_line(event: DeliveryEvent) -> str:
    """Write a move of a delivery as when, which alert, to whom, from where to where, and why."""
    before = f"{event.before} -> " if event.before else ""
    reason = f" ({event.reason})" if event.reason else ""
    return _line(
        event.at_ms,
        f"delivery  {event.alert_id[:SHOWN_ID_LENGTH]} {event.channel} to {event.recipient}:"
        f" {before}{event.after}{reason}",
    )


def _line(at_ms: int, text: str) -> str:
    """What came from outside must not steer the terminal or flood it."""
    when = datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%H:%M:%S")
    safe = "".join(letter if letter.isprintable() else "?" for letter in text)
    return f"{when}  {safe if len(safe) <= LINE_LIMIT else safe[: LINE_LIMIT - 3] + '...'}"
