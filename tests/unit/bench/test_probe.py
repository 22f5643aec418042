"""What a reader makes of the alerts that come by."""

import json

from tests.bench.probe import Found
from tests.bench.traffic import probe_order


def alert(order: str, auditor: str) -> bytes:
    return json.dumps({"key": {"order_id": order}, "auditor": auditor}).encode()


def test_first_readings_are_kept_of_all_and_of_each_auditor() -> None:
    found = Found()
    for auditor, now_ns in (("a", 10), ("b", 12), ("a", 15)):
        found.note_alert(alert(probe_order("r", 7), auditor), "r", now_ns)
    assert (found.alert_ns, found.raised_ns) == ({7: 10}, {"a": {7: 10}, "b": {7: 12}})
    assert (found.again, found.strange) == (2, 0)


def test_what_an_earlier_run_raised_is_again_and_no_probes_order_is_strange() -> None:
    found = Found()
    found.note_alert(alert(probe_order("warm", 7), "a"), "r", 10)
    assert (found.alert_ns, found.again, found.strange) == ({}, 1, 0)
    found.note_alert(alert("load1000-7", "a"), "r", 11)
    assert (found.alert_ns, found.again, found.strange) == ({}, 1, 1)
