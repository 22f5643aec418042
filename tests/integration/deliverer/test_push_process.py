"""The push channel from end to end: real processes, HTTP/2 over TLS, and phones that count."""

import json
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from services.contracts.records import Severity
from services.contracts.states import State
from tests.integration.deliverer.conftest import Bus, Start
from tests.integration.deliverer.inboxes import Inbox, playing
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.programs import DelivererProcess
from tests.integration.deliverer.refusing import told_at_the_start
from tests.integration.deliverer.waiting import until
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

PHONE = "ab" * 32
OTHER = "cd" * 32


@dataclass
class Apple:
    """The stand-in, and what a deliverer must be told to use it."""

    inbox: Inbox
    account: dict[str, str]
    settings: dict[str, str]

    def dial(self, **dials: object) -> None:
        self.inbox.dial("apns", **dials)

    def taken(self) -> Counter[str]:
        return self.inbox.taken("apns")

    def senders(self) -> dict[str, int]:
        found = self.inbox.get("/apns/senders")
        assert isinstance(found, dict)
        return found

    def phones(self) -> dict[str, Any]:
        found = self.inbox.get("/apns/phones")
        assert isinstance(found, dict)
        return found


@pytest.fixture
def apple(tmp_path: Path) -> Iterator[Apple]:
    with playing(tmp_path / "inbox") as inbox:
        account = inbox.get("/apns")
        assert isinstance(account, dict)
        certificate = tmp_path / "apple.pem"
        certificate.write_text(account["certificate"])
        settings = {
            "push_url": account["url"],
            "push_ca_file": str(certificate),
            "push_key": account["key"],
            "push_key_id": account["key_id"],
            "push_team_id": account["team_id"],
            "push_topic": account["topic"],
        }
        yield Apple(inbox, account, settings)


def started(start: Start, apple: Apple, **more: object) -> DelivererProcess:
    return start("push", **(apple.settings | more))


def at_rest(ledger: Ledger, *states: State) -> bool:
    return set(ledger.states().values()) <= set(states)


def test_each_is_pushed_once_over_one_connection_with_one_credential_and_no_secret_is_told(
    start: Start, bus: Bus, ledger: Ledger, apple: Apple
) -> None:
    devices = json.dumps({"on-call": {"token": PHONE}})
    deliverer = started(start, apple, push_devices=devices, log_level="debug")
    sent = [delivery(n, "push", "on-call") for n in range(40)]
    ledger.add(*sent)
    bus.tell([*sent, *sent])
    until(lambda: at_rest(ledger, State.SENT), "all sent")
    assert apple.taken() == Counter(each.delivery_id for each in sent)
    assert set(apple.phones()[PHONE]["screen"]) == {each.delivery_id for each in sent}
    assert apple.senders() == {"connections": 1, "credentials": 1}
    assert deliverer.end() == 0
    told = deliverer.log_file.read_text() + str(ledger.rows())
    assert PHONE not in told
    assert "bearer" not in told


@pytest.mark.promise("after_doubt", "push")
@pytest.mark.parametrize("fault", ["accept_then_drop_share", "silence_share", "goaway_taken_share"])
def test_taken_but_not_answered_it_goes_again_as_the_same_item(
    start: Start, ledger: Ledger, apple: Apple, fault: str
) -> None:
    apple.dial(**{fault: 1})
    one = delivery(1, "push", PHONE, Severity.CRITICAL)
    ledger.add(one)
    started(start, apple, send_timeout_seconds=2, attempts_limit=1000)
    until(lambda: apple.taken().total() >= 2, "the same ids again")
    apple.dial(**{fault: 0})
    until(lambda: at_rest(ledger, State.SENT), "sent")
    assert set(apple.phones()[PHONE]["screen"]) == {one.delivery_id}
    arrivals = apple.inbox.arrivals("apns")
    assert len({(each.body, each.headers["apns-id"]) for each in arrivals}) == 1
    assert not ledger.row(one)["marked_repeat"]


