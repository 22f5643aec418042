"""A mirror: no alert waits for the other lookout, and what both read is kept and counted once."""

import re
import uuid

import pytest

from services.backbone.kafka.producer import Outgoing, Producer
from services.contracts import topics
from services.contracts.records import Alert, Rejected
from services.machine.supervision.child import Child
from tests.integration.lookout.findings import findings, wait_until_recorded, wanted
from tests.integration.lookout.later_rows import rows
from tests.integration.lookout.processes import Lookouts, Reader, eventually, page, write_alerts
from tests.integration.standing_still import standing_still

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

SEEN = re.compile(r"aldebaran_lookout_alerts_total\{[^}]*\} (\d+)")
COUNTED = """
SELECT auditor, sum(copies)::int FROM alert_repeats WHERE alert_id = ANY(%s)
GROUP BY auditor ORDER BY auditor"""


def start_both(lookouts: Lookouts, producer: Producer) -> tuple[Child, Child]:
    """Return a lookout and its mirror once both are reading."""
    first = lookouts.start()
    lookouts.settings["ALDEBARAN_ORDINAL"] = "1"
    mirror = lookouts.start()

    def both_read() -> bool:
        write_alerts(producer, findings(1))
        return all(map(seen, (first, mirror)))

    eventually(both_read, "one of them reads nothing")
    return first, mirror


def seen(lookout: Child) -> int:
    """Return how many records of alerts a lookout has settled."""
    return sum(map(int, SEEN.findall(page(lookout, "/metrics"))))


@pytest.mark.parametrize("still", [0, 1])
def test_no_alert_waits_for_one_that_stands_still(
    lookouts: Lookouts, producer: Producer, reader: Reader, ledger_url: str, still: int
) -> None:
    both = start_both(lookouts, producer)
    alerts = findings(200)
    with standing_still(both[still].process):
        write_alerts(producer, alerts)
        reader.wait_for(wanted(alerts))
    wait_until_recorded(ledger_url, alerts)


def test_nothing_is_lost_or_doubled_while_each_in_turn_is_killed(
    lookouts: Lookouts, producer: Producer, reader: Reader, ledger_url: str
) -> None:
    first, mirror = start_both(lookouts, producer)
    alerts = findings(900)
    write_alerts(producer, alerts[:300])
    lookouts.kill(first)
    write_alerts(producer, alerts[300:600])
    lookouts.settings["ALDEBARAN_ORDINAL"] = "0"
    lookouts.start()
    lookouts.kill(mirror)
    write_alerts(producer, alerts[600:])
    reader.wait_for(wanted(alerts))
    wait_until_recorded(ledger_url, alerts)


def test_what_both_read_is_kept_aside_and_counted_once(
    lookouts: Lookouts,
    producer: Producer,
    reader: Reader,
    ledger_url: str,
    kafka_bootstrap: str,
) -> None:
    first, _ = start_both(lookouts, producer)
    alerts, last, poison = findings(5), findings(1), uuid.uuid4().bytes
    ids = [each.alert_id for each in alerts]
    producer.write([Outgoing(topics.ALERTS, "x", poison)])
    write_alerts(producer, [_by(each, auditor) for auditor in "ab" for each in alerts])
    kept = Reader(kafka_bootstrap, [topics.rejected(topics.ALERTS)])
    eventually(lambda: _copies_of(kept, poison) > 0, "not kept aside")
    eventually(lambda: rows(ledger_url, COUNTED, ids) == [("b", 5)], "not counted")
    with standing_still(first.process):
        write_alerts(producer, last)
        reader.wait_for(wanted(last))
    lookouts.close()
    lookouts.running.clear()
    assert rows(ledger_url, COUNTED, ids) == [("b", 5)]
    assert _copies_of(kept, poison) == 1
    kept.close()


def _copies_of(kept: Reader, original: bytes) -> int:
    return [Rejected.decode(each.value).original for each in kept.found].count(original)


def _by(alert: Alert, auditor: str) -> Alert:
    return alert.model_copy(update={"auditor": auditor})
