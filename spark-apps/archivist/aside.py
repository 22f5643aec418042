"""Records that are no events, as `services.contracts.records.Rejected`, all in Spark SQL."""

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from engine.columns import now_ms
from engine.events import VALID
from services.contracts.streams import StreamDeclaration
from services.contracts.topics import rejected

REASON: Final = "malformed"
ORIGINAL_LIMIT_BYTES: Final = 5 * 1024 * 1024
"""In base64 this and its wrapping fit into the topic; of a longer record the beginning is kept."""


def rejections(marked: DataFrame, stream: StreamDeclaration) -> DataFrame:
    """Return `key`, `value` (JSON) and `topic` for each row that is not valid.

    `marked` has the stream's columns, `_valid`, `_topic`, `_partition`, `_offset` and `_value`.
    The key is the source, so that a record written twice after a crash is known as one.
    """
    source = F.format_string("archivist %s/%d/%d", "_topic", "_partition", "_offset")
    record = F.struct(
        F.lit(1).alias("version"),
        F.lit(stream.stream).alias("topic"),
        source.alias("source"),
        F.lit(REASON).alias("reason"),
        _detail(stream).alias("detail"),
        F.base64(_original()).alias("original_base64"),
        now_ms().alias("rejected_at_ms"),
    )
    return marked.where(~F.col(VALID)).select(
        source.cast("binary").alias("key"),
        F.to_json(record).cast("binary").alias("value"),
        F.lit(rejected(stream.stream)).alias("topic"),
    )


def _original() -> Column:
    whole = F.coalesce("_value", F.lit(b""))
    return F.substring(whole, 1, ORIGINAL_LIMIT_BYTES)


def _detail(stream: StreamDeclaration) -> Column:
    """Name the fields that break their declaration; a declaration has at most 256 of 63 letters."""
    broken = [
        F.when(~F.coalesce(F.expr(field.spark_predicate(f"`{name}`")), F.lit(False)), name)
        for name, field in stream.fields.items()
    ]
    names = F.substring(F.concat_ws(", ", *broken), 1, 3000)
    said = F.when(names != "", F.concat(F.lit("missing or not as declared: "), names)).otherwise(
        "a text is reserved for heartbeats"
    )
    cut = F.when(
        F.octet_length("_value") > ORIGINAL_LIMIT_BYTES,
        F.concat(F.lit("; only the beginning is kept, of bytes: "), F.octet_length("_value")),
    ).otherwise("")
    return F.concat(said, cut)
