"""A rehearsal as a whole: chooses the events, runs both versions over them, compares."""

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import SparkSession

from auditor.rehearsal.course import Bounds, Outcome, Stage, run
from auditor.rehearsal.findings import Found, compared, counts, shown, written
from auditor.rehearsal.span import Reading, reading
from auditor.rehearsal.versions import Versions
from auditor.settings import AuditorSettings
from engine.brokers import asking_by_time
from services.backbone.clock import Clock
from services.backbone.errors import Refused
from services.contracts.rehearsals import Answer, Course, Looked


@dataclass(frozen=True, slots=True)
class Limits:
    """How many records are read, and how much each version may take."""

    records: int
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class Done:
    """How one version did, and its alerts by id."""

    course: Course
    found: Mapping[str, Found]


def rehearse(
    spark: SparkSession,
    settings: AuditorSettings,
    clock: Clock,
    versions: Versions,
    span_seconds: float,
    limits: Limits,
) -> Answer:
    """Try a watch over recent events, beside the one that it would replace.

    Raises:
        Transient: the brokers do not answer, or memory is short.
    """
    try:
        chosen = _chosen(spark, settings, clock, versions, span_seconds, limits)
        stage = Stage(spark, settings, clock, chosen, limits.bounds)
        new = _done(stage, run(stage, versions.new))
    except Refused as error:
        return Answer(watch=versions.new.name, refused=str(error))
    return _beside(stage, versions, new)


def _chosen(
    spark: SparkSession,
    settings: AuditorSettings,
    clock: Clock,
    versions: Versions,
    span_seconds: float,
    limits: Limits,
) -> Reading:
    until_ms = clock.now_ms()
    since_ms = until_ms - int(span_seconds * 1000)
    options = settings.kafka_client_options()
    with asking_by_time(spark, options, versions.topics()) as offsets_since:
        return reading(offsets_since, since_ms, until_ms, limits.records)


def _beside(stage: Stage, versions: Versions, new: Done) -> Answer:
    live, refused = None, versions.live_refused
    if versions.live is not None:
        try:
            live = _done(stage, run(stage, versions.live))
        except Refused as error:
            refused = str(error)
    raised = compared(new.found, live.found if live else None)
    return Answer(
        watch=versions.new.name,
        looked=_looked(stage.reading),
        new=new.course,
        live=live.course if live else None,
        live_refused=refused,
        counts=counts(raised),
        raised=shown(raised),
    )


def _done(stage: Stage, outcome: Outcome) -> Done:
    told = written(outcome.texts, stage.reading.until_ms)
    course = Course(
        alerts=len(told.found),
        rows=sum(each.times for each in told.found.values()),
        malformed=outcome.malformed,
        unusable=told.unusable,
        seconds=round(outcome.seconds, 1),
        cut=outcome.cut,
    )
    return Done(course, told.found)


def _looked(chosen: Reading) -> Looked:
    return Looked(
        since_ms=chosen.since_ms,
        until_ms=chosen.until_ms,
        events=chosen.records,
        wanted=chosen.wanted,
    )
