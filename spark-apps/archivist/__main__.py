"""`python -m archivist`: archives, keeps aside and accounts until it is told to stop."""

import argparse
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from archivist.account_run import check_account
from archivist.declaration import AccountDeclaration, load_accounts
from archivist.earlier import take_over
from archivist.queries import ARCHIVE, archive_folder, checkpoint_folder
from archivist.rounds import Rounds, Scene
from archivist.session import open_session
from archivist.settings import SHIPPED_ACCOUNTS, ArchivistSettings
from archivist.shelving import check_history
from engine.brokers import asking
from engine.failures import first_line
from engine.java import BROKEN_OFF
from engine.session import quieten
from engine.store import check_reach, refusal
from services.backbone.errors import Refused
from services.backbone.log import logger
from services.backbone.niceness import step_back
from services.backbone.progress import Progress
from services.backbone.service import Life, run
from services.backbone.settings import read_settings
from services.contracts.declarations import AS_IT_RAN, BadDeclaration
from services.contracts.streams import StreamDeclaration, load_streams
from services.contracts.topics import ACCOUNTS, rejected

_HELP: Final = """Files every declared stream as Parquet in ALDEBARAN_ARCHIVIST_ARCHIVE, keeps
aside what is no event, and accounts, until SIGTERM. Settings:
ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS, ALDEBARAN_STREAMS_DIR, ALDEBARAN_HTTP_PORT (/healthz/ready,
/metrics); all of them in docs/settings.md."""
CANCEL_EVERY_SECONDS: Final = 0.2

log = logger(__name__)

Streams = dict[str, StreamDeclaration]
Accounts = dict[str, AccountDeclaration]


def main(arguments: Sequence[str]) -> int:
    """Read the settings, run until SIGTERM, return the exit code."""
    argparse.ArgumentParser(prog="archivist", description=_HELP).parse_args(arguments)
    settings = read_settings(ArchivistSettings)
    step_back(settings.archivist_niceness)
    return run("archivist", settings, partial(keep, settings))


def keep(settings: ArchivistSettings, life: Life) -> None:
    """Go round after round until `life.stop` is set.

    Raises:
        Refused: something cannot work until a person changes it.
        Transient: the brokers do not answer, or a job failed too often.
    """
    streams, accounts = declarations(settings)
    ready = threading.Event()
    life.health.add_ready("rounds", lambda: None if ready.is_set() else "the first has not begun")
    spark = open_session(settings)
    ended = threading.Event()
    canceller = _cancel_at_stop(spark, life, ended)
    try:
        _check(spark, settings, streams, accounts)
        rounds = Rounds(_scene(spark, settings, life), streams, accounts)
        ready.set()
        _turn_until_stop(rounds, settings, life)
    finally:
        life.stop.set()
        ended.set()
        canceller.join()
        with suppress(*BROKEN_OFF):
            spark.stop()
    log.info("drained", streams=len(streams), accounts=len(accounts))


def declarations(settings: ArchivistSettings) -> tuple[Streams, Accounts]:
    """Read streams and accounts, and check all that needs neither Spark nor brokers.

    Raises:
        Refused: a file is wrong.
    """
    try:
        streams = load_streams(settings.archivist_streams, AS_IT_RAN)
        accounts = _accounts(settings, streams)
        for account in accounts.values():
            account.check_streams(streams)
    except BadDeclaration as error:
        raise Refused(str(error)) from None
    return streams, accounts


def _accounts(settings: ArchivistSettings, streams: Streams) -> Accounts:
    """An account that comes with us must not keep anybody from leaving out its streams."""
    accounts = load_accounts(settings.archivist_accounts)
    if settings.archivist_accounts != SHIPPED_ACCOUNTS:
        return accounts
    return {name: one for name, one in accounts.items() if streams.keys() >= set(one.streams)}


def _check(
    spark: SparkSession, settings: ArchivistSettings, streams: Streams, accounts: Accounts
) -> None:
    topics = [topic for name in streams for topic in (name, rejected(name))]
    wanted = [*topics, ACCOUNTS] if accounts else topics
    with asking(spark, settings.kafka_client_options()) as brokers:
        brokers.partition_counts(wanted)
    check_reach(spark, "archive", settings.archivist_archive)
    for stream in streams.values():
        checkpoint = checkpoint_folder(settings, ARCHIVE, stream)
        _open_archive(spark, archive_folder(settings, stream), checkpoint)
    for account in accounts.values():
        check_account(spark, account, streams)


def _open_archive(spark: SparkSession, folder: str, checkpoint: Path) -> None:
    try:
        check_history(spark, folder, checkpoint)
        take_over(spark, folder)
    except (PySparkException, OSError) as error:
        raise refusal(f"archive {folder}", first_line(error)) from None


def _scene(spark: SparkSession, settings: ArchivistSettings, life: Life) -> Scene:
    limit = 3 * settings.archivist_interval_seconds + settings.archivist_progress_grace_seconds
    progress = Progress(life.clock, limit)
    life.health.add_live("progress", progress.stalled)
    return Scene(spark, settings, life, progress)


def _cancel_at_stop(spark: SparkSession, life: Life, ended: threading.Event) -> threading.Thread:
    """An account's queries are waited for by the main thread, so another one has to end them.

    Again and again until `ended`: between two of them there is nothing to cancel.
    """

    def cancel() -> None:
        life.stop.wait()
        with suppress(*BROKEN_OFF):
            quieten(spark)
            spark.sparkContext.cancelAllJobs()
            while not ended.wait(CANCEL_EVERY_SECONDS):
                spark.sparkContext.cancelAllJobs()

    thread = threading.Thread(target=cancel, name="cancel", daemon=True)
    thread.start()
    return thread


def _turn_until_stop(rounds: Rounds, settings: ArchivistSettings, life: Life) -> None:
    while not life.stop.is_set():
        begun = life.clock.monotonic_seconds()
        rounds.turn()
        spent = life.clock.monotonic_seconds() - begun
        life.clock.wait(life.stop, max(0.0, settings.archivist_interval_seconds - spent))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
