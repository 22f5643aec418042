"""What must hold for a run's alerts and deliveries, counted in the ledger and at the far end."""

from services.simulator.report import Report
from tests.acceptance.system import CHANNELS, DELIVERED, System
from tests.chaos.counting import repeats_silent


def reconcile(system: System, report: Report) -> None:
    """Wait until everything of a run is settled, then count: none missing, none twice, none else.

    The run must know the answer to every message (`unknown` is 0).
    """
    assert report.unknown == 0, report
    expected = set(report.expected_alert_ids)
    assert len(expected) == report.expected_alerts
    pattern = f"%{report.run_id}-%"
    system.wait_for(
        lambda: alerted(system, pattern) >= expected,
        f"not each of {len(expected)} findings alerted",
    )
    system.wait_for(
        lambda: open_deliveries(system, pattern) == [],
        "deliveries stay open",
    )
    found = alerted(system, pattern)
    assert found == expected, summaries(system, found - expected)
    assert delivered(system, pattern) == len(expected) * len(CHANNELS)
    received_once(system, expected)


def alerted(system: System, pattern: str) -> set[str]:
    """Return the ids of the alerts about a run's keys."""
    rows = system.ask(
        "SELECT alert_id FROM alerts WHERE watch = 'over-purchase' AND record->>'key' LIKE %s",
        pattern,
    )
    return {row[0] for row in rows}


def summaries(system: System, alerts: set[str]) -> list[dict[str, object]]:
    """Return alerts whole, to be shown."""
    return [
        row[0]
        for row in system.ask("SELECT record FROM alerts WHERE alert_id = ANY(%s)", list(alerts))
    ]


def open_deliveries(system: System, pattern: str) -> list[tuple[str, ...]]:
    """Return the deliveries of a run that are not sent."""
    return system.ask(
        "SELECT delivery_id, channel, state, reason FROM deliveries JOIN alerts USING (alert_id)"
        " WHERE watch = 'over-purchase' AND alerts.record->>'key' LIKE %s AND state <> ALL(%s)",
        pattern,
        DELIVERED,
    )


def delivered(system: System, pattern: str) -> int:
    """Return how many deliveries of a run are sent."""
    rows = system.ask(
        "SELECT count(*) FROM deliveries JOIN alerts USING (alert_id)"
        " WHERE watch = 'over-purchase' AND alerts.record->>'key' LIKE %s AND state = ANY(%s)",
        pattern,
        DELIVERED,
    )
    return int(rows[0][0])


def received_once(system: System, alerts: set[str]) -> None:
    """Hold the ledger against what really arrived: each message once, one that the ledger has as a
    marked repeat twice at most."""
    received = system.get("inbox", "/received")
    rows = system.ask(
        "SELECT delivery_id, channel, marked_repeat FROM deliveries"
        " WHERE alert_id = ANY(%s) AND channel IN ('webhook', 'email')",
        list(alerts),
    )
    for delivery, channel, marked in rows:
        count = received["hook" if channel == "webhook" else "mail"]["ids"].get(delivery, 0)
        said = (delivery, channel, marked, count)
        assert count, said
        assert not repeats_silent(count, marked), said
