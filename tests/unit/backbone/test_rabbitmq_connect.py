"""A RabbitMQ whose name has a silent address first is reached by the next one."""

import asyncio

import pytest
from pydantic import SecretStr

from services.backbone.amqp.rabbitmq import connect
from tests.amqp_server import AmqpServer
from tests.silent_address import NAME, WELL, Asyncio, Uvloop, silent

PATIENCE_SECONDS = 60.0


@pytest.mark.parametrize("loop", [Asyncio, Uvloop])
def test_the_second_address_of_a_name_is_asked_where_the_first_is_silent(
    loop: type[asyncio.AbstractEventLoop],
) -> None:
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(_reached())


@pytest.mark.parametrize(("query", "expected"), [("", "ours"), ("?name=plant-7", "plant-7")])
async def test_a_connection_has_our_name_unless_the_address_gives_one(
    query: str, expected: str
) -> None:
    server = AmqpServer()
    async with server.serving(tls=False) as url:
        connection = await connect(
            SecretStr(url + query), "ours", certificates=None, timeout_seconds=PATIENCE_SECONDS
        )
        await connection.close()
    assert server.names == [expected]


async def _reached() -> None:
    server = AmqpServer()
    async with server.serving(tls=False) as url:
        address = url.replace(WELL, NAME)
        with silent(int(url.rpartition(":")[2].strip("/"))):
            connection = await connect(
                SecretStr(address), "test", certificates=None, timeout_seconds=PATIENCE_SECONDS
            )
        await connection.close()
    assert server.connections == 1
