"""The auditor's job: every watch checked before it starts, and then under supervision."""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from pyspark.sql import SparkSession

from auditor.batches.boundaries import Boundaries, set_length
from auditor.batches.following import Batches
from auditor.batches.progress import Pulse
from auditor.batches.stagger import Phase, phase_between, phase_of
from auditor.checkpoints.checkpoint import Checkpoint, fingerprint
from auditor.cost import Cost, SparkJobs
from auditor.fleet import Running
from auditor.queries.declared import Declared
from auditor.queries.plan import shuffles
from auditor.queries.query import Recipe
from auditor.queries.slots import check_slots, slots_needed, topics_of
from auditor.recovery.remedies import RealRemedies
from auditor.settings import AuditorSettings
from auditor.supervision import Supervised, Watched
from engine.brokers import asking
from engine.restarts import Failures, RestartLimit
from services.backbone.clock import Clock
from services.backbone.log import logger

log = logger(__name__)


@dataclass(frozen=True, slots=True)
class Scene:
    """What every watch of one auditor needs."""

    spark: SparkSession
    settings: AuditorSettings
    clock: Clock


Prepare = Callable[[Declared, Phase], Running]
"""Checks a watch whose batches should end then, as `prepare` does in one scene."""


def recipe_of(scene: Scene, declared: Declared) -> Recipe:
    """Return what a watch is started from."""
    settings, watch = scene.settings, declared.watch
    home = settings.checkpoints_here() / watch.watch
    wanted = fingerprint(watch, declared.streams, settings.auditor_shuffle_partitions)
    checkpoint = Checkpoint(watch.watch, home, wanted, settings.store_here(watch.watch))
    return Recipe(scene.spark, settings, declared, checkpoint)


def prepare(scene: Scene, declared: Declared, phase: Phase) -> Running:
    """Check a watch by itself, and return it under supervision, not yet started.

    Raises:
        Refused: something cannot work; the message says what to do.
        Transient: the brokers do not answer, or memory is short.
    """
    settings, watch = scene.settings, declared.watch
    recipe = recipe_of(scene, declared)
    shuffled = shuffles(recipe.messages()) * settings.auditor_shuffle_partitions
    topics = topics_of(watch)
    with asking(scene.spark, settings.kafka_client_options()) as brokers:
        slots = slots_needed(watch, brokers.partition_counts(topics), shuffled)
        _warn_of_times(brokers.with_publishers_times(topics))
    return Running(declared, recipe, _supervised(scene, recipe, phase), slots, phase)


def _warn_of_times(topics: Iterable[str]) -> None:
    """Where `services.topics` does not run nobody else says so; what runs today goes on."""
    for topic in topics:
        log.warning(
            "publishers_times",
            topic=topic,
            harm="one event dated next year throws away everybody's state",
            next="set the topic's message.timestamp.type to LogAppendTime",
        )


def prepare_all(scene: Scene, prepare: Prepare, declared: Iterable[Declared]) -> list[Running]:
    """Check every watch, and all of them together, before any starts.

    Raises:
        Refused: something cannot work; the message says what to do.
        Transient: the brokers do not answer, or memory is short.
    """
    every = tuple(declared)
    prepared = [
        prepare(one, own_phase(scene, number, len(every))) for number, one in enumerate(every)
    ]
    needed = {one.declared.name: one.slots for one in prepared}
    check_slots(needed, scene.settings.auditor_slots)
    return prepared


def own_phase(scene: Scene, number: int, count: int) -> Phase:
    """Return when the batches of watch `number` of `count` should end."""
    settings = scene.settings
    return phase_of(settings.auditor_batch_seconds, settings.auditor_phase, number, count)


def free_phase(scene: Scene, taken: Iterable[Phase]) -> Phase:
    """Return when the batches of one more watch should end, beside others that run."""
    settings = scene.settings
    return phase_between(settings.auditor_batch_seconds, settings.auditor_phase, taken)


def _supervised(scene: Scene, recipe: Recipe, phase: Phase) -> Supervised:
    settings, clock = scene.settings, scene.clock
    name = recipe.declared.name
    remedies = RealRemedies(recipe, clock)
    limit = RestartLimit(settings.auditor_restarts_max, settings.auditor_restarts_window_seconds)
    silence = 2 * settings.auditor_batch_seconds + settings.auditor_progress_grace_seconds
    batches = Batches(
        name,
        Boundaries(name, phase, partial(set_length, scene.spark), clock),
        Pulse(name, silence, clock.awake_seconds()),
        Cost(SparkJobs(scene.spark)),
        clock,
    )
    failures = Failures(limit, random.Random())  # noqa: S311 - jitter, not secrecy
    return Supervised(Watched(name, remedies.start, remedies), batches, failures, clock)
