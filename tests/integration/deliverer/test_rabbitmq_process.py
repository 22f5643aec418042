"""The RabbitMQ channel from end to end: a real process, ledger and broker, and an exact count."""

import asyncio
import signal
import uuid
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from pydantic import SecretStr

from services.backbone.clock import SystemClock
from services.contracts.records import Delivery, Severity
from services.contracts.states import State
from services.deliverer.channel import Message, SendWindow
from services.deliverer.channels.rabbitmq import RabbitmqChannel
from services.deliverer.channels.rabbitmq.links import RabbitmqSettings
from services.deliverer.outcomes import Accepted, Outcome, Permanent
from tests.integration.deliverer.conftest import Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.queues import Queue
from tests.integration.deliverer.waiting import until
from tests.integration.rabbitmq import CERTIFICATE, MESSAGE_LIMIT_BYTES, RabbitMq
from tests.passage import Passage
from tests.unit.deliverer.builders import delivery

pytestmark = [pytest.mark.kafka, pytest.mark.postgres, pytest.mark.rabbitmq]

NOBODY_WRITES_HERE = "amq.rabbitmq.trace"
"""An exchange of every RabbitMQ's own."""
PATIENT = {"send_timeout_seconds": 60}
"""Only the passage ends the wait for a confirm, however slow this machine is just now."""


@pytest.fixture
def queue(rabbitmq: RabbitMq) -> Queue:
    return Queue(rabbitmq.url, f"q-{uuid.uuid4().hex}").declared()


@pytest.fixture
def passage(rabbitmq: RabbitMq) -> Iterator[Passage]:
    with Passage(rabbitmq.port).listening() as passage:
        yield passage


def rests_in(ledger: Ledger, *states: State) -> Callable[[], bool]:
    return lambda: set(ledger.states().values()) <= set(states)


def to(recipient: str, number: int, **more: Severity) -> Delivery:
    return delivery(number, channel="rabbitmq", recipient=recipient, **more)


def test_each_delivery_is_one_message_by_exchange_and_by_queue(
    start: Start, ledger: Ledger, rabbitmq: RabbitMq, queue: Queue
) -> None:
    routed = [to(f"{queue.name}/desk.night", number) for number in range(10)]
    direct = [to(queue.name, number) for number in range(10)]
    ledger.add(*routed, *direct)
    start("rabbitmq", rabbitmq_url=rabbitmq.url)
    until(rests_in(ledger, State.SENT), "sent")
    messages = queue.messages()
    wanted = Counter(each.delivery_id for each in (*routed, *direct))
    assert Counter(each.message_id for each in messages) == wanted
    assert {each.headers["possible-repeat"] for each in messages} == {"false"}
    assert {Delivery.decode(each.body).delivery_id for each in messages} == set(wanted)


@pytest.mark.promise("not_taken", "rabbitmq")
def test_returned_and_unknown_exchanges_wait_and_others_go_on(
    start: Start, ledger: Ledger, rabbitmq: RabbitMq, queue: Queue
) -> None:
    nobody = to(f"{queue.name}/nobody.listens", 1)
    missing = to(f"not-{queue.name}/desk", 2)
    good = [to(queue.name, number) for number in range(3, 20)]
    ledger.add(nobody, missing, *good)
    start("rabbitmq", rabbitmq_url=rabbitmq.url, attempts_limit=3)
    until(rests_in(ledger, State.SENT, State.HELD), "at rest")
    assert queue.count() == Counter(each.delivery_id for each in good)
    assert {ledger.row(each)["state"] for each in good} == {State.SENT}
    assert all(len(ledger.attempts(each)) == 1 for each in good)
    assert "no queue gets it" in ledger.row(nobody)["reason"]
    assert "NOT_FOUND" in ledger.row(missing)["reason"]
    assert len(ledger.attempts(nobody)) == len(ledger.attempts(missing)) == 3


@pytest.mark.promise("not_taken", "rabbitmq")
def test_a_full_queue_that_says_no_is_tried_again(
    start: Start, ledger: Ledger, rabbitmq: RabbitMq
) -> None:
    limits: dict[str, str | int] = {"x-max-length": 1, "x-overflow": "reject-publish"}
    full = Queue(rabbitmq.url, f"q-{uuid.uuid4().hex}", limits).declared()
    first, second = to(full.name, 1), to(full.name, 2)
    ledger.add(first, second)
    start("rabbitmq", rabbitmq_url=rabbitmq.url, attempts_limit=3)
    until(rests_in(ledger, State.SENT, State.HELD), "at rest")
    (sent,) = full.count()
    (held,) = {first.delivery_id, second.delivery_id} - {sent}
    assert "nack" in ledger.by_id()[held]["reason"]


