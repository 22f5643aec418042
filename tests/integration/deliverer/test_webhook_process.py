"""The webhook channel from end to end: a real process, ledger, broker, and an exact count."""

import json
import signal
import threading
from collections import Counter
from collections.abc import Callable

import pytest

from services.backbone.clock import SystemClock
from services.contracts import topics
from services.contracts.records import Delivery, DeliveryEvent, Rejected, Severity
from services.contracts.states import State
from services.deliverer.channels.webhook import signed
from tests.integration.deliverer.conftest import Bus, Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.receivers import DROP, OK, Answer, WebhookReceiver
from tests.integration.deliverer.refusing import told_at_the_start
from tests.integration.deliverer.waiting import until
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]


def all_in(ledger: Ledger, *states: State) -> Callable[[], bool]:
    return lambda: set(ledger.states().values()) <= set(states)


def test_each_is_sent_once_and_told_of(
    start: Start, bus: Bus, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    start("webhook")
    sent = [delivery(n, recipient=receiver.url) for n in range(50)]
    ledger.add(*sent)
    bus.tell([*sent, *sent])
    until(all_in(ledger, State.SENT), "all sent")
    ids = {each.delivery_id for each in sent}
    assert receiver.came() == Counter(ids)
    records = bus.read(
        topics.DELIVERY_EVENTS, lambda found: sum(each.key in ids for each in found) >= 100
    )
    events = [DeliveryEvent.decode(each.value) for each in records if each.key in ids]
    assert Counter(event.after for event in events) == {State.CLAIMED: 50, State.SENT: 50}


def test_what_the_topic_never_told_is_found_in_the_ledger(
    start: Start, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    sent = [delivery(n, recipient=receiver.url) for n in range(50)]
    ledger.add(*sent)
    start("webhook", concurrency=4)
    until(all_in(ledger, State.SENT), "all sent")
    assert receiver.came() == Counter(each.delivery_id for each in sent)


def test_a_message_without_a_row_is_kept_aside_and_not_sent(
    start: Start, bus: Bus, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    start("webhook")
    unknown, known = (delivery(n, recipient=receiver.url) for n in range(2))
    ledger.add(known)
    bus.tell([unknown, known])
    until(all_in(ledger, State.SENT), "the known one is sent")
    records = bus.read(
        topics.rejected("deliveries.webhook"),
        lambda found: any(each.key == unknown.delivery_id for each in found),
    )
    kept = next(each for each in records if each.key == unknown.delivery_id)
    assert Rejected.decode(kept.value).original == unknown.encode()
    assert receiver.came() == Counter([known.delivery_id])


@pytest.mark.promise("after_doubt", "webhook")
def test_taken_but_not_answered_is_held_and_never_sent_again(
    start: Start, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    receiver.script = lambda number, key: DROP
    one = delivery(1, recipient=receiver.url)
    ledger.add(one)
    start("webhook")
    until(all_in(ledger, State.HELD), "held")
    assert receiver.taken() == Counter([one.delivery_id])
    assert [row["outcome"] for row in ledger.attempts(one)] == ["IN_DOUBT"]


@pytest.mark.promise("after_doubt", "webhook")
def test_a_critical_doubt_is_repeated_once_with_a_mark(
    start: Start, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    receiver.script = lambda number, key: DROP
    one = delivery(1, recipient=receiver.url, severity=Severity.CRITICAL)
    ledger.add(one)
    start("webhook")
    until(all_in(ledger, State.HELD), "held after the repeat")
    first, repeat = receiver.requests
    assert b"[possible repeat]" not in first.body
    assert b"[possible repeat]" in repeat.body
    assert first.key == repeat.key == one.delivery_id


@pytest.mark.promise("evidence", "webhook")
def test_a_receiver_that_drops_repeats_gets_the_same_key_unmarked(
    start: Start, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    receiver.script = lambda number, key: DROP if number == 1 else OK
    one = delivery(1, recipient=receiver.url)
    ledger.add(one)
    start("webhook", webhook_dedupes="true")
    until(all_in(ledger, State.SENT), "sent")
    first, second = receiver.requests
    assert (first.key, first.body) == (second.key, second.body)
    assert not ledger.row(one)["marked_repeat"]


def test_what_is_not_taken_is_tried_again_until_it_is(
    start: Start, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    busy = Answer(status=429, headers=(("Retry-After", "0"),), taken=False)
    away = Answer(status=503, taken=False)
    receiver.script = lambda number, key: {1: busy, 2: away}.get(number, OK)
    one = delivery(1, recipient=receiver.url)
    ledger.add(one)
    start("webhook")
    until(all_in(ledger, State.SENT), "sent")
    assert receiver.taken() == Counter([one.delivery_id])
    outcomes = [row["outcome"] for row in ledger.attempts(one)]
    assert outcomes == ["RETRY_WAIT", "RETRY_WAIT", "SENT"]


@pytest.mark.promise("permanent", "webhook")
def test_what_is_refused_for_good_fails_and_what_is_unclear_is_held(
    start: Start, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    gone, broken = (delivery(n, recipient=receiver.url) for n in range(2))
    statuses = {gone.delivery_id: 410, broken.delivery_id: 500}
    receiver.script = lambda number, key: Answer(status=statuses[key])
    ledger.add(gone, broken)
    start("webhook")
    until(all_in(ledger, State.FAILED, State.HELD), "both at rest")
    assert ledger.row(gone)["state"] == State.FAILED
    assert ledger.row(broken)["state"] == State.HELD
    assert receiver.came() == Counter([gone.delivery_id, broken.delivery_id])


def test_a_receiver_that_is_down_is_left_alone_and_gets_all_when_it_is_back(
    start: Start, ledger: Ledger
) -> None:
    receiver = WebhookReceiver()
    sent = [delivery(n, recipient=receiver.url) for n in range(30)]
    ledger.add(*sent)
    deliverer = start("webhook", concurrency=4, attempts_limit=1000)
    until(lambda: deliverer.metric("aldebaran_deliverer_breakers_open{") == 1, "breaker open")
    with receiver.listening():
        until(all_in(ledger, State.SENT), "all sent")
    assert receiver.came() == Counter(each.delivery_id for each in sent)


def test_one_receiver_that_is_down_does_not_hold_up_another(
    start: Start, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    dead = WebhookReceiver()
    stuck = [delivery(n, recipient=dead.url) for n in range(20)]
    fine = [delivery(n, recipient=receiver.url) for n in range(20)]
    ledger.add(*stuck, *fine)
    start("webhook", concurrency=2, attempts_limit=1000)
    until(lambda: receiver.taken().total() == 20, "the other's are sent")
    assert receiver.came() == Counter(each.delivery_id for each in fine)


def test_one_receiver_that_is_slow_does_not_hold_up_another(
    start: Start, bus: Bus, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    goes_on = threading.Event()
    slow = WebhookReceiver(script=lambda number, key: Answer(after=goes_on))
    with slow.listening():
        behind = [delivery(n, recipient=slow.url) for n in range(20)]
        fine = [delivery(n, recipient=receiver.url) for n in range(20)]
        ledger.add(*behind, *fine)
        start("webhook", concurrency=4, send_timeout_seconds=60, sweep_seconds=3600)
        bus.tell([*behind, *fine])
        until(lambda: receiver.taken().total() == 20, "the other's are sent")
        assert len(slow.requests) <= 2
        goes_on.set()
        until(all_in(ledger, State.SENT), "all sent")
    assert slow.came() == Counter(each.delivery_id for each in behind)
    assert receiver.came() == Counter(each.delivery_id for each in fine)


def test_attempts_end_with_a_person_and_never_as_failed(start: Start, ledger: Ledger) -> None:
    dead = WebhookReceiver()
    one = delivery(1, recipient=dead.url)
    ledger.add(one)
    start("webhook", attempts_limit=3)
    until(all_in(ledger, State.HELD), "held")
    assert len(ledger.attempts(one)) == 3
    assert "held after 3 attempts" in ledger.row(one)["reason"]


def test_killed_while_the_provider_holds_the_message_it_is_not_sent_again(
    start: Start, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    release = threading.Event()
    receiver.script = lambda number, key: Answer(after=release)
    one = delivery(1, recipient=receiver.url)
    ledger.add(one)
    first = start("webhook")
    until(lambda: receiver.requests, "the request is read")
    first.end(signal.SIGKILL)
    assert ledger.row(one)["state"] == State.CLAIMED
    ledger.end_leases()
    start("webhook")
    until(all_in(ledger, State.HELD), "held")
    release.set()
    assert receiver.came() == Counter([one.delivery_id])


def test_two_deliverers_share_the_work_and_send_each_once(
    start: Start, bus: Bus, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    sent = [delivery(n, recipient=receiver.url) for n in range(300)]
    ledger.add(*sent)
    start("webhook", ready=False, concurrency=8)
    start("webhook", ready=False, concurrency=8)
    bus.tell(sent)
    until(all_in(ledger, State.SENT), "all sent")
    assert receiver.came() == Counter(each.delivery_id for each in sent)


def test_two_deliverers_take_what_two_partitions_bring_and_send_each_once(
    start: Start, bus: Bus, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    two = [start("webhook", sweep_seconds=3600) for _ in range(2)]
    sent: list[Delivery] = []

    def both_take_work() -> bool:
        more = [delivery(len(sent) + n, recipient=receiver.url) for n in range(50)]
        ledger.add(*more)
        bus.tell([*more, *more])
        sent.extend(more)
        until(all_in(ledger, State.SENT), "these are sent")
        return all(each.metric("aldebaran_deliverer_deliveries_total") for each in two)

    until(both_take_work, "both have taken work")
    assert receiver.came() == Counter(each.delivery_id for each in sent)


def test_told_to_stop_it_finishes_what_it_sends_and_claims_no_more(
    start: Start, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    release = threading.Event()
    receiver.script = lambda number, key: Answer(after=release)
    sent = [delivery(n, recipient=receiver.url) for n in range(10)]
    ledger.add(*sent)
    deliverer = start("webhook", concurrency=4, send_timeout_seconds=60)
    until(lambda: len(receiver.requests) == 2, "two under way, as many as one receiver may have")
    deliverer.send_signal(signal.SIGTERM)
    until(lambda: len(deliverer.logged("draining")) == 1, "the signal is heard")
    release.set()
    assert deliverer.process is not None
    assert deliverer.process.wait(30) == 0
    assert Counter(ledger.states().values()) == {State.SENT: 2, State.PENDING: 8}
    assert receiver.came().total() == 2


def test_told_to_stop_it_records_an_unanswered_send_as_in_doubt(
    start: Start, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    never = threading.Event()
    receiver.script = lambda number, key: Answer(after=never)
    one = delivery(1, recipient=receiver.url)
    ledger.add(one)
    deliverer = start("webhook", drain_timeout_seconds=4, in_doubt_deadline_seconds=3600)
    until(lambda: receiver.requests, "the request is read")
    assert deliverer.end() == 0
    never.set()
    assert ledger.row(one)["state"] == State.IN_DOUBT
    assert "told to stop" in ledger.row(one)["reason"]


def test_the_rate_is_kept_by_waiting_and_nothing_is_dropped(
    start: Start, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    rate, burst, clock = 20, 2, SystemClock()
    sent = [delivery(n, recipient=receiver.url) for n in range(12)]
    start("webhook", rate_per_second=rate, rate_burst=burst)
    begun = clock.monotonic_seconds()
    ledger.add(*sent)
    until(all_in(ledger, State.SENT), "all sent")
    assert clock.monotonic_seconds() - begun >= (len(sent) - 1 - burst) / rate
    assert receiver.came() == Counter(each.delivery_id for each in sent)


def test_a_named_target_is_signed_and_its_address_is_told_nowhere(
    start: Start, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    one, other = (delivery(n, recipient="the-desk") for n in range(2))
    receiver.script = lambda number, key: Answer(status=200 if key == one.delivery_id else 404)
    ledger.add(one, other)
    url = f"{receiver.url}?token=very-secret-1234"
    targets = json.dumps({"the-desk": {"url": url, "signing_secret": "whsec_c2VjcmV0"}})
    deliverer = start("webhook", webhook_targets=targets, log_level="debug")
    until(all_in(ledger, State.SENT, State.FAILED), "both at rest")
    for request in receiver.requests:
        sent_at = int(request.headers["webhook-timestamp"])
        expected = signed(request.key, sent_at, request.body, "whsec_c2VjcmV0")
        assert request.headers["webhook-signature"] == expected["webhook-signature"]
    assert deliverer.end() == 0
    told = deliverer.log_file.read_text() + str(ledger.rows())
    assert "very-secret-1234" not in told
    assert "c2VjcmV0" not in told


def test_an_answer_that_is_no_utf8_is_recorded_like_any_other(
    start: Start, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    """The stand-in writes headers as Latin-1: the byte 0xE9."""
    receiver.script = lambda number, key: Answer(headers=(("X-Request-Id", "caf\xe9-1"),))
    sent = [delivery(n, recipient=receiver.url) for n in range(3)]
    ledger.add(*sent)
    deliverer = start("webhook")
    until(all_in(ledger, State.SENT), "all sent")
    assert receiver.came() == Counter(each.delivery_id for each in sent)
    assert {row["provider_id"] for row in ledger.rows()} == {"caf?-1"}
    assert deliverer.end() == 0


def test_a_kept_connection_that_the_receiver_closes_makes_no_repeat(
    start: Start, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    sent = [delivery(n, recipient=receiver.url) for n in range(20)]
    receiver.script = lambda number, key: DROP if number % 3 == 0 else OK
    ledger.add(*sent)
    start("webhook", webhook_keep_alive_seconds=60, concurrency=2, breaker_failures_limit=1000)
    until(all_in(ledger, State.SENT, State.HELD), "all at rest")
    assert set(receiver.came().values()) == {1}
    dropped = sum(state == State.HELD for state in ledger.states().values())
    assert dropped >= len(receiver.requests) // 3


def test_what_was_refused_once_is_sent_again_however_busy_the_channel_is(
    start: Start, bus: Bus, ledger: Ledger, receiver: WebhookReceiver
) -> None:
    refused = delivery(0, recipient=receiver.url)
    to_refuse = {refused.delivery_id}

    def refuse_once(number: int, key: str) -> Answer:
        if key not in to_refuse:
            return OK
        to_refuse.remove(key)
        return Answer(status=429, taken=False)

    receiver.script = refuse_once
    start("webhook", sweep_seconds=1)
    sent: list[Delivery] = []

    def one_more() -> None:
        one = delivery(len(sent), recipient=receiver.url)
        ledger.add(one)
        bus.tell([one])
        sent.append(one)

    one_more()

    def taken_meanwhile() -> bool:
        one_more()
        return bool(receiver.taken()[refused.delivery_id])

    until(taken_meanwhile, "the refused one is sent again while others go")
    until(all_in(ledger, State.SENT), "all sent")
    assert receiver.taken() == Counter(each.delivery_id for each in sent)
    assert receiver.came()[refused.delivery_id] == 2


def test_a_mistyped_signing_secret_keeps_it_from_starting(start: Start) -> None:
    targets = json.dumps({"desk": {"url": "https://desk.example", "signing_secret": "whsec_x"}})
    told = told_at_the_start(start, "webhook", webhook_targets=targets)
    assert "ALDEBARAN_WEBHOOK_TARGETS.DESK.SIGNING_SECRET" in told
    assert "whsec_x" not in told
