"""The Nagios channel from end to end: a real process, ledger and Nagios, by either way."""

import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from services.contracts.records import Delivery, Severity
from services.contracts.states import State
from services.deliverer.channels.nagios.spool import file_name
from services.deliverer.channels.nagios.wording import mark
from tests.integration.deliverer.conftest import Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.waiting import until
from tests.integration.nagios import Nagios, complaint
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres, pytest.mark.nagios]
WATCH = "aldebaran/over-purchase"
ATTEMPTS = "SELECT * FROM attempts"
_STALL = """
CREATE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS
  'BEGIN PERFORM pg_sleep(600); RETURN NEW; END';
CREATE TRIGGER stall BEFORE UPDATE ON deliveries FOR EACH ROW
  WHEN (NEW.state = 'SENT') EXECUTE FUNCTION stall()"""
"""Nothing can be recorded as sent."""
_GO_ON = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid();
DROP TRIGGER stall ON deliveries"""


@pytest.fixture
def nagios(tmp_path: Path) -> Iterator[Nagios]:
    if wrong := complaint():
        pytest.skip(wrong)
    nagios = Nagios(tmp_path / "nagios")
    yield nagios
    nagios.kill()


def by(way: str, nagios: Nagios, **more: object) -> dict[str, object]:
    return {
        "nagios_way": way,
        "nagios_spool": nagios.spool,
        "nagios_command_file": nagios.command_file,
        "nagios_log_file": nagios.log_file,
        "nagios_status_file": nagios.status_file,
        **more,
    }


def rests_in(ledger: Ledger, *states: State) -> Callable[[], bool]:
    return lambda: set(ledger.states().values()) <= set(states)


def to(recipient: str, number: int, severity: Severity = Severity.CRITICAL) -> Delivery:
    text = "ten; nine|allowed\nsecond \\ line"
    return delivery(number, "nagios", recipient, severity, text)


def alerts(nagios: Nagios, one: Delivery) -> list[str]:
    return nagios.logged("SERVICE ALERT", mark(one.delivery_id))


@pytest.mark.parametrize("way", ["spool", "command"])
def test_each_delivery_is_one_check_result(
    start: Start, ledger: Ledger, nagios: Nagios, way: str
) -> None:
    nagios.start()
    sent = [to(WATCH, number) for number in range(5)]
    down = to("machine", 5)
    unknown = to("aldebaran/no-such-watch", 6)
    ledger.add(*sent, down, unknown)
    start("nagios", **by(way, nagios))
    until(rests_in(ledger, State.SENT, State.FAILED), "at rest")
    assert ledger.row(unknown)["state"] == State.FAILED
    until(lambda: all(alerts(nagios, each) for each in sent), "all have alerted")
    assert {len(alerts(nagios, each)) for each in sent} == {1}
    until(lambda: mark(down.delivery_id) in nagios.shown("machine").text, "the host shows it")
    until(lambda: r"second \\ line" in nagios.shown(WATCH).text, "the text is shown whole")
    notified = partial(nagios.logged, "SERVICE NOTIFICATION", "CRITICAL")
    until(lambda: len(notified()) >= len(sent), "all are notified of")
    assert len(notified()) == len(sent)


@pytest.mark.promise("without_faults", "nagios")
def test_a_result_survives_an_outage_of_nagios_longer_than_its_limit_of_age(
    start: Start, ledger: Ledger, nagios: Nagios
) -> None:
    """Nagios is told to delete what is older than a second, and so are the test's results."""
    nagios.start()
    nagios.kill()
    one = to(WATCH, 1)
    ledger.add(one)
    start("nagios", **by("spool", nagios))
    until(rests_in(ledger, State.SENT), "sent")
    sign = nagios.spool / f"{file_name(one.delivery_id)}.ok"
    written_at = sign.stat().st_mtime
    until(lambda: _now(nagios) > written_at + 2, "older than the limit")
    nagios.start()
    until(lambda: alerts(nagios, one), "alerted")
    until(lambda: not os.listdir(nagios.spool), "the spool is read empty")
    assert len(alerts(nagios, one)) == 1


def _now(nagios: Nagios) -> float:
    probe = nagios.folder / "now"
    probe.touch()
    return probe.stat().st_mtime


@pytest.mark.promise("not_taken", "nagios")
def test_without_a_reader_a_command_waits_in_the_ledger(
    start: Start, ledger: Ledger, nagios: Nagios
) -> None:
    nagios.start()
    nagios.kill()
    assert nagios.command_file.is_fifo()
    one = to(WATCH, 1)
    ledger.add(one)
    start("nagios", attempts_limit=1000, **by("command", nagios))
    until(lambda: len(ledger.attempts(one)) > 1, "tried again")
    assert "does not read its command file" in ledger.attempts(one)[0]["reason"]
    nagios.start()
    until(rests_in(ledger, State.SENT), "sent")
    until(lambda: alerts(nagios, one), "alerted")
    assert len(alerts(nagios, one)) == 1


@pytest.mark.promise("evidence", "nagios")
@pytest.mark.parametrize(
    ("way", "read_meanwhile"), [("spool", True), ("spool", False), ("command", True)]
)
def test_taken_and_never_recorded_is_found_again(
    start: Start, ledger: Ledger, nagios: Nagios, way: str, read_meanwhile: bool
) -> None:
    """Killed between the hand-over and the record; the log, or else the spool, is the evidence."""
    nagios.start()
    if not read_meanwhile:
        nagios.kill()
    one = to(WATCH, 1)
    ledger.add(one)
    ledger.execute(_STALL)
    first = start("nagios", ready=False, **by(way, nagios))
    if read_meanwhile:
        until(lambda: alerts(nagios, one), "alerted")
    else:
        until(lambda: list(nagios.spool.glob("*.ok")), "let go")
    first.end(signal.SIGKILL)
    ledger.execute(_GO_ON)
    ledger.end_leases()
    start("nagios", **by(way, nagios))
    until(rests_in(ledger, State.SENT), "found")
    if not read_meanwhile:
        nagios.start()
        until(lambda: alerts(nagios, one), "alerted")
    assert len(alerts(nagios, one)) == 1
    assert len(ledger.attempts(one)) == 1


@pytest.mark.promise("after_doubt", "nagios")
@pytest.mark.promise("in_doubt", "nagios")
def test_killed_deliverers_leave_at_most_one_result(
    start: Start, ledger: Ledger, nagios: Nagios
) -> None:
    """Killed somewhere between claim and record, again and again; Nagios reads at its own time."""
    nagios.start()
    sent = [to(WATCH, number, Severity.WARNING) for number in range(60)]
    ledger.add(*sent)
    short = {"send_timeout_seconds": 0.5, "lease_seconds": 1, "concurrency": 4}
    for _ in range(3):
        killed = start("nagios", ready=False, **by("spool", nagios, **short))
        has_begun = partial(_more_attempts_than, ledger, len(ledger.rows(ATTEMPTS)))
        until(has_begun, "has begun")
        killed.end(signal.SIGKILL)
    start("nagios", **by("spool", nagios, **short))
    until(rests_in(ledger, State.SENT, State.HELD), "at rest")
    sure = [each for each in sent if ledger.row(each)["state"] == State.SENT]
    until(lambda: all(alerts(nagios, each) for each in sure), "what is sent has alerted")
    until(lambda: not list(nagios.spool.glob("*.ok")), "all that was let go is read")
    assert all(len(alerts(nagios, each)) <= 1 for each in sent)


def _more_attempts_than(ledger: Ledger, before: int) -> bool:
    return len(ledger.rows(ATTEMPTS)) > before
