"""Lets windows wait longer for a query that was away: what nobody has read yet is not late.

The watermark runs on the newest event of all partitions, and heartbeats are among them, which go on
while no auditor runs. Where one batch does not read all that waits, Spark would drop the rest.
"""

from collections.abc import Callable
from dataclasses import replace

from auditor.checkpoints.offsets import behind, committed, committed_watermark_ms
from auditor.queries.query import Recipe
from auditor.queries.slots import topics_of
from engine.brokers import asking_by_time
from services.backbone.errors import Refused
from services.backbone.log import logger
from services.contracts.durations import LIMIT_MS, milliseconds
from services.contracts.watches import WatchDeclaration

log = logger(__name__)


def waiting(watch: WatchDeclaration, wait_ms: int) -> WatchDeclaration:
    """Return the watch with windows that wait so long; a book keeps its events as declared."""
    if watch.book:
        return watch
    return watch.model_copy(update={"watermark": f"{wait_ms} milliseconds"})


def needed_ms(
    declared_ms: int, reached_ms: int, now_ms: int, is_unread_before: Callable[[int], bool]
) -> int:
    """Return how long windows have to wait in a query that starts now.

    `reached_ms` is its watermark, 0 without one. Where something lies unread that could become late
    before it is read, the watermark stays there until time itself moves it on.
    """
    half_ms = declared_ms // 2
    stays_ms = min(now_ms - reached_ms, LIMIT_MS)
    if not reached_ms or stays_ms <= declared_ms + half_ms:
        return declared_ms
    return stays_ms if is_unread_before(now_ms - half_ms) else declared_ms


def patient(recipe: Recipe, now_ms: int) -> Recipe:
    """Return what to start from now, so that nothing that lies unread is late.

    What is declared stays: by its mark the alerts of this auditor are compared with another's.
    What cannot be read or asked for fails the query itself, and is judged there.

    Raises:
        Transient: the brokers do not answer.
    """
    declared = recipe.declared
    if declared.watch.book:
        return recipe
    try:
        wait_ms = _needed_ms(recipe, now_ms)
    except (OSError, ValueError, Refused):
        return recipe
    if wait_ms == milliseconds(declared.watch.watermark):
        return recipe
    log.warning("windows_wait_longer", watch=declared.name, wait_seconds=round(wait_ms / 1000))
    return replace(recipe, watermark=waiting(declared.watch, wait_ms).watermark)


def _needed_ms(recipe: Recipe, now_ms: int) -> int:
    location = recipe.checkpoint.location()
    declared_ms = milliseconds(recipe.declared.watch.watermark)
    reached_ms = committed_watermark_ms(recipe.spark, location)

    def is_unread_before(at_ms: int) -> bool:
        options, topics = recipe.settings.kafka_client_options(), topics_of(recipe.declared.watch)
        with asking_by_time(recipe.spark, options, topics) as since:
            return behind(committed(recipe.spark, location), since(at_ms)) > 0

    return needed_ms(declared_ms, reached_ms, now_ms, is_unread_before)
