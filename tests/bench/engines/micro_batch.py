"""The auditor's query with Spark's micro-batch trigger, as a program."""

import sys
from functools import partial
from typing import Final

from pyspark.sql import DataFrame

from auditor.job import Scene, prepare, prepare_all
from auditor.queries.declared import read_declarations
from auditor.queries.query import Recipe, messages_of, prefixed, sink
from auditor.session import open_session
from auditor.settings import AuditorSettings
from services.backbone.service import Life, run
from services.backbone.settings import read_settings

EVENTS_A_BATCH: Final = 100_000


def main() -> int:
    """Run the watches until SIGTERM, one micro-batch after the other without a pause."""
    settings = read_settings(AuditorSettings)
    return run("micro-batch", settings, lambda life: _audit(settings, life))


def _audit(settings: AuditorSettings, life: Life) -> None:
    declarations = read_declarations(settings.auditor_streams, settings.auditor_watches)
    started: list[str] = []
    life.health.add_ready("watches", lambda: None if started else "the watches are not started")
    spark = open_session(settings)
    scene = Scene(spark, settings, life.clock)
    prepared = prepare_all(scene, partial(prepare, scene), declarations.watches.values())
    recipes = [each.recipe for each in prepared]
    writers = [sink(messages(each), each.checkpoint, settings) for each in recipes]
    queries = [writer.trigger(processingTime="0 seconds").start() for writer in writers]
    started += [each.declared.name for each in prepared]
    life.stop.wait()
    for query in queries:
        query.stop()
    spark.stop()


def messages(recipe: Recipe) -> DataFrame:
    """Return a watch's messages; one batch takes so much of a backlog, not the whole of it."""

    def records(stream: str) -> DataFrame:
        reader = recipe.spark.readStream.format("kafka").option("subscribe", stream)
        reader = reader.option("startingOffsets", "earliest")
        reader = reader.option("maxOffsetsPerTrigger", EVENTS_A_BATCH)
        return reader.options(**prefixed(recipe.settings)).load()

    return messages_of(recipe.spark, recipe.declared, records, recipe.settings.auditor_id)


if __name__ == "__main__":
    sys.exit(main())
