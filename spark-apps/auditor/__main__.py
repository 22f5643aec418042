"""`python -m auditor`: runs every watch of a folder until it is told to stop."""

import sys
from collections.abc import Callable
from functools import partial

from pyspark.sql import SparkSession

from auditor import guards
from auditor.job import Prepared, prepare_all, supervise
from auditor.progress import Pulse
from auditor.session import open_session
from auditor.settings import AuditorSettings
from auditor.stagger import Phase, phase_of
from auditor.supervision import Supervised
from engine.session import quieten
from services.backbone.errors import Refused
from services.backbone.log import logger
from services.backbone.service import Life, run
from services.backbone.settings import read_settings
from services.contracts.declarations import BadDeclaration
from services.contracts.streams import StreamDeclaration, load_streams
from services.contracts.watches import WatchDeclaration, load_watches

LOOK_EVERY_SECONDS = 0.5

log = logger(__name__)


def main() -> int:
    """Read the settings, run until SIGTERM, return the exit code."""
    settings = read_settings(AuditorSettings)
    return run("auditor", settings, partial(audit, settings))


def audit(settings: AuditorSettings, life: Life) -> None:
    """Start every watch and keep it running until `life.stop` is set.

    Raises:
        Refused: something cannot work until a person changes it.
        Transient: the brokers do not answer, or a watch failed too often.
    """
    streams, watches = declarations(settings)
    life.health.add_ready("watches", starting := Starting())
    spark = open_session(settings)
    try:
        prepared = prepare_all(spark, settings, streams, watches)
        _run(spark, settings, life, prepared, starting)
    finally:
        spark.stop()


class Starting:
    """The readiness check until every watch has one of its own."""

    def __init__(self) -> None:
        self.over = False

    def __call__(self) -> str | None:
        """Say that the watches are not yet prepared."""
        return None if self.over else "the watches are being prepared"


def declarations(
    settings: AuditorSettings,
) -> tuple[dict[str, StreamDeclaration], dict[str, WatchDeclaration]]:
    """Read streams and watches, and check all that needs no Spark.

    Raises:
        Refused: a file is wrong; the message names file, line and reason.
    """
    try:
        streams = load_streams(settings.auditor_streams)
        watches = load_watches(settings.auditor_watches)
        for watch in watches.values():
            watch.check_streams(streams)
            guards.check_sql(watch)
    except BadDeclaration as error:
        raise Refused(str(error)) from None
    return streams, watches


def _run(
    spark: SparkSession,
    settings: AuditorSettings,
    life: Life,
    prepared: list[Prepared],
    starting: Starting,
) -> None:
    phases = [
        phase_of(settings.auditor_batch_seconds, settings.auditor_phase, number, len(prepared))
        for number in range(len(prepared))
    ]
    supervised = [
        _supervised(spark, item, settings, phase, life)
        for item, phase in zip(prepared, phases, strict=True)
    ]
    starting.over = True
    try:
        _look_until(life, [item.look for item in supervised])
    finally:
        quieten(spark)
        for item in supervised:
            item.stop()
    log.info("drained", watches=len(supervised), spark=spark.version)


def _supervised(
    spark: SparkSession, item: Prepared, settings: AuditorSettings, phase: Phase, life: Life
) -> Supervised:
    name, clock = item.watch.watch, life.clock
    limit = 2 * settings.auditor_batch_seconds + settings.auditor_progress_grace_seconds
    pulse = Pulse(name, limit, clock.monotonic_seconds())
    life.health.add_live(name, lambda: pulse.dead(clock.monotonic_seconds()))
    life.health.add_ready(name, pulse.not_ready)
    return supervise(spark, item, settings, phase, pulse, clock)


def _look_until(life: Life, looks: list[Callable[[], None]]) -> None:
    while not life.stop.is_set():
        for look in looks:
            look()
        life.clock.wait(life.stop, LOOK_EVERY_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
