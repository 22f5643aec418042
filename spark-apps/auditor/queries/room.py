"""Whether a watch has slots beside the others that are declared; told without brokers."""

from collections.abc import Mapping

from pyspark.sql import SparkSession

from auditor.queries.declared import Declared, read_declarations
from auditor.queries.plan import shuffles
from auditor.queries.slots import check_slots, slots_needed, with_another
from auditor.queries.trial import over_nothing
from auditor.settings import AuditorSettings
from services.backbone.errors import Refused
from services.contracts.streams import stream_topics


def room(spark: SparkSession, settings: AuditorSettings, declared: Declared) -> str:
    """Say how many slots a watch needs, and whether the auditor has them.

    Raises:
        Refused: the SQL, or what it returns, does not fit.
    """
    own, slots = slots_of(spark, settings, declared), settings.auditor_slots
    needed = together(_others(spark, settings), declared, own, settings.auditor_shuffle_partitions)
    try:
        check_slots(needed, slots)
    except Refused as error:
        return f"needs {own} slots and does not fit: {error}"
    by_watch = ", ".join(f"{watch} {count}" for watch, count in needed.items())
    return f"needs {own} slots and fits: {by_watch}, of {slots}"


def slots_of(spark: SparkSession, settings: AuditorSettings, declared: Declared) -> int:
    """Return how many tasks of a watch run at once, with partitions as its streams declare them.

    Raises:
        Refused: the SQL, or what it returns, does not fit.
    """
    messages = over_nothing(spark.newSession(), declared)
    topics = [topic for one in declared.streams.values() for topic in stream_topics(one)]
    partitions = {topic.name: topic.partitions for topic in topics}
    shuffled = shuffles(messages) * settings.auditor_shuffle_partitions
    return slots_needed(declared.watch, partitions, shuffled)


Counted = Mapping[str, tuple[Declared, int]]
"""The watches that run, as far as they can, with the slots of each."""


def together(others: Counted, declared: Declared, own: int, shuffled: int) -> dict[str, int]:
    """Return the slots by watch once this one is taken, new or as a change of one that runs."""
    running = {name: slots for name, (_, slots) in others.items()}
    if declared.name in others:
        live, _ = others[declared.name]
        if live.face(shuffled).state == declared.face(shuffled).state:
            return running
    return with_another(running, declared.name, own)


def _others(spark: SparkSession, settings: AuditorSettings) -> Counted:
    try:
        wanted = read_declarations(settings.auditor_streams, settings.auditor_watches).wanted()
    except Refused:
        return {}  # no watch is declared there
    counted = {}
    for name, one in wanted.items():
        try:
            counted[name] = one, slots_of(spark, settings, one)
        except Refused:
            continue  # such a watch does not run, and takes no slots
    return counted
