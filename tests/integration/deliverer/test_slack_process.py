"""The Slack channel from end to end: real processes against conversations with a history."""

import json
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.contracts.records import Severity
from services.contracts.states import State
from services.simulator.inbox.providers.slack import TOKEN
from tests.integration.deliverer.conftest import Bus, Start
from tests.integration.deliverer.inboxes import Inbox, playing
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.programs import DelivererProcess
from tests.integration.deliverer.waiting import until
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

ROOM = "C0123456789"
OTHER = "C9876543210"


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[Inbox]:
    with playing(tmp_path / "inbox") as inbox:
        yield inbox


def started(start: Start, inbox: Inbox, **more: object) -> DelivererProcess:
    settings: dict[str, object] = {
        "slack_url": inbox.url + "/slack",
        "slack_bot_token": TOKEN,
        "slack_channels": json.dumps({"on-call": ROOM}),
        "slack_seconds_between": 0,
        "slack_look_up_after_seconds": "[0.1, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 8, 16]",
        "slack_absence_seconds": 0.2,
        "in_doubt_deadline_seconds": 30,
        "attempts_limit": 1000,
    }
    return start("slack", **(settings | more))


def at_rest(ledger: Ledger, *states: State) -> bool:
    return set(ledger.states().values()) <= set(states)


def test_each_is_posted_once_and_the_token_is_told_nowhere(
    start: Start, bus: Bus, ledger: Ledger, inbox: Inbox
) -> None:
    deliverer = started(start, inbox, log_level="debug")
    sent = [delivery(n, "slack", "on-call") for n in range(20)]
    ledger.add(*sent)
    bus.tell([*sent, *sent])
    until(lambda: at_rest(ledger, State.SENT), "all sent")
    assert inbox.taken("slack") == Counter(each.delivery_id for each in sent)
    assert all(row["provider_id"].startswith(ROOM) for row in ledger.rows())
    assert deliverer.end() == 0
    assert TOKEN not in deliverer.log_file.read_text() + str(ledger.rows())


@pytest.mark.promise("evidence", "slack")
def test_taken_but_not_answered_the_history_proves_it(
    start: Start, ledger: Ledger, inbox: Inbox
) -> None:
    inbox.dial("slack", accept_then_drop_share=1, history_hides_seconds=1)
    sent = [delivery(n, "slack", ROOM) for n in range(3)]
    ledger.add(*sent)
    started(start, inbox, slack_absence_seconds=30)
    until(lambda: at_rest(ledger, State.SENT), "found in the history")
    assert inbox.taken("slack") == Counter(each.delivery_id for each in sent)


@pytest.mark.promise("evidence", "slack")
@pytest.mark.parametrize("error", ["internal_error", None])
def test_what_the_history_lacks_after_the_lease_is_sent_again(
    start: Start, ledger: Ledger, inbox: Inbox, error: str | None
) -> None:
    inbox.dial("slack", refuse_share=1, refuse_status=500, refuse_error=error)
    one = delivery(1, "slack", ROOM)
    ledger.add(one)
    started(start, inbox, send_timeout_seconds=1, lease_seconds=2)
    until(lambda: inbox.arrivals("slack"), "the first try came")
    inbox.dial("slack", refuse_share=0)
    until(lambda: at_rest(ledger, State.SENT), "sent")
    assert inbox.taken("slack") == Counter([one.delivery_id])
    assert not ledger.row(one)["marked_repeat"]


@pytest.mark.promise("after_doubt", "slack")
def test_where_the_history_cannot_be_read_it_is_held_or_marked(
    start: Start, ledger: Ledger, inbox: Inbox
) -> None:
    inbox.dial("slack", accept_then_drop_share=1, history_error="missing_scope")
    usual = delivery(1, "slack", ROOM)
    critical = delivery(2, "slack", ROOM, Severity.CRITICAL)
    ledger.add(usual, critical)
    started(start, inbox, in_doubt_deadline_seconds=1)
    until(lambda: at_rest(ledger, State.HELD), "held")
    assert inbox.taken("slack") == {usual.delivery_id: 1, critical.delivery_id: 2}
    marks = ["possible repeat" in each.body for each in inbox.arrivals("slack")]
    assert Counter(marks) == {False: 2, True: 1}


@pytest.mark.promise("not_taken", "slack")
def test_refused_for_now_it_is_sent_later_and_once(
    start: Start, ledger: Ledger, inbox: Inbox
) -> None:
    one, other = delivery(1, "slack", ROOM), delivery(2, "slack", ROOM)
    inbox.dial("slack", refuse_share=1, refuse_status=429, retry_after_seconds=0)
    ledger.add(one)
    started(start, inbox)
    until(lambda: len(ledger.attempts(one)) >= 2, "tried again")
    inbox.dial("slack", refuse_status=503, refuse_error="invalid_auth")
    ledger.add(other)
    until(lambda: "slack_bot_token" in str(ledger.attempts(other)), "the setting is named")
    inbox.dial("slack", refuse_share=0)
    until(lambda: at_rest(ledger, State.SENT), "sent")
    assert inbox.taken("slack") == Counter([one.delivery_id, other.delivery_id])


@pytest.mark.promise("permanent", "slack")
def test_refused_for_good_it_fails_with_advice(start: Start, ledger: Ledger, inbox: Inbox) -> None:
    inbox.dial("slack", archived=[OTHER], refuse_share=1, refuse_error="not_in_channel")
    archived, uninvited, unknown = (
        delivery(n, "slack", recipient) for n, recipient in enumerate((OTHER, ROOM, "nobody"))
    )
    ledger.add(archived, uninvited, unknown)
    started(start, inbox)
    until(lambda: at_rest(ledger, State.FAILED), "failed")
    assert "is_archived" in ledger.row(archived)["reason"]
    assert "invite the bot" in ledger.row(uninvited)["reason"]
    assert "slack_channels" in ledger.row(unknown)["reason"]
    assert not inbox.taken("slack")


def test_killed_while_slack_holds_it_another_finds_it(
    start: Start, ledger: Ledger, inbox: Inbox
) -> None:
    inbox.dial("slack", delay_seconds=600)
    one = delivery(1, "slack", ROOM)
    ledger.add(one)
    first = started(start, inbox)
    until(lambda: inbox.arrivals("slack"), "it is read")
    first.end(signal.SIGKILL)
    ledger.end_leases()
    started(start, inbox)
    until(lambda: at_rest(ledger, State.SENT), "found in the history")
    assert inbox.taken("slack") == Counter([one.delivery_id])


def test_a_burst_to_one_conversation_waits_and_another_does_not(
    start: Start, ledger: Ledger, inbox: Inbox
) -> None:
    """One try is all that they have: to wait for a turn uses none up."""
    burst = [delivery(n, "slack", ROOM) for n in range(30)]
    aside = delivery(99, "slack", OTHER)
    ledger.add(*burst, aside)
    told = {"slack_seconds_between": 0.3, "send_timeout_seconds": 8, "concurrency": 64}
    deliverer = started(start, inbox, **told, attempts_limit=1)
    until(lambda: at_rest(ledger, State.SENT), "all sent")
    assert inbox.taken("slack") == Counter(each.delivery_id for each in [*burst, aside])
    assert len(ledger.attempts(aside)) == 1
    assert any(len(ledger.attempts(each)) > 1 for each in burst)
    assert not deliverer.metric("aldebaran_deliverer_breakers_open{")