@pytest.mark.promise("not_taken", "push")
@pytest.mark.parametrize("fault", ["goaway_unseen_share", "refuse_stream_share"])
def test_a_stream_that_was_never_looked_at_is_sent_again_and_taken_once(
    start: Start, ledger: Ledger, apple: Apple, fault: str
) -> None:
    apple.dial(**{fault: 0.5})
    sent = [delivery(n, "push", PHONE) for n in range(10)]
    ledger.add(*sent)
    started(start, apple, concurrency=1, attempts_limit=1000)
    until(lambda: at_rest(ledger, State.SENT), "all sent")
    assert apple.taken() == Counter(each.delivery_id for each in sent)
    outcomes = {row["outcome"] for row in ledger.rows("SELECT * FROM attempts")}
    assert outcomes <= {"SENT", "RETRY_WAIT"}


@pytest.mark.parametrize("status", [429, 500, 503])
def test_refused_for_now_it_is_sent_later_and_once(
    start: Start, ledger: Ledger, apple: Apple, status: int
) -> None:
    apple.dial(refuse_share=1, refuse_status=status, retry_after_seconds=0)
    one = delivery(1, "push", PHONE)
    ledger.add(one)
    started(start, apple, attempts_limit=1000)
    until(lambda: len(ledger.attempts(one)) >= 2, "tried again")
    apple.dial(refuse_share=0)
    until(lambda: at_rest(ledger, State.SENT), "sent")
    assert apple.taken() == Counter([one.delivery_id])


@pytest.mark.parametrize("status", [400, 413])
def test_refused_for_good_it_fails_with_apples_reason(
    start: Start, ledger: Ledger, apple: Apple, status: int
) -> None:
    apple.dial(refuse_share=1, refuse_status=status)
    one, unknown = delivery(1, "push", PHONE), delivery(2, "push", "nobody")
    ledger.add(one, unknown)
    started(start, apple)
    until(lambda: at_rest(ledger, State.FAILED), "failed")
    assert str(status) in ledger.row(one)["reason"]
    assert "push_devices" in ledger.row(unknown)["reason"]
    assert len(apple.inbox.arrivals("apns")) == 1


@pytest.mark.promise("not_taken", "push")
def test_a_refused_credential_is_signed_anew_then_told_and_nothing_is_lost(
    start: Start, ledger: Ledger, apple: Apple
) -> None:
    apple.dial(refuse_share=1, refuse_status=403, refuse_reason="ExpiredProviderToken")
    one = delivery(1, "push", PHONE)
    ledger.add(one)
    started(start, apple, attempts_limit=1000)
    until(lambda: len(ledger.attempts(one)) > 2, "tried again")
    apple.dial(refuse_share=0)
    until(lambda: at_rest(ledger, State.SENT), "sent")
    assert apple.senders()["credentials"] == 2
    first, second, *_ = ledger.attempts(one)
    assert "signed anew" in first["reason"]
    assert "push_key_id" in second["reason"]
    assert apple.taken() == Counter([one.delivery_id])


@pytest.mark.promise("permanent", "push")
def test_a_dead_token_is_dropped_also_after_a_restart_until_a_new_one_is_set(
    start: Start, ledger: Ledger, apple: Apple
) -> None:
    apple.dial(dead_tokens={PHONE: 1_795_168_800_000})  # 2026-11-20T10:00:00Z
    first, second, third = (delivery(n, "push", "on-call") for n in range(3))
    device: dict[str, str] = {"token": PHONE}
    before = started(start, apple, push_devices=json.dumps({"on-call": device}))
    ledger.add(first)
    until(lambda: at_rest(ledger, State.FAILED), "the first failed")
    assert "2026-11-20T10:00:00" in ledger.row(first)["reason"]
    before.end()
    apple.dial(dead_tokens={})
    after = started(start, apple, push_devices=json.dumps({"on-call": device}))
    ledger.add(second)
    until(lambda: at_rest(ledger, State.FAILED), "the second failed")
    assert len(apple.inbox.arrivals("apns")) == 1, "the second was not even sent"
    after.end()
    newer = device | {"registered_at": "2026-11-20T10:00:01Z"}
    started(start, apple, push_devices=json.dumps({"on-call": newer}))
    ledger.add(third)
    until(lambda: ledger.row(third)["state"] == State.SENT, "the third is sent")
    assert apple.taken() == Counter([third.delivery_id])
    assert PHONE not in str(ledger.rows("SELECT * FROM dropped_addresses"))


