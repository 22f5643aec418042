"""`python -m services.gateway.amqp`: take events in from RabbitMQ."""

import argparse
import asyncio
import random
import sys
import threading
from collections.abc import Sequence
from typing import Final

import uvloop
from starlette.types import ASGIApp

from services.backbone.clock import SystemClock
from services.backbone.errors import Refused
from services.backbone.health import health_app
from services.backbone.kafka.producer import Producer
from services.backbone.log import set_up_logging
from services.backbone.service import Life, run
from services.backbone.settings import EXIT_BAD_SETTINGS, read_settings
from services.gateway.amqp.bindings import Binding, load_bindings
from services.gateway.amqp.feed import Feed
from services.gateway.amqp.properties import read_only_what_is_used
from services.gateway.amqp.session import Session
from services.gateway.amqp.settings import AmqpSettings
from services.gateway.amqp.waiting import WaitingRoom
from services.gateway.intake import Intake, open_intakes
from services.gateway.memory import calm_collector

PROGRAM: Final = "gateway-amqp"

_HELP: Final = """Takes events in from RabbitMQ until SIGTERM; a message is acknowledged once Kafka
has its events. Settings: ALDEBARAN_AMQP_URL, ALDEBARAN_AMQP_BINDINGS_FILE (which exchange feeds
which stream), ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS, ALDEBARAN_STREAMS_DIR, ALDEBARAN_HTTP_PORT
(/healthz/ready and /metrics); all of them in docs/settings.md."""


def main(arguments: Sequence[str]) -> int:
    """Run the on-ramp until it is told to stop; return the exit code."""
    argparse.ArgumentParser("python -m services.gateway.amqp", description=_HELP).parse_args(
        arguments
    )
    settings = read_settings(AmqpSettings)
    set_up_logging(PROGRAM, settings)  # before the producer's thread says anything
    try:
        producer = Producer(settings, PROGRAM)
        intakes = open_intakes(settings.streams_dir, producer, SystemClock())
        bindings = load_bindings(settings.amqp_bindings_file, intakes)
    except Refused as error:
        sys.stderr.write(f"{PROGRAM} cannot start: {error}\n")
        return EXIT_BAD_SETTINGS

    begun = threading.Event()

    def app(life: Life) -> ASGIApp:
        life.health.add_ready("start", lambda: None if begun.is_set() else "starting")
        return health_app(life.health)

    def body(life: Life) -> None:
        rng = random.SystemRandom()
        session = Session(settings, _feeds(settings, bindings, intakes, life, rng), life, rng)
        life.health.add_live("producer", producer.unusable)
        life.health.add_ready("events", session.complaint)
        begun.set()
        uvloop.run(session.run())

    calm_collector()
    read_only_what_is_used()
    code = run(PROGRAM, settings, body, app)
    producer.close()
    return code


def _feeds(
    settings: AmqpSettings,
    bindings: Sequence[Binding],
    intakes: dict[str, Intake],
    life: Life,
    rng: random.Random,
) -> list[Feed]:
    # A stream that cannot be written fills the room of its own queue only.
    share, judging = settings.inflight_limit_bytes // max(1, len(bindings)), asyncio.Lock()
    return [
        Feed(each, intakes[each.stream], settings, WaitingRoom(share), judging, life, rng)
        for each in bindings
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
