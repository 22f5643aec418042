"""One account over the archive: reads, judges, tells, and remembers how far it got."""

from collections.abc import Mapping
from typing import Final

from pyspark import StorageLevel
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from archivist import metrics
from archivist.accounting import REASON, Span, found, messages, next_span, seen, seen_days
from archivist.bookmark import Bookmark
from archivist.declaration import AccountDeclaration
from archivist.queries import archive_folder
from archivist.settings import ArchivistSettings
from archivist.shelf import archive_ddl, stored
from engine.queries import check_select, plain
from services.backbone.errors import Refused
from services.backbone.log import logger
from services.contracts.streams import StreamDeclaration
from services.contracts.topics import ACCOUNTS

_AHEAD: Final = "what was judged lies ahead of the clock, or `settle` became longer"

log = logger(__name__)


class AccountRun:
    """One account, its streams, and its bookmark."""

    def __init__(
        self,
        spark: SparkSession,
        settings: ArchivistSettings,
        account: AccountDeclaration,
        streams: Mapping[str, StreamDeclaration],
    ) -> None:
        self._spark = spark
        self._settings = settings
        self._account = account
        self._streams = streams
        folder = settings.archivist_state / "accounts"
        self._bookmark = Bookmark(folder / f"{account.account}.json")

    def judge(self, complete_until_ms: int) -> None:
        """Judge what is ripe, if it is enough; rows are in the topic before they are remembered.

        A crash in between finds them again, with the same ids.

        Raises:
            Refused: the bookmark holds no time.
            OSError: the bookmark cannot be read or written now.
            PySparkException: the query or the writing failed.
        """
        name, judged_until_ms = self._account.account, self._bookmark.read()
        span = next_span(self._account, judged_until_ms, complete_until_ms)
        if span is None:
            return
        if judged_until_ms is not None and span.after_ms < judged_until_ms:
            log.warning("judged_again", account=name, reason=_AHEAD, after_ms=span.after_ms)
        counts = self._tell(span)
        self._bookmark.write(span.until_ms)
        for reason, rows in counts.items():
            metrics.ACCOUNTED.labels(name, reason).inc(rows)
        metrics.JUDGED_UNTIL.labels(name).set(span.until_ms / 1000)
        log.info("accounted", account=name, judged_until_ms=span.until_ms, found=counts)

    def _tell(self, span: Span) -> dict[str, int]:
        """Keep the rows on disk between counting and writing, so that the query runs once."""
        rows = self._rows(span).persist(StorageLevel.DISK_ONLY)
        try:
            counted = rows.groupBy(REASON).count().collect()
            if counted:
                self._write(rows.drop(REASON))
        finally:
            rows.unpersist()
        return {row[REASON]: row["count"] for row in counted}

    def _rows(self, span: Span) -> DataFrame:
        events = {
            name: seen(self._stored(stream, span), self._account, span)
            for name, stream in self._streams.items()
        }
        return messages(found(self._spark, self._account, events, span), self._account)

    def _stored(self, stream: StreamDeclaration, span: Span) -> DataFrame:
        days = seen_days(self._account, span)
        return stored(self._spark, archive_folder(self._settings, stream), stream, days)

    def _write(self, rows: DataFrame) -> None:
        writer = rows.write.format("kafka").options(**self._settings.spark_kafka_options())
        writer.option("kafka.acks", "all").option("topic", ACCOUNTS).save()


def check_account(
    spark: SparkSession, account: AccountDeclaration, streams: Mapping[str, StreamDeclaration]
) -> None:
    """Hold an account's SQL against its streams before any data is there.

    Raises:
        Refused: with what Spark says of it.
    """
    what = f"account {account.account}"
    check_select(what, account.sql, account.streams)
    span = Span(0, 0)
    empty = {
        name: seen(spark.createDataFrame([], archive_ddl(streams[name])), account, span)
        for name in account.streams
    }
    try:
        messages(found(spark, account, empty, span), account)
    except AnalysisException as error:
        raise Refused(f"{what}: {plain(error)}") from None
