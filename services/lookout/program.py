"""Puts the lookout together and runs it."""

from contextlib import ExitStack
from typing import Final

from services.backbone.errors import Transient
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.producer import Producer
from services.backbone.ledger.database import Pool, open_pool
from services.backbone.ledger.schema import migrate
from services.backbone.log import logger
from services.backbone.loop import ConsumerLoop
from services.backbone.memory import forget_loaded
from services.backbone.mirror import open_consumer
from services.backbone.outage import until_there
from services.backbone.progress import Progress
from services.backbone.reading import Reading
from services.backbone.service import Life
from services.contracts import topics
from services.lookout.api.desk import Office, open_desk
from services.lookout.assembly import assemble
from services.lookout.intake.pipeline import Arrival, Lookout, decode
from services.lookout.routes import reading as routes_reading
from services.lookout.routes.holder import RoutesHolder
from services.lookout.routes.source import RoutesSource
from services.lookout.routes.watches_folder import WatchesFolder
from services.lookout.settings import LookoutSettings

PROGRAM: Final = "lookout"
ASK_TIMEOUT_SECONDS: Final = 3.0

log = logger(__name__)


def run_lookout(settings: LookoutSettings, life: Life, office: Office) -> None:
    """Take alerts, and serve operators at the office's desk, until the life's stop.

    Raises:
        Refused: the routes, or the ledger's version, cannot be used.
        Ended: the producer or the consumer has ended for good.
    """
    holder = _open_routes(settings, life)
    reading = Reading(life.clock)
    life.health.add_ready("reading", reading.trouble)
    if not prepare(settings, life):
        return
    with ExitStack() as closing:
        producer = Producer(settings, PROGRAM)
        closing.callback(producer.close)
        life.health.add_live("producer", producer.unusable)
        parts = assemble(settings, life, holder, producer, _pool(settings, closing))
        if not until_there(parts.fresh.do, life):
            return
        parts.start(life)
        # A pool of their own, so that operators never keep the pipeline waiting.
        asked = _pool(settings, closing)
        office.open(open_desk(asked, holder, producer, life.clock, settings.channels))
        _consume(settings, producer, parts.lookout, reading, life)
        parts.close(settings.drain_timeout_seconds)


def _open_routes(settings: LookoutSettings, life: Life) -> RoutesHolder:
    read = routes_reading.Reading(settings.channels, settings.routes_variables)
    watches = WatchesFolder(settings.watches_dir, are_all=settings.names_watches)
    return RoutesHolder(RoutesSource(settings.routes_file), read, life.clock, watches)


def _pool(settings: LookoutSettings, closing: ExitStack) -> Pool:
    pool = open_pool(settings)
    closing.callback(pool.close)
    return pool


def _consume(
    settings: LookoutSettings,
    producer: Producer,
    lookout: Lookout,
    reading: Reading,
    life: Life,
) -> None:
    consumer = open_consumer(settings, PROGRAM, settings.lookout_group, topics.ALERTS)
    progress = Progress(life.clock, settings.lookout_stalled_seconds)
    life.health.add_live("loop", progress.stalled)

    def turn() -> None:
        progress.beat()
        reading.turn(consumer)
        producer.ensure_usable()

    loop = ConsumerLoop[Arrival](
        PROGRAM,
        consumer,
        lookout.writer,
        decode,
        lookout,
        life,
        batch_limit=settings.lookout_batch_alerts,
        on_turn=turn,
        behind_seconds=lookout.behind_seconds,
        secure=lookout.secure,
    )
    forget_loaded()
    try:
        loop.run()
    finally:
        consumer.close()


def prepare(settings: LookoutSettings, life: Life) -> bool:
    """Wait for Postgres and Kafka, bring the schema up to date; False if we must stop before."""

    admin = TopicAdmin(settings, PROGRAM, timeout_seconds=ASK_TIMEOUT_SECONDS)

    def attempt() -> None:
        if applied := migrate(settings):
            log.info("ledger_migrated", migrations=applied)
        _check_topics(settings, admin)

    return until_there(attempt, life)


def _check_topics(settings: LookoutSettings, admin: TopicAdmin) -> None:
    wanted = {topics.ALERTS, topics.DELIVERY_EVENTS, topics.rejected(topics.ALERTS)}
    wanted |= {topics.deliveries(channel) for channel in settings.channels}
    if missing := wanted - admin.partitions().keys():
        names = ", ".join(sorted(missing))
        raise Transient(f"topics are missing: {names}; declare them: python -m services.topics")
