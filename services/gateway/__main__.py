"""`python -m services.gateway`: take events in over HTTP. `… keygen NAME`: make an API key."""

import argparse
import random
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from starlette.types import ASGIApp

from services.backbone.clock import Clock, SystemClock
from services.backbone.errors import Refused, Transient
from services.backbone.health import Check
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.producer import Producer
from services.backbone.log import set_up_logging
from services.backbone.service import Life, run
from services.backbone.settings import EXIT_BAD_SETTINGS, read_settings
from services.backbone.web.keys import KeysReloader
from services.contracts.topics import rejected
from services.gateway.admission import Room
from services.gateway.app import create_app
from services.gateway.broker import BrokerWatch
from services.gateway.ingest import Guard, Ingest
from services.gateway.intake import Intake, open_intakes
from services.gateway.keygen import keygen
from services.gateway.memory import calm_collector
from services.gateway.renewal import Renewal
from services.gateway.senders import Anybody, SenderKey, Senders
from services.gateway.settings import GatewaySettings

PROGRAM: Final = "gateway"
LOOK_SECONDS: Final = 2.0
"""How often the brokers are asked and the file of keys is looked at."""
ASK_TIMEOUT_SECONDS: Final = 2.0

_HELP: Final = """Takes events in over HTTP, or from RabbitMQ, until SIGTERM; `keygen NAME` makes
an API key, see `keygen --help`. Settings: ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS,
ALDEBARAN_STREAMS_DIR, ALDEBARAN_API_KEYS_FILE, ALDEBARAN_HTTP_PORT (the pages /docs,
/healthz/ready and /metrics too); all of them in docs/settings.md."""

_NO_KEYS: Final = (
    "no API keys: make one with `python -m services.gateway keygen NAME`, put its entry under "
    "`keys:` in a file and name the file in ALDEBARAN_API_KEYS_FILE; or let everybody send "
    "with ALDEBARAN_API_KEYS=off"
)


@dataclass(frozen=True, slots=True)
class Door:
    """Who recognises callers, and what keeps their keys fresh."""

    guard: Guard
    look: Callable[[], None]
    note: Check


def open_door(settings: GatewaySettings, clock: Clock) -> Door:
    """Read the keys.

    Raises:
        Refused: there are none though they are on, or the file cannot be used.
    """
    if settings.api_keys == "off":
        return Door(Anybody(), lambda: None, lambda: None)
    if settings.api_keys_file is None:
        raise Refused(_NO_KEYS)
    reloader = KeysReloader(settings.api_keys_file, SenderKey, clock)
    return Door(Senders(reloader.keys), reloader.look, reloader.note)


def main(arguments: Sequence[str] = ()) -> int:
    """Run the gateway until it is told to stop; return the exit code."""
    if arguments[:1] == ["keygen"]:
        return keygen(arguments[1:])
    argparse.ArgumentParser("python -m services.gateway", description=_HELP).parse_args(arguments)
    settings, clock = read_settings(GatewaySettings), SystemClock()
    set_up_logging(PROGRAM, settings)  # before the producer's thread says anything
    try:
        producer = Producer(settings, PROGRAM)
        door = open_door(settings, clock)
        intakes = open_intakes(settings.streams_dir, producer, clock)
    except Refused as error:
        sys.stderr.write(f"{PROGRAM} cannot start: {error}\n")
        return EXIT_BAD_SETTINGS
    room = Room(settings.inflight_limit_requests, settings.inflight_limit_bytes)
    ingest = Ingest(settings, intakes, door.guard, room, clock, lambda: secrets.token_hex(8))
    watch = _broker_watch(settings, intakes)

    def opened(life: Life) -> ASGIApp:
        life.health.add_live("producer", producer.unusable)
        life.health.add_ready("broker", watch.complaint)
        life.health.add_ready("draining", lambda: "stopping" if life.stop.is_set() else None)
        life.health.add_note("keys", door.note)
        app = create_app(ingest, life.health)
        return Renewal(app, settings.answers_per_connection, random.random)

    calm_collector()
    code = run(PROGRAM, settings, lambda life: _look_after(life, producer, watch, door), opened)
    producer.close()
    return code


def _broker_watch(settings: GatewaySettings, intakes: Mapping[str, Intake]) -> BrokerWatch:
    admin = TopicAdmin(settings, PROGRAM, ASK_TIMEOUT_SECONDS)
    return BrokerWatch([*intakes, *map(rejected, intakes)], admin.partitions)


def _look_after(life: Life, producer: Producer, watch: BrokerWatch, door: Door) -> None:
    """Look after what requests must not wait for."""
    while True:
        watch.look()
        door.look()
        if life.clock.wait(life.stop, LOOK_SECONDS):
            return
        if (reason := producer.unusable()) is not None:
            raise Transient(f"the producer must be replaced: {reason}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