@pytest.mark.promise("after_doubt", "rabbitmq")
def test_taken_and_the_confirm_lost_it_comes_again_with_the_same_id(
    start: Start, ledger: Ledger, queue: Queue, rabbitmq: RabbitMq, passage: Passage
) -> None:
    one = to(queue.name, 1)
    passage.armed = one.delivery_id.encode()
    ledger.add(one)
    start("rabbitmq", rabbitmq_url=rabbitmq.through(passage.port), **PATIENT)
    until(lambda: queue.count() == Counter([one.delivery_id]), "taken, and nobody knows")
    passage.hang_up()
    until(rests_in(ledger, State.SENT), "sent")
    assert queue.count() == Counter({one.delivery_id: 2})
    first, second = ledger.attempts(one)
    assert (first["outcome"], second["outcome"]) == (State.IN_DOUBT, State.SENT)


def test_a_connection_that_falls_silent_leaves_a_doubt_and_holds_no_place(
    start: Start, ledger: Ledger, queue: Queue, rabbitmq: RabbitMq, passage: Passage
) -> None:
    """Its client then calls off what waits for a confirm, as if we had cancelled it."""
    one = to(queue.name, 1)
    passage.armed = one.delivery_id.encode()
    ledger.add(one)
    url = f"{rabbitmq.through(passage.port)}?heartbeat=1"
    start("rabbitmq", rabbitmq_url=url, concurrency=1, **PATIENT)
    # A look at the queue may take longer than the client takes to find that nobody answers.
    until(lambda: passage.swallowed, "taken, and nobody knows")
    passage.armed = None
    until(rests_in(ledger, State.SENT), "sent")
    first, second = ledger.attempts(one)
    assert (first["outcome"], second["outcome"]) == (State.IN_DOUBT, State.SENT)
    assert "called the send off" in first["reason"]
    assert queue.count() == Counter({one.delivery_id: 2})


@pytest.mark.parametrize("severity", [Severity.WARNING, Severity.CRITICAL])
def test_where_readers_drop_nothing_a_lost_confirm_is_held_or_repeated_with_a_mark(
    start: Start,
    ledger: Ledger,
    queue: Queue,
    rabbitmq: RabbitMq,
    passage: Passage,
    severity: Severity,
) -> None:
    one = to(queue.name, 1, severity=severity)
    passage.armed = one.delivery_id.encode()
    ledger.add(one)
    told = {"rabbitmq_url": rabbitmq.through(passage.port), "rabbitmq_dedupes": "false"}
    start("rabbitmq", **told, **PATIENT)
    until(lambda: queue.count() == Counter([one.delivery_id]), "taken, and nobody knows")
    passage.hang_up()
    until(rests_in(ledger, State.SENT, State.HELD), "at rest")
    marks = [str(each.headers["possible-repeat"]) for each in queue.messages()]
    if severity is Severity.CRITICAL:
        assert sorted(marks) == ["false", "true"]
    else:
        assert marks == ["false"]
        assert ledger.row(one)["state"] == State.HELD


@pytest.mark.promise("permanent", "rabbitmq")
async def test_what_is_not_allowed_or_too_large_is_refused_for_good_and_the_next_one_goes(
    rabbitmq: RabbitMq,
) -> None:
    channel = RabbitmqChannel(RabbitmqSettings(rabbitmq_url=SecretStr(rabbitmq.url)))
    clock = SystemClock()
    queue = await asyncio.to_thread(Queue(rabbitmq.url, f"q-{uuid.uuid4().hex}").declared)

    async def sent(one: Delivery) -> Outcome:
        window = SendWindow(clock, clock.monotonic_seconds() + 60)
        return await channel.send(Message(one, attempt=1), window)

    small = to(queue.name, 1)
    values = {"long": "x" * MESSAGE_LIMIT_BYTES}
    large = small.model_copy(update={"alert": small.alert.model_copy(update={"values": values})})
    not_allowed, too_large, taken = [
        await sent(each) for each in (to(f"{NOBODY_WRITES_HERE}/desk", 1), large, small)
    ]
    await channel.close()
    assert isinstance(not_allowed, Permanent)
    assert "ACCESS_REFUSED" in not_allowed.reason
    assert isinstance(too_large, Permanent)
    assert "message size" in too_large.reason
    assert taken == Accepted()
    assert await asyncio.to_thread(queue.count) == Counter([small.delivery_id])


