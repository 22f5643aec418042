"""Which executors Spark has lost: its own account of them, which no message can leave out."""

from typing import Any

from pyspark.sql import SparkSession

from engine.java import each_of


def lost_since(spark: SparkSession, at_ms: int) -> str | None:
    """Say which executor was removed at that time or later, and why; None where none was.

    A task that loses its connection to one on a lost executor is often told of instead of the
    loss. Executors that Spark has removed are counted also without its pages.
    """
    context: Any = spark.sparkContext._jsc.sc()  # noqa: SLF001 - the public tracker knows living ones
    for each in each_of(context.statusStore().executorList(False)):
        removed = each.removeTime()
        if removed.isDefined() and removed.get().getTime() >= at_ms:
            why = each.removeReason()
            told = (
                str(why.get()).strip().split("\n")[0] if why.isDefined() else "no reason is known"
            )
            return f"executor {each.id()} was lost ({told})"
    return None