@pytest.mark.promise("after_doubt", "push")
def test_a_phone_that_is_off_gets_only_the_newest(
    start: Start, ledger: Ledger, apple: Apple
) -> None:
    apple.dial(offline=True)
    sent = [delivery(n, "push", PHONE) for n in range(3)]
    ledger.add(*sent)
    started(start, apple)
    until(lambda: at_rest(ledger, State.SENT), "all sent")
    apple.dial(offline=False)
    phone = apple.phones()[PHONE]
    assert len(phone["screen"]) == 1
    assert len(phone["lost"]) == 2


@pytest.mark.parametrize("politely", ["true", "false"])
def test_over_a_connection_that_apple_closed_while_idle_nothing_is_sent_twice(
    start: Start, ledger: Ledger, apple: Apple, politely: str
) -> None:
    started(start, apple)
    first, second = (delivery(n, "push", PHONE) for n in range(2))
    ledger.add(first)
    until(lambda: at_rest(ledger, State.SENT), "the first is sent")
    answer = httpx2.post(
        f"{apple.inbox.url}/apns/hang-up", params={"politely": politely}, timeout=30
    )
    assert answer.status_code == 202
    ledger.add(second)
    until(lambda: at_rest(ledger, State.SENT), "the second is sent")
    assert apple.taken() == Counter([first.delivery_id, second.delivery_id])
    tries = [(row["outcome"], row["reason"]) for row in ledger.attempts(second)]
    if politely == "false":  # with a GOAWAY it depends on what the client reads first
        assert "IN_DOUBT" not in {outcome for outcome, _ in tries}, tries


def test_what_is_said_not_to_be_taken_was_not_among_all_faults_at_once(
    start: Start, ledger: Ledger, apple: Apple
) -> None:
    apple.dial(
        goaway_unseen_share=0.05,
        goaway_taken_share=0.05,
        refuse_stream_share=0.1,
        accept_then_drop_share=0.05,
        refuse_share=0.1,
        delay_seconds=0.02,
    )
    sent = [delivery(n, "push", PHONE if n % 2 else OTHER) for n in range(60)]
    ledger.add(*sent)
    started(start, apple, concurrency=16, attempts_limit=1000)
    until(lambda: at_rest(ledger, State.SENT), "all sent")
    taken, phones = apple.taken(), apple.phones()
    assert set(phones[PHONE]["screen"]) | set(phones[OTHER]["screen"]) == set(taken)
    doubts = Counter(
        row["delivery_id"]
        for row in ledger.rows("SELECT * FROM attempts")
        if row["outcome"] == "IN_DOUBT"
    )
    for each in sent:
        assert 1 <= taken[each.delivery_id] <= 1 + doubts[each.delivery_id]


def test_killed_while_apple_holds_it_another_sends_the_same_item(
    start: Start, ledger: Ledger, apple: Apple
) -> None:
    apple.dial(silence_share=1)
    one = delivery(1, "push", PHONE)
    ledger.add(one)
    first = started(start, apple)
    until(apple.taken, "it is read")
    first.end(signal.SIGKILL)
    ledger.end_leases()
    apple.dial(silence_share=0)
    started(start, apple)
    until(lambda: at_rest(ledger, State.SENT), "sent")
    assert set(apple.phones()[PHONE]["screen"]) == {one.delivery_id}


def test_without_apples_key_it_says_what_to_set_and_ends(start: Start, apple: Apple) -> None:
    settings = apple.settings | {"push_key": "no key"}
    assert "push_key is no P-256 key" in told_at_the_start(start, "push", **settings)
