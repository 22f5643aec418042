"""`python -m services.heartbeat`: measures every watch while it lives, with synthetic events."""

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

from services.backbone import service
from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.producer import Producer
from services.backbone.service import Life
from services.backbone.settings import read_settings
from services.contracts.topics import ALERTS, HEARTBEATS
from services.heartbeat.agreement import Agreement, Shown
from services.heartbeat.beat_ids import run_name
from services.heartbeat.beats import Beats
from services.heartbeat.declared import Following
from services.heartbeat.hearing import Hearing
from services.heartbeat.listener import Listener, Listening
from services.heartbeat.pages import create_app
from services.heartbeat.pulse import Pulse
from services.heartbeat.settings import HeartbeatSettings

_HELP: Final = """Sends the heartbeat events that each watch declares to <stream>.heartbeat, and
measures how long each auditor's answer takes. Settings: ALDEBARAN_WATCHES_DIR and
ALDEBARAN_STREAMS_DIR (both are followed while they change),
ALDEBARAN_HEARTBEAT_INTERVAL_SECONDS (2), ALDEBARAN_HEARTBEAT_IN_TIME_SECONDS (10),
ALDEBARAN_HEARTBEAT_RELOAD_DELAY_SECONDS (2), ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS, ALDEBARAN_HTTP_PORT
(/healthz/live, /healthz/ready: every watch is answered in time, /metrics, /v1/disagreements: what
not all ALDEBARAN_HEARTBEAT_AUDITORS raise within ALDEBARAN_HEARTBEAT_AGREE_SECONDS (60))."""


def body(settings: HeartbeatSettings, life: Life, shown: Shown) -> None:
    """Beat, and compare what the auditors raise, until the stop."""
    following = Following(settings, life.clock)
    beats = beats_of(settings)
    heard = newest(settings, HEARTBEATS, life)
    producer = Producer(settings, "heartbeat")
    pulse = Pulse(
        run=run_name(settings.instance, life.clock.now_ms()),
        following=following,
        interval_seconds=settings.heartbeat_interval_seconds,
        beats=beats,
        answers=heard,
        producer=producer,
        life=life,
    )
    life.health.add_live("loop", pulse.stuck)
    life.health.add_live("producer", producer.unusable)
    life.health.add_ready("answers", pulse.silent)
    life.health.add_ready("heartbeats", heard.trouble)
    life.health.add_note("auditors", pulse.one_is_missing)
    life.health.add_note("declarations", following.note)
    with ExitStack() as closing:
        closing.callback(producer.close)
        closing.callback(heard.consumer.close)
        closing.callback(Listening(listener_of(settings, beats, life, shown)).end)
        closing.callback(life.stop.set)
        pulse.beat_until_stopped()


def newest(settings: HeartbeatSettings, topic: str, life: Life) -> Hearing:
    """Return a reader of what comes from now on.

    Nothing is committed: each run starts with the newest, older answers are not its own.
    """
    group = f"heartbeat-{settings.instance}-{topic}"
    consumer = Consumer(settings, "heartbeat", group=group, topics=[topic], from_beginning=False)
    return Hearing(consumer, life.clock)


def beats_of(settings: HeartbeatSettings) -> Beats:
    """Return the memory of beats; whoever lets two of them pass by is out of step."""
    in_time = settings.heartbeat_in_time_seconds
    gap = in_time + 2 * settings.heartbeat_interval_seconds
    return Beats(in_time, gap, frozenset(settings.heartbeat_auditors))


def listener_of(settings: HeartbeatSettings, beats: Beats, life: Life, shown: Shown) -> Listener:
    """Return what compares the auditors that should answer."""
    agreement = Agreement(
        agree_seconds=settings.heartbeat_agree_seconds,
        late_seconds=settings.heartbeat_in_time_seconds,
        auditors=frozenset(settings.heartbeat_auditors),
    )
    clock = life.clock
    return Listener(
        agreement,
        newest(settings, ALERTS, life),
        lambda: beats.steps(clock.monotonic_seconds()),
        beats.marks,
        life,
        shown,
        settings.auditor_batch_seconds,
    )


def main(arguments: Sequence[str]) -> int:
    """Run until SIGTERM; return the exit code."""
    argparse.ArgumentParser("python -m services.heartbeat", description=_HELP).parse_args(arguments)
    settings = read_settings(HeartbeatSettings)
    shown = Shown()
    return service.run(
        "heartbeat",
        settings,
        lambda life: body(settings, life, shown),
        app=lambda life: create_app(life, shown),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