def test_a_broker_that_dies_and_comes_back_gets_everything(
    start: Start, ledger: Ledger, rabbitmq: RabbitMq, queue: Queue
) -> None:
    before = to(queue.name, 1)
    ledger.add(before)
    start("rabbitmq", rabbitmq_url=rabbitmq.url, attempts_limit=1000)
    until(rests_in(ledger, State.SENT), "sent")
    rabbitmq.kill()
    after = [to(queue.name, number) for number in range(2, 12)]
    ledger.add(*after)
    attempts = "SELECT * FROM attempts"
    until(lambda: len(ledger.rows(attempts)) > 1 + len(after), "tried while it is away")
    rabbitmq.start()
    until(rests_in(ledger, State.SENT), "sent")
    assert queue.count() == Counter(each.delivery_id for each in (before, *after))


def test_a_wrong_password_is_no_fault_of_the_message_and_not_shown(
    start: Start, ledger: Ledger, rabbitmq: RabbitMq, queue: Queue
) -> None:
    one = to(queue.name, 1)
    ledger.add(one)
    wrong = rabbitmq.url.replace("guest:guest", "guest:very-secret-1234")
    deliverer = start("rabbitmq", rabbitmq_url=wrong, attempts_limit=2)
    until(rests_in(ledger, State.HELD), "held")
    assert "very-secret-1234" not in ledger.row(one)["reason"] + deliverer.log_file.read_text()


def test_over_tls_the_broker_is_checked(
    start: Start, ledger: Ledger, rabbitmq: RabbitMq, queue: Queue
) -> None:
    right, wrong = to(queue.name, 1), to(queue.name, 2)
    ledger.add(right)
    trusting = start("rabbitmq", rabbitmq_url=rabbitmq.tls_url, rabbitmq_ca_file=CERTIFICATE)
    until(rests_in(ledger, State.SENT), "sent")
    trusting.end()
    ledger.add(wrong)
    start("rabbitmq", rabbitmq_url=rabbitmq.tls_url, attempts_limit=2)
    until(rests_in(ledger, State.SENT, State.HELD), "held")
    assert queue.count() == Counter([right.delivery_id])
    assert "certificate" in ledger.row(wrong)["reason"].lower()


def test_killed_before_the_confirm_another_publishes_the_same_id(
    start: Start, ledger: Ledger, queue: Queue, rabbitmq: RabbitMq, passage: Passage
) -> None:
    one = to(queue.name, 1)
    passage.armed = one.delivery_id.encode()
    ledger.add(one)
    first = start("rabbitmq", rabbitmq_url=rabbitmq.through(passage.port))
    until(lambda: queue.count() == Counter([one.delivery_id]), "taken, and nobody knows")
    first.end(signal.SIGKILL)
    ledger.end_leases()
    start("rabbitmq", rabbitmq_url=rabbitmq.url)
    until(rests_in(ledger, State.SENT), "sent")
    assert queue.count() == Counter({one.delivery_id: 2})


@pytest.mark.promise("not_taken", "rabbitmq")
def test_while_an_alarm_blocks_publishers_deliveries_wait(
    start: Start, ledger: Ledger, rabbitmq: RabbitMq, queue: Queue
) -> None:
    first = to(queue.name, 1)
    more = [to(queue.name, number) for number in range(2, 6)]
    rabbitmq.block_publishers(True)
    try:
        ledger.add(first)
        short = {"send_timeout_seconds": 2, "rabbitmq_connect_timeout_seconds": 0.5}
        start("rabbitmq", rabbitmq_url=rabbitmq.url, attempts_limit=1000, **short)
        until(lambda: "alarm" in (ledger.row(first)["reason"] or ""), "told")
        ledger.add(*more)
    finally:
        rabbitmq.block_publishers(False)
    until(rests_in(ledger, State.SENT), "sent")
    assert set(queue.count()) == {each.delivery_id for each in (first, *more)}
