"""Traces while the brokers are away: page, API, command and health say so, and then go on."""

import os
import signal
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from httpx2 import Client

from services.backbone.clock import SystemClock
from services.backbone.ledger.database import Pool
from services.console.tracing.reading import TOPICS_NOTE, TOPICS_SECONDS
from services.machine.ports import free_ports
from services.machine.waiting import wait_until
from tests.broker import OwnBroker
from tests.integration.console.following import followed_to_its_end
from tests.integration.console.test_traces import OPERATOR, Scene, tracing

pytestmark = [pytest.mark.kafka, pytest.mark.postgres, pytest.mark.timeout(240)]

AWAY = "The topics cannot be read now"


@pytest.fixture
def scene(pool: Pool, ledger_url: str, own_broker: OwnBroker) -> Iterator[Scene]:
    with tracing(pool, ledger_url, own_broker.node.bootstrap) as made:
        yield made


def trouble(client: Client, trace: str) -> str | None:
    told: str | None = client.get(f"/v1/traces/{trace}/lines", headers=OPERATOR).json()["trouble"]
    return told


def say_so(client: Client, trace: str) -> None:
    """Wait until it is said that the brokers are away."""
    wait_until(lambda: bool(trouble(client, trace)), 60, "nobody says that the brokers are away")


@contextmanager
def killed(broker: OwnBroker) -> Iterator[None]:
    broker.kill()
    yield
    broker.start()


@contextmanager
def silent(broker: OwnBroker) -> Iterator[None]:
    """It stands still, with all its connections open."""
    os.killpg(broker.running.group, signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(broker.running.group, signal.SIGCONT)


@pytest.mark.parametrize("away", [killed, silent])
def test_brokers_that_go_away_beneath_a_trace_are_told_and_it_goes_on(
    scene: Scene, own_broker: OwnBroker, away: Callable[[OwnBroker], AbstractContextManager[None]]
) -> None:
    key = uuid.uuid4().hex
    trace = scene.begin(key)
    with scene.console.client() as client, scene.tracer():
        scene.send(key, 1)
        scene.see(trace, 1)
        assert AWAY not in client.get(f"/traces/{trace}").text
        with away(own_broker):
            say_so(client, trace)
            page = client.get(f"/traces/{trace}/lines").text
            assert AWAY in page
            assert "Kafka: " in page
            notes = client.get("/healthz/ready").json()["notes"]
            assert notes[TOPICS_NOTE].startswith("Kafka: ")
        wait_until(lambda: trouble(client, trace) is None, 60, "it is still told")
        scene.send(key, 2)
        scene.see(trace, 2)
        assert AWAY not in client.get(f"/traces/{trace}").text


def test_a_trace_that_nobody_could_read_yet_is_no_empty_one(scene: Scene) -> None:
    trace, nowhere = scene.begin(uuid.uuid4().hex), f"127.0.0.1:{free_ports(1)[0]}"
    with scene.console.client() as client, scene.tracer(brokers=nowhere):
        say_so(client, trace)
        page = client.get(f"/traces/{trace}").text
    assert "Nothing of this key was read so far." in page
    assert "Nothing of this key has come" not in page


def test_who_follows_by_the_command_line_sees_the_last_line(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALDEBARAN_CONSOLE_URL", scene.console.url)
    key = uuid.uuid4().hex
    trace = scene.begin(key)
    scene.send(key, 1)
    with scene.tracer(TOPICS_SECONDS):
        told = followed_to_its_end(scene.console, key, SystemClock())
    assert "accepted" in told
    assert "over       the topics have been read up to the end of the trace" in told
    assert told.endswith(f"for a while more: {scene.console.url}/traces/{trace}\n")
    with scene.console.client() as client:
        assert (
            "over; what was under way then is followed for" in client.get(f"/traces/{trace}").text
        )
