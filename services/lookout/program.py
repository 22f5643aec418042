"""Puts the lookout together and runs it."""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import Final, Protocol

from services.backbone.errors import Transient
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.producer import Producer
from services.backbone.ledger.database import open_pool
from services.backbone.ledger.intake import Intake
from services.backbone.ledger.names import known_names
from services.backbone.ledger.repeats import RepeatsBook
from services.backbone.ledger.schema import migrate
from services.backbone.log import logger
from services.backbone.loop import ConsumerLoop
from services.backbone.memory import forget_loaded
from services.backbone.outage import until_there
from services.backbone.progress import Progress
from services.backbone.reading import Reading
from services.backbone.service import Life
from services.backbone.web.links import open_links
from services.contracts import topics
from services.lookout.api.desk import Office, open_desk
from services.lookout.circumstances import Circumstances
from services.lookout.counting import Repeats
from services.lookout.duties.following import Following
from services.lookout.duties.naming import Naming
from services.lookout.duties.roster import following, judging, refreshing
from services.lookout.duties.telling import Teller
from services.lookout.keeper import Duty, Keeper
from services.lookout.later import Announcing
from services.lookout.marking import LaterMarks
from services.lookout.pipeline import Arrival, Lookout, decode
from services.lookout.publishing import Publisher
from services.lookout.relay import Relay
from services.lookout.repeats import SettledAlerts
from services.lookout.routes import reading as routes_reading
from services.lookout.routes.holder import RoutesHolder
from services.lookout.routes.source import RoutesSource
from services.lookout.settings import LookoutSettings
from services.lookout.words import Words

PROGRAM: Final = "lookout"
ASK_TIMEOUT_SECONDS: Final = 3.0

log = logger(__name__)


class Closing(Protocol):
    """What has work in hand when the lookout ends."""

    def close(self, timeout_seconds: float) -> None:
        """End, at the latest after so long."""


def run_lookout(settings: LookoutSettings, life: Life, office: Office) -> None:
    """Take alerts, and serve operators at the office's desk, until the life's stop.

    Raises:
        Refused: the routes, or the ledger's version, cannot be used.
        Ended: the producer or the consumer has ended for good.
    """
    read = routes_reading.Reading(settings.channels, settings.routes_variables)
    holder = RoutesHolder(RoutesSource(settings.routes_file), read, life.clock)
    reading = Reading(life.clock)
    life.health.add_ready("reading", reading.trouble)
    if not prepare(settings, life):
        return
    with ExitStack() as closing:
        producer = Producer(settings, PROGRAM)
        closing.callback(producer.close)
        life.health.add_live("producer", producer.unusable)
        pool = open_pool(settings)
        closing.callback(pool.close)
        intake = Intake(pool)
        marks = LaterMarks(intake, life)
        publisher = Publisher(producer, marks)
        relay = Relay(intake, Publisher(producer, intake), settings, life)
        circumstances = Circumstances(life.clock)
        fresh = refreshing(pool, circumstances, holder.current)
        # What is silenced now must be known before the first alert is judged.
        if not until_there(fresh.do, life):
            return
        teller = Teller(publisher, producer, life.clock)
        words = Words(
            open_links(settings), settings.callbacks_public_url, settings.console_public_url
        )
        announcing = Announcing(publisher, producer, life.clock.now_ms)
        repeats, names = Repeats(RepeatsBook(pool)), Naming(partial(known_names, pool), holder.heed)
        duties: list[Duty] = [
            fresh,
            repeats,
            names,
            *following(pool, Following(circumstances, holder.current, words, announcing)),
            *judging(settings, pool, circumstances, holder.current, teller),
        ]
        keeper = Keeper(duties, life, settings.lookout_keeper_seconds)
        lookout = Lookout(
            holder.current,
            intake,
            publisher,
            producer,
            SettledAlerts(settings.lookout_settled_alerts),
            circumstances,
            life.clock,
            words,
            settings.channels,
            repeats.dropped,
        )
        marks.start()
        relay.start()
        keeper.start()
        holder.start(life)
        life.health.add_ready("outbox", relay.trouble)
        life.health.add_ready("keeper", keeper.trouble)
        life.health.add_note("routes", holder.note)
        # A pool of their own, so that operators never keep the pipeline waiting.
        asked = open_pool(settings)
        closing.callback(asked.close)
        office.open(open_desk(asked, holder, producer, life.clock, settings.channels))
        _consume(settings, producer, lookout, reading, life)
        _end(settings, (relay, repeats), (keeper, marks, holder))


def _end(
    settings: LookoutSettings, last: Sequence[Relay | Repeats], threads: Sequence[Closing]
) -> None:
    """Wait for what is in hand; raise what has ended a thread, if it was a bug."""
    for thread in threads:
        thread.close(settings.drain_timeout_seconds)
    for each in last:
        each.close()


def _consume(
    settings: LookoutSettings,
    producer: Producer,
    lookout: Lookout,
    reading: Reading,
    life: Life,
) -> None:
    consumer = Consumer(settings, PROGRAM, group=settings.lookout_group, topics=[topics.ALERTS])
    progress = Progress(life.clock, settings.lookout_stalled_seconds)
    life.health.add_live("loop", progress.stalled)

    def turn() -> None:
        progress.beat()
        reading.turn(consumer)
        producer.ensure_usable()

    loop = ConsumerLoop[Arrival](
        PROGRAM,
        consumer,
        producer,
        decode,
        lookout,
        life,
        batch_limit=settings.lookout_batch_alerts,
        on_turn=turn,
        secure=lookout.secure,
    )
    forget_loaded()
    try:
        loop.run()
    finally:
        consumer.close()


def prepare(settings: LookoutSettings, life: Life) -> bool:
    """Wait for Postgres and Kafka, bring the schema up to date; False if we must stop before."""

    def attempt() -> None:
        if applied := migrate(settings):
            log.info("ledger_migrated", migrations=applied)
        _check_topics(settings)

    return until_there(attempt, life)


def _check_topics(settings: LookoutSettings) -> None:
    wanted = {topics.ALERTS, topics.DELIVERY_EVENTS, topics.rejected(topics.ALERTS)}
    wanted |= {topics.deliveries(channel) for channel in settings.channels}
    admin = TopicAdmin(settings, PROGRAM, timeout_seconds=ASK_TIMEOUT_SECONDS)
    if missing := wanted - admin.partitions().keys():
        names = ", ".join(sorted(missing))
        raise Transient(f"topics are missing: {names}; declare them: python -m services.topics")
