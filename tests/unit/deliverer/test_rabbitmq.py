"""What is published to RabbitMQ, and what its refusals mean."""

import pytest
from aio_pika import DeliveryMode
from aio_pika.exceptions import ChannelClosed, ChannelNotFoundEntity, ChannelPreconditionFailed
from aiormq.exceptions import ChannelAccessRefused
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.settings import read_settings
from services.contracts.recipients import AMQP_NAME_LIMIT_BYTES, complaint
from services.contracts.records import Delivery
from services.deliverer.channel import Message
from services.deliverer.channels.rabbitmq import address, composed, refused
from services.deliverer.channels.rabbitmq.links import RabbitmqSettings
from services.deliverer.outcomes import Permanent, Refused, Unknown
from tests.unit.deliverer.builders import delivery


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
