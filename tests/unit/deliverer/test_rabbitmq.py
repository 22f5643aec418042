"""What is published to RabbitMQ, and what its refusals and the end of its connection mean."""

import asyncio

import pytest
from aio_pika import DeliveryMode
from aio_pika.exceptions import ChannelClosed, ChannelNotFoundEntity, ChannelPreconditionFailed
from aiormq.exceptions import ChannelAccessRefused
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from services.backbone.clock import SystemClock
from services.backbone.settings import read_settings
from services.contracts.recipients import AMQP_NAME_LIMIT_BYTES, complaint
from services.contracts.records import Delivery
from services.deliverer.channel import Message, SendWindow
from services.deliverer.channels.rabbitmq import RabbitmqChannel, address, composed, refused
from services.deliverer.channels.rabbitmq.links import RabbitmqSettings
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown
from tests.amqp_server import AmqpServer
from tests.integration.rabbitmq import CERTIFICATE
from tests.unit.deliverer.builders import delivery

PATIENCE_SECONDS = 60.0


@pytest.mark.parametrize(
    ("recipient", "expected"),
    [
        ("night-desk", ("", "night-desk")),
        ("alerts/desk.night", ("alerts", "desk.night")),
        ("alerts/", ("alerts", "")),
        ("/queue/with/slashes", ("", "queue/with/slashes")),
    ],
)
def test_a_recipient_is_an_exchange_and_a_key_or_a_queue(
    recipient: str, expected: tuple[str, str]
) -> None:
    assert address(recipient) == expected


@given(st.text(max_size=300))
def test_what_is_no_complaint_fits_into_the_protocol(recipient: str) -> None:
    if complaint("rabbitmq", recipient) is None:
        exchange, key = address(recipient)
        assert exchange or key
        assert max(len(exchange.encode()), len(key.encode())) <= AMQP_NAME_LIMIT_BYTES


@pytest.mark.promise("our_id", "rabbitmq")
@pytest.mark.parametrize("marked", [False, True])
def test_a_message_is_persistent_and_carries_ids_and_the_mark(marked: bool) -> None:
    one = delivery(1, channel="rabbitmq", recipient="q")
    message = composed(Message(one, attempt=2, marked_repeat=marked))
    assert message.message_id == one.delivery_id
    assert message.delivery_mode == DeliveryMode.PERSISTENT
    assert message.headers["delivery-id"] == one.delivery_id
    assert message.headers["possible-repeat"] == ("true" if marked else "false")
    read = Delivery.decode(message.body)
    assert read.delivery_id == one.delivery_id
    assert (read == one) == (not marked)


@pytest.mark.promise("permanent", "rabbitmq")
def test_refusals_mean_what_the_protocol_says() -> None:
    assert isinstance(refused(ChannelNotFoundEntity("no exchange 'x'")), Refused)
    assert isinstance(refused(ChannelAccessRefused("not for you")), Permanent)
    assert isinstance(refused(ChannelPreconditionFailed("message size")), Permanent)
    assert isinstance(refused(ChannelClosed(541, "internal error")), Unknown)


def test_a_wrong_address_is_refused_at_the_start_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALDEBARAN_RABBITMQ_URL", "http://u:very-secret-1234@h/")
    with pytest.raises(SystemExit):
        read_settings(RabbitmqSettings)
    told = capsys.readouterr().err
    assert "must look like amqps://" in told
    assert "very-secret-1234" not in told


async def sent(server: AmqpServer, count: int, tls: bool) -> list[Outcome]:
    """Send so many messages side by side to a server that ends their connection."""
    clock = SystemClock()
    async with server.serving(tls) as url, asyncio.timeout(PATIENCE_SECONDS):
        settings = RabbitmqSettings(rabbitmq_url=SecretStr(url), rabbitmq_ca_file=str(CERTIFICATE))
        channel = RabbitmqChannel(settings)
        window_seconds = clock.monotonic_seconds() + PATIENCE_SECONDS
        outcomes = await asyncio.gather(
            *(
                channel.send(
                    Message(delivery(number, channel="rabbitmq", recipient="q"), 1),
                    SendWindow(clock, window_seconds),
                )
                for number in range(count)
            )
        )
        await channel.close()
    return outcomes


@pytest.mark.promise("in_doubt", "rabbitmq")
@pytest.mark.parametrize("tls", [True, False])
async def test_a_connection_that_ends_behind_a_confirm_puts_the_others_in_doubt(tls: bool) -> None:
    outcomes = await sent(AmqpServer(messages=2), 2, tls)
    assert {type(each) for each in outcomes} == {Accepted, Unknown}


@pytest.mark.promise("not_taken", "rabbitmq")
@pytest.mark.parametrize("tls", [True, False])
@pytest.mark.parametrize("asked", ["Connection.StartOk", "Connection.Open", "Channel.Open"])
async def test_a_connection_that_ends_behind_an_answer_has_taken_nothing(
    asked: str, tls: bool
) -> None:
    (outcome,) = await sent(AmqpServer(ends_after=asked), 1, tls)
    assert isinstance(outcome, Refused)
    assert outcome.destination_down


async def test_a_server_that_falls_silent_between_messages_is_missed_soon() -> None:
    await sent(server := AmqpServer(), 1, tls=False)
    assert server.heartbeat_seconds == 10
