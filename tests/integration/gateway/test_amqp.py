"""The AMQP on-ramp between a real RabbitMQ and a real Kafka: acknowledged only what Kafka has."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import aio_pika
import orjson
import pytest
import yaml
from aio_pika.exceptions import PublishError

from services.machine.ports import free_ports
from services.machine.supervision.child import Child
from tests.integration.gateway.conftest import StartGateway
from tests.integration.gateway.odd_messages import (
    ODD_PROPERTIES,
    ODD_ROUTING_KEY,
    publish_odd,
)
from tests.integration.gateway.reading import PATIENCE_SECONDS, Stream, event, get, wait_until
from tests.integration.rabbitmq import RabbitMq

pytestmark = [pytest.mark.kafka, pytest.mark.rabbitmq]

ONRAMP = "services.gateway.amqp"


@pytest.fixture
def bindings(tmp_path: Path, stream: Stream) -> Path:
    file = tmp_path / "bindings.yaml"
    binding = {"exchange": stream.name, "queue": stream.name, "stream": stream.name}
    file.write_text(yaml.safe_dump({"bindings": [binding]}))
    return file


@pytest.fixture
def settings(bindings: Path, rabbitmq: RabbitMq, stream: Stream) -> dict[str, str]:
    return {
        "amqp_url": rabbitmq.url,
        "amqp_bindings_file": str(bindings),
        "kafka_bootstrap_servers": stream.bootstrap,
        "producer_timeout_seconds": "1.5",
    }


def onramp(start_program: StartGateway, settings: dict[str, str]) -> Child:
    return start_program(ONRAMP, free_ports(1)[0], **settings)


def publish(url: str, exchange_name: str, bodies: Sequence[bytes]) -> None:
    async def send() -> None:
        async with await aio_pika.connect(url) as connection:
            channel = await connection.channel(on_return_raises=True)
            exchange = await channel.get_exchange(exchange_name)
            for body in bodies:
                message = aio_pika.Message(body, delivery_mode=aio_pika.DeliveryMode.PERSISTENT)
                await exchange.publish(message, routing_key="any.key", mandatory=True)

    asyncio.run(send())


def events(first: int, end: int) -> list[bytes]:
    return [orjson.dumps(event(number)) for number in range(first, end)]


def waiting(url: str, queue: str) -> int:
    """How many messages nobody holds."""

    async def count() -> int:
        async with await aio_pika.connect(url) as connection:
            channel = await connection.channel()
            declared = await channel.declare_queue(queue, passive=True)
            return declared.declaration_result.message_count or 0

    return asyncio.run(count())


def test_publishers_spellings_arrive_and_bad_ones_are_kept(
    start_program: StartGateway, settings: dict[str, str], rabbitmq: RabbitMq, stream: Stream
) -> None:
    child = onramp(start_program, settings)
    common = {"#shares": 5, "client": "c", "stock": "s"}
    good = [
        {"id": "r-1", **common},
        {"id": "p-1", "initial_order_id": "r-1", **common},
        {"id": "p-2", "initial order id": "r-1", **common},
    ]
    bad = [b'{"id": 7}', b"no json", b"", b'{"id":"r-2","#shares":-5,"client":"c","stock":"s"}']
    large = b'"' + b"x" * (4 * 1024 * 1024) + b'"'
    publish(rabbitmq.url, stream.name, [*map(orjson.dumps, good), *bad, large])
    assert set(stream.events_until({"r-1", "p-1", "p-2"}.__le__)) == {"r-1", "p-1", "p-2"}
    assert sorted(each.original for each in stream.rejected(4)) == sorted(bad)
    wait_until(
        lambda: waiting(rabbitmq.url, f"{stream.name}.oversized") == 1, "the oversized message"
    )
    child.process.send_signal(signal.SIGTERM)
    assert child.process.wait(PATIENCE_SECONDS) == 0
    assert waiting(rabbitmq.url, stream.name) == 0


def test_what_was_refused_is_counted_where_its_alarm_looks(
    start_program: StartGateway, settings: dict[str, str], rabbitmq: RabbitMq, stream: Stream
) -> None:
    port = free_ports(1)[0]
    start_program(ONRAMP, port, **settings)
    publish(rabbitmq.url, stream.name, [b'{"id": 7}'])
    reason = stream.rejected(1)[0].reason
    labels = f'{{reason="{reason}",stream="{stream.name}"}}'
    counted = f"aldebaran_gateway_rejected_total{labels} 1.0"

    def shown() -> str:
        return get(f"http://127.0.0.1:{port}/metrics").text

    wait_until(lambda: counted in shown(), "the event to be counted")
    assert "\naldebaran_amqp_flowing 1.0\n" in shown()
    assert f"\naldebaran_gateway_rejected_created{labels} " in shown()


def test_an_odd_property_stops_nothing_and_brings_no_copies(
    start_program: StartGateway, settings: dict[str, str], rabbitmq: RabbitMq, stream: Stream
) -> None:
    child = onramp(start_program, settings)
    odd = [*ODD_PROPERTIES, ODD_ROUTING_KEY]
    count = len(odd)
    publish(rabbitmq.url, stream.name, events(0, 3))
    asyncio.run(publish_odd(rabbitmq.url, stream.name, odd, events(3, 3 + count)))
    publish(rabbitmq.url, stream.name, events(3 + count, 6 + count))
    wanted = {f"e-{number}" for number in range(6 + count)}
    stream.events_until(wanted.__le__)
    child.process.send_signal(signal.SIGTERM)
    assert child.process.wait(PATIENCE_SECONDS) == 0
    assert sorted(stream.events_until(wanted.__le__)) == sorted(wanted)
    assert waiting(rabbitmq.url, stream.name) == 0


def test_kill_9_loses_nothing(
    start_program: StartGateway, settings: dict[str, str], rabbitmq: RabbitMq, stream: Stream
) -> None:
    child = onramp(start_program, settings)
    wanted = {f"e-{number}" for number in range(2000)}
    publish(rabbitmq.url, stream.name, events(0, 1000))
    stream.events_until(lambda ids: len(ids) > 100)
    child.process.kill()
    child.process.wait()
    publish(rabbitmq.url, stream.name, events(1000, 2000))
    onramp(start_program, settings)
    assert set(stream.events_until(wanted.__le__)) == wanted


def test_a_rabbitmq_that_dies_and_comes_back_loses_nothing(
    start_program: StartGateway, settings: dict[str, str], rabbitmq: RabbitMq, stream: Stream
) -> None:
    onramp(start_program, settings)
    publish(rabbitmq.url, stream.name, events(0, 500))
    rabbitmq.kill()
    rabbitmq.start()
    publish(rabbitmq.url, stream.name, events(500, 600))
    wanted = {f"e-{number}" for number in range(600)}
    assert set(stream.events_until(wanted.__le__)) == wanted


def delete(url: str, queue: str) -> None:
    async def remove() -> None:
        async with await aio_pika.connect(url) as connection:
            channel = await connection.channel()
            await channel.queue_delete(queue)

    asyncio.run(remove())


def routed(url: str, exchange_name: str, body: bytes) -> bool:
    try:
        publish(url, exchange_name, [body])
    except PublishError:
        return False
    return True


def test_a_queue_that_is_deleted_is_declared_again_and_read(
    start_program: StartGateway, settings: dict[str, str], rabbitmq: RabbitMq, stream: Stream
) -> None:
    onramp(start_program, settings)
    publish(rabbitmq.url, stream.name, events(0, 1))
    stream.events_until({"e-0"}.__le__)
    delete(rabbitmq.url, stream.name)
    [another] = events(1, 2)
    wait_until(lambda: routed(rabbitmq.url, stream.name, another), "the queue to be there again")
    assert set(stream.events_until({"e-0", "e-1"}.__le__)) == {"e-0", "e-1"}


def test_without_kafka_the_messages_stay_with_rabbitmq(
    start_program: StartGateway, settings: dict[str, str], rabbitmq: RabbitMq, stream: Stream
) -> None:
    away = {"kafka_bootstrap_servers": f"127.0.0.1:{free_ports(1)[0]}"}
    child = onramp(start_program, settings | away)
    publish(rabbitmq.url, stream.name, events(0, 200))
    wait_until(lambda: waiting(rabbitmq.url, stream.name) < 200, "the on-ramp to hold messages")
    child.process.send_signal(signal.SIGTERM)
    assert child.process.wait(PATIENCE_SECONDS) == 0
    assert waiting(rabbitmq.url, stream.name) == 200
    onramp(start_program, settings)
    wanted = {f"e-{number}" for number in range(200)}
    assert set(stream.events_until(wanted.__le__)) == wanted


def refused(settings: dict[str, str], streams_dir: Path) -> str:
    """Run the on-ramp until it refuses; return what it says."""
    told = settings | {"streams_dir": str(streams_dir), "http_port": str(free_ports(1)[0])}
    spelled = {f"ALDEBARAN_{name.upper()}": value for name, value in told.items()}
    ended = subprocess.run(
        [sys.executable, "-m", ONRAMP],
        env=os.environ | spelled,
        check=False,
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert ended.returncode == 78, ended.stderr
    return ended.stderr


def test_an_exchange_of_another_kind_is_refused(
    start_program: StartGateway,
    settings: dict[str, str],
    bindings: Path,
    streams_dir: Path,
) -> None:
    child = onramp(start_program, settings)
    child.process.send_signal(signal.SIGTERM)
    child.process.wait()
    changed = yaml.safe_load(bindings.read_text())
    changed["bindings"][0]["exchange_type"] = "fanout"
    bindings.write_text(yaml.safe_dump(changed))
    assert "declare_exchange: false" in refused(settings, streams_dir)


def test_a_wrong_password_is_refused_and_not_shown(
    settings: dict[str, str], rabbitmq: RabbitMq, streams_dir: Path
) -> None:
    wrong = {"amqp_url": rabbitmq.url.replace("guest:guest", "guest:hunter2")}
    said = refused(settings | wrong, streams_dir)
    assert "does not take the user" in said
    assert "hunter2" not in said
