"""From archived events to the rows of an account, and which of them can be judged when."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from archivist.declaration import OTHER, AccountDeclaration
from engine.columns import KEEP_NULLS, now_ms, short, short_enough, text
from engine.ids import digest
from engine.selects import selected
from services.contracts.fields import APPENDED_AT, DATE

REASON = "_reason"


@dataclass(frozen=True, slots=True)
class Span:
    """Append times in milliseconds: after `after_ms`, up to and with `until_ms`."""

    after_ms: int
    until_ms: int


def next_span(
    account: AccountDeclaration, judged_until_ms: int | None, complete_until_ms: int
) -> Span | None:
    """Return what can be judged now, or None while it is too little to be worth a run.

    `complete_until_ms`: everything appended up to then is in the archive. What has piled up while
    the archivist was away comes in parts, so that no run sees more than twice the look-back. A
    bookmark that lies ahead is of a clock that was: what came meanwhile lies before it, not judged.
    """
    ripe_ms = complete_until_ms - account.settle_ms()
    after_ms = judged_until_ms
    if after_ms is None or after_ms > ripe_ms:
        after_ms = ripe_ms - account.look_back_ms()
    elif ripe_ms - after_ms < account.every_ms():
        return None
    return Span(after_ms, min(ripe_ms, after_ms + account.look_back_ms()))


def seen_days(account: AccountDeclaration, span: Span) -> list[date]:
    """Return the days (UTC) on which what a run may look at was appended."""
    first, last = (datetime.fromtimestamp(ms // 1000, UTC).date() for ms in _seen_ms(account, span))
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]


def seen(stored: DataFrame, account: AccountDeclaration, span: Span) -> DataFrame:
    """Return the archived events that a run may look at."""
    first, last = (F.timestamp_millis(F.lit(ms)) for ms in _seen_ms(account, span))
    return stored.where(F.col(APPENDED_AT).between(first, last)).drop(DATE)


def _seen_ms(account: AccountDeclaration, span: Span) -> tuple[int, int]:
    return span.after_ms - account.look_back_ms(), span.until_ms + account.settle_ms()


def found(
    spark: SparkSession,
    account: AccountDeclaration,
    events: Mapping[str, DataFrame],
    span: Span,
) -> DataFrame:
    """Return the account's rows that were appended within the span.

    Raises:
        Refused: the SQL does more than select from the account's streams.
    """
    for stream in account.streams:
        events[stream].createOrReplaceTempView(f"`{stream}`")
    what = f"account {account.account}"
    rows = selected(spark, what, account.sql, account.streams, account.arguments())
    at_ms = F.unix_millis(APPENDED_AT)
    return rows.where((at_ms > span.after_ms) & (at_ms <= span.until_ms))


def messages(rows: DataFrame, account: AccountDeclaration) -> DataFrame:
    """Return `key`, `value` (JSON of `services.contracts.records.Accounted`) and `_reason`."""
    row_id = digest(F.lit("account"), F.lit(account.account), *map(text, account.key))
    known = text(account.reason).isin(list(account.reasons))
    reason = F.when(known, text(account.reason)).otherwise(OTHER)
    taken = {*account.key, account.reason, APPENDED_AT}
    values = [F.col(f"`{name}`") for name in rows.columns if name not in taken]
    whole = F.to_json(_record(account, row_id, reason, values), KEEP_NULLS)
    cut = F.to_json(_record(account, row_id, reason, []), KEEP_NULLS)
    return rows.select(
        row_id.cast("binary").alias("key"),
        short_enough(whole, cut).alias("value"),
        reason.alias(REASON),
    )


def _record(
    account: AccountDeclaration, row_id: Column, reason: Column, values: list[Column]
) -> Column:
    empty = F.create_map().cast("map<string,string>")
    return F.struct(
        F.lit(1).alias("version"),
        row_id.alias("accounted_id"),
        F.lit(account.account).alias("account"),
        reason.alias("reason"),
        F.struct(*map(short, account.key)).alias("key"),
        (F.struct(*values) if values else empty).alias("values"),
        F.unix_millis(APPENDED_AT).alias("appended_at_ms"),
        now_ms().alias("accounted_at_ms"),
    )
