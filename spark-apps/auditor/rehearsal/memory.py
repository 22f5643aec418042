"""A sink that keeps what a query writes in this process: nothing is sent anywhere."""

from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StringType

from engine.java import jvm_of, session_of

_KEPT: Final = "org$apache$spark$sql$execution$streaming$sources$ContinuousMemorySink$$batches"
"""What Spark calls the rows themselves; all other ways copy them, while they become more."""


@dataclass(frozen=True)
class MemoryQuery:
    """A query in Real-time Mode over one column of text, and the rows that it has written."""

    spark: SparkSession
    query: StreamingQuery
    sink: Any
    """Spark's own sink for this; PySpark has no way to name it."""

    def count(self) -> int:
        """Return how many rows there are by now."""
        return int(getattr(self.sink, _KEPT)().size())

    def texts(self) -> list[str]:
        """Return the rows by now, in the sequence in which they were written."""
        jvm = jvm_of(self.spark)
        rows = jvm.scala.jdk.javaapi.CollectionConverters.asJava(self.sink.allData())
        schema = jvm.org.apache.spark.sql.types.StructType.fromDDL("text string")
        frame = DataFrame(session_of(self.spark).createDataFrame(rows, schema), self.spark)
        return [row["text"] for row in frame.collect()]


def start_in_memory(
    spark: SparkSession, texts: DataFrame, checkpoint: str, batch_ms: int
) -> MemoryQuery:
    """Start a query in Real-time Mode whose rows stay here; `texts` has one column of text.

    Raises:
        PySparkException: Spark does not take the query.
    """
    if [type(field.dataType) for field in texts.schema.fields] != [StringType]:
        raise ValueError(f"one column of text is wanted, not {texts.schema.simpleString()}")
    jvm = jvm_of(spark)
    streams, sql = session_of(spark).streams(), jvm.org.apache.spark.sql
    sink = sql.execution.streaming.sources.ContinuousMemorySink()

    def default(number: int) -> Any:
        return getattr(streams, f"startQuery$default${number}")()

    started = streams.startQuery(
        jvm.scala.Option.empty(),
        default(2),
        jvm.scala.Option.apply(checkpoint),
        texts._jdf,  # noqa: SLF001 - as above
        jvm.org.apache.spark.api.python.PythonUtils.toScalaMap(jvm.java.util.HashMap()),
        sink,
        sql.streaming.OutputMode.Update(),
        default(8),
        default(9),
        sql.execution.streaming.RealTimeTrigger.apply(f"{batch_ms} milliseconds"),
        default(11),
        default(12),
        default(13),
    )
    return MemoryQuery(spark, StreamingQuery(started), sink)
