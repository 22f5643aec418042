"""What Nagios' status file proves, held against a model of a Nagios that reads what it is given."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from services.backbone.clock import ManualClock
from services.deliverer.channel import Absent, Doubt, Message, SendWindow, Taken, Unclear
from services.deliverer.channels.nagios import NagiosChannel, NagiosSettings
from services.deliverer.channels.nagios.status_file import Shown, Status, StatusFile, read_status
from services.deliverer.channels.nagios.witness import (
    CLOCKS_APART_SECONDS,
    READ_WITHIN_SECONDS,
    judged,
)
from services.deliverer.channels.nagios.wording import Place, mark
from services.deliverer.outcomes import Permanent
from tests.seen import Seen
from tests.unit.deliverer.builders import delivery

ONE = delivery(1, channel="nagios", recipient="h/s")
PLACE = Place("h", "s")
WRITTEN = """
info {
\tcreated=500
\tversion=4.4.6
\t}

programstatus {
\tprogram_start=100
\t}

hoststatus {
\thost_name=h
\tlast_check=7
\tplugin_output=fine = good
\t}

servicestatus {
\thost_name=h
\tservice_description=s
\tlast_check=400
\tplugin_output=WARNING: x [delivery 1]
\tlong_plugin_output=two\\nthree
\t}

contactstatus {
\thost_name=none
\t}
"""


def test_a_status_file_is_read() -> None:
    status = read_status(WRITTEN.splitlines())
    assert (status.created_seconds, status.started_seconds) == (500, 100)
    assert set(status.shown) == {Place("h"), PLACE}
    assert status.shown[Place("h")] == Shown(7, "fine = good")
    assert status.shown[PLACE].last_check_seconds == 400
    assert "[delivery 1]" in status.shown[PLACE].text


@given(st.text() | st.text("{}=\n \tinfoservicestatus", max_size=200))
@example(f"info {{\ncreated={'1' * 5000}\n}}")
def test_any_text_is_read_or_passed_over(text: str) -> None:
    read_status(text.splitlines())


def test_it_is_read_again_only_when_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "status.dat"
    file.write_text(WRITTEN)
    status_file = StatusFile(file)
    assert status_file.read() is status_file.read()
    new = tmp_path / "new"
    new.write_text(WRITTEN.replace("created=500", "created=600"))
    new.replace(file)
    assert status_file.read().created_seconds == 600


def test_the_id_in_the_status_is_proof() -> None:
    status = Status(1, 1, {PLACE: Shown(1, f"x {mark(ONE.delivery_id)}")})
    assert isinstance(judged(status, Doubt(ONE, 1, 0, 0)), Taken)


def test_an_unknown_service_proves_nothing() -> None:
    assert isinstance(judged(Status(10**9, 1), Doubt(ONE, 1, 0, 0)), Unclear)


SECONDS_APART = st.sampled_from([-30, -2, -1, 0, 1, 30]) | st.integers(-60, 60)
SEEN = Seen()


@pytest.mark.promise("evidence", "nagios")
@SEEN.must_be(Absent, Taken, Unclear)
@given(
    claimed=st.integers(1000, 1100),
    lease=st.integers(1, 100),
    started_apart=SECONDS_APART,
    created_apart=SECONDS_APART,
    taken_after=st.sampled_from([None, 0, 99]) | st.integers(0, 99),
    clock_apart=st.sampled_from([-CLOCKS_APART_SECONDS, 0, CLOCKS_APART_SECONDS]),
    read_after=st.sampled_from([0, READ_WITHIN_SECONDS]),
    overwritten=st.booleans(),
)
@example(1000, 100, -30, -2, 99, CLOCKS_APART_SECONDS, READ_WITHIN_SECONDS, False)
@settings(max_examples=200)
def test_absent_is_never_said_of_what_was_taken(
    claimed: int,
    lease: int,
    started_apart: int,
    created_apart: int,
    taken_after: int | None,
    clock_apart: int,
    read_after: int,
    overwritten: bool,
) -> None:
    """Model: what is handed over within the lease is read within the time from then, or from the
    start of Nagios; our clock, which dates results, and the ledger's may be apart. Nagios starts,
    and writes, before and after each moment from which the judgement changes."""
    settled = claimed + lease + CLOCKS_APART_SECONDS
    started = settled + started_apart
    created = max(settled, started) + READ_WITHIN_SECONDS + created_apart
    last, text = 0, "older"
    if taken_after is not None:
        handed_over = claimed + clock_apart + min(taken_after, lease - 1)
        read_at = max(handed_over, started) + read_after
        if read_at <= created:
            last, text = handed_over, mark(ONE.delivery_id)
        if read_at <= created and overwritten:
            last, text = last + 1, "younger"
    status = Status(created, started, {PLACE: Shown(last, text)})
    doubt = Doubt(ONE, 1, claimed * 1000, (claimed + lease) * 1000)
    finding = judged(status, doubt)
    SEEN.add(type(finding))
    if isinstance(finding, Absent):
        assert taken_after is None
    if isinstance(finding, Taken):
        assert taken_after is not None


@pytest.mark.promise("evidence", "nagios")
def test_absence_is_proven_at_last() -> None:
    status = Status(10_000, 100, {PLACE: Shown(400, "older")})
    assert isinstance(judged(status, Doubt(ONE, 1, 5_000_000, 5_030_000)), Absent)


@pytest.mark.promise("permanent", "nagios")
async def test_an_unknown_service_is_refused_for_good(tmp_path: Path) -> None:
    file = tmp_path / "status.dat"
    file.write_text(WRITTEN)
    settings = NagiosSettings(nagios_spool=tmp_path, nagios_status_file=file)
    channel = NagiosChannel(settings, ManualClock())
    clock = ManualClock()
    window = SendWindow(clock, clock.monotonic_seconds() + 1)
    outcome = await channel.send(Message(delivery(1, recipient="h/nosuch"), 1), window)
    assert isinstance(outcome, Permanent)
    assert "define it" in outcome.reason


@pytest.mark.parametrize("logged", [True, False])
async def test_the_log_is_evidence(tmp_path: Path, logged: bool) -> None:
    log = tmp_path / "nagios.log"
    log.write_text(f"SERVICE ALERT: h;s;x {mark(ONE.delivery_id)}\n" if logged else "nothing\n")
    settings = NagiosSettings(nagios_spool=tmp_path, nagios_log_file=log)
    finding = await NagiosChannel(settings, ManualClock()).look_up(Doubt(ONE, 1, 0, 0))
    assert isinstance(finding, Taken if logged else Unclear)
