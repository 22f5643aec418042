"""What becomes of a failed watch, and when its silence counts as death."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from prometheus_client import REGISTRY
from pyspark.errors import PySparkException

from auditor import metrics
from auditor.batches.progress import Progress, Pulse, StateUse, count
from auditor.batches.stagger import Phase
from auditor.fleet import Fleet, Running
from services.backbone.errors import Ended, Refused, Transient
from tests.unit.auditor.fakes import Scene, failures


def batch(number: int) -> Progress:
    return Progress(number, 0, 0, 0, 0, 0, 0.0, 0.0, 0)


def test_waits_grow_and_then_it_gives_up() -> None:
    watched = failures(4)
    waits = [watched.next_wait_seconds(now) for now in (0, 10, 20, 30)]
    for wait, whole in zip(waits, (1, 2, 4, 8), strict=True):
        assert wait is not None
        assert whole / 2 <= wait <= whole
    assert watched.next_wait_seconds(40) is None


def test_old_failures_are_forgotten() -> None:
    watched = failures(1)
    for now in (0, 601, 1202, 1803):
        wait = watched.next_wait_seconds(now)
        assert wait is not None
        assert wait <= 1


def test_no_restart_allowed() -> None:
    assert failures(0).next_wait_seconds(0) is None


def test_pulse_counts_each_batch_once() -> None:
    pulse = Pulse("w", 60, 0)
    assert pulse.take([batch(3), batch(4)], True, 10) == [batch(3), batch(4)]
    assert pulse.take([batch(3), batch(4), batch(5)], True, 20) == [batch(5)]
    assert pulse.take([batch(5)], True, 30) == []
    assert pulse.age_seconds(30) == 10


def test_silence_is_death_only_after_the_limit() -> None:
    pulse = Pulse("w", 60, 0)
    assert pulse.dead(60) is None
    assert pulse.dead(61) == "watch w: no batch for 61 s, limit 60 s"
    pulse.take([batch(0)], True, 61)
    assert pulse.dead(121) is None


def test_ready_from_the_first_batch_until_the_next_start() -> None:
    pulse = Pulse("w", 60, 0)
    assert pulse.not_ready() == "watch w: its first batch has not started"
    pulse.take([], True, 1)
    pulse.take([], False, 2)
    assert pulse.not_ready() is None
    pulse.started(3)
    assert pulse.not_ready() is not None


def test_a_batch_has_ended_only_of_the_query_that_runs() -> None:
    pulse = Pulse("w", 60, 0)
    told = [pulse.has_ended_batch]
    pulse.take([batch(0)], True, 1)
    told.append(pulse.has_ended_batch)
    pulse.started(2)
    assert [*told, pulse.has_ended_batch] == [False, True, False]


def test_restart_counts_batches_again_and_gives_new_time() -> None:
    pulse = Pulse("w", 60, 0)
    pulse.take([batch(7)], True, 10)
    pulse.started(100)
    assert pulse.dead(150) is None
    assert pulse.take([batch(7)], True, 150) == [batch(7)]


def test_age_goes_on_over_starts_that_come_to_no_batch() -> None:
    scene = Scene("young", most=0)
    for _ in range(20):
        scene.look(61)
        scene.fail("gone")
    assert value("progress_age_seconds", "young") == 20 * 61


def test_what_spark_has_told_of_a_batch_is_not_asked_for_again() -> None:
    scene = Scene("told")
    scene.look()
    query = scene.queries[-1]
    for number in range(20):
        query.reports.append(report(number))
        scene.look(1)
    assert value("batches_total", "told") == 20
    written = query.written
    scene.supervised.look()
    assert query.written == written + 1


def report(number: int) -> SimpleNamespace:
    """What Spark tells of a batch without any event."""
    return SimpleNamespace(
        batchId=number,
        batchDuration=1000,
        timestamp="2026-01-01T00:00:00.000Z",
        numInputRows=0,
        observedMetrics={},
        stateOperators=[],
        sink=SimpleNamespace(numOutputRows=0),
        eventTime={},
        durationMs={},
    )


def test_a_watch_without_a_query_reads_and_finds_nothing_now() -> None:
    scene = Scene("idle")
    scene.look()
    for gauge in (metrics.ROW_RATE, metrics.FINDING_RATE, metrics.PROCESSORS):
        gauge.labels("idle").set(7)
    scene.look()
    assert value("rows_per_second", "idle") == 7
    scene.remedies.error = Refused("no way")
    scene.fail("SQLSTATE: 22012")
    scene.look(100)
    shown = ("rows_per_second", "findings_per_second", "processors", "progress_age_seconds")
    assert [value(name, "idle") for name in shown] == [0, 0, 0, 100]


def test_each_batchs_looks_into_state_are_counted() -> None:
    for number in range(2):
        count("looks", replace(batch(number), state=StateUse(looks=40, look_seconds=0.25)))
    assert value("state_looks_total", "looks") == 80
    assert value("state_look_seconds_total", "looks") == 0.5


def value(metric: str, watch: str) -> float | None:
    return REGISTRY.get_sample_value(f"aldebaran_auditor_{metric}", {"watch": watch})


REMEDY = [
    ("[CAST_INVALID_INPUT] The value 'x' SQLSTATE: 22018", "spare"),
    (
        "Some data may have been lost because they are not available in Kafka any more",
        "accept loss",
    ),
    ("[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error occurred", "rebuild"),
]


@pytest.mark.parametrize(("text", "asked"), REMEDY)
def test_each_trouble_has_its_remedy_and_then_a_new_start(text: str, asked: str) -> None:
    scene = Scene()
    scene.look()
    scene.fail(text)
    assert scene.remedies.asked == [asked]
    scene.look(9)
    assert len(scene.queries) == 2


@pytest.mark.parametrize(("text", "asked"), REMEDY)
def test_remedy_that_cannot_help_stops_the_watch_for_good(text: str, asked: str) -> None:
    scene = Scene()
    scene.look()
    scene.remedies.error = Refused("no way")
    scene.fail(text)
    scene.look(1000)
    assert scene.supervised.stopped == "no way"
    assert len(scene.queries) == 1


def test_remedy_that_cannot_be_tried_now_is_tried_again() -> None:
    scene = Scene()
    scene.look()
    scene.remedies.error = Transient("brokers away")
    scene.fail("SQLSTATE: 22012")
    scene.look(9)
    scene.fail("SQLSTATE: 22012")
    assert scene.remedies.asked == ["spare", "spare"]
    assert scene.supervised.stopped is None


def test_unknown_trouble_is_waited_out_for_ever() -> None:
    scene = Scene(most=2)
    for _ in range(20):
        scene.look(9)
        scene.fail("connection refused")
    assert scene.supervised.stopped is None
    assert scene.supervised.record.failing == "connection refused"
    assert scene.remedies.asked == ["suspect"] * 18
    assert len(scene.queries) == 20


def test_unknown_trouble_that_hides_a_cause_stops_with_it() -> None:
    scene = Scene()
    scene.remedies.error = Refused("it was the SQL")
    for _ in range(3):
        scene.look(9)
        scene.fail("connection to streaming shuffle writer closed")
    assert scene.supervised.stopped == "it was the SQL"


def test_the_whole_text_of_an_unknown_trouble_is_looked_into() -> None:
    scene, text = Scene(), "Job aborted\nCaused by: java.io.IOException: No space left on device"
    for _ in range(3):
        scene.look(9)
        scene.fail(text)
    assert scene.remedies.text == text


def test_refusal_by_spark_stops_with_advice() -> None:
    scene = Scene()
    scene.look()
    scene.fail("[STREAMING_REAL_TIME_MODE.OPERATOR_OR_SINK_NOT_IN_ALLOWLIST] no SQLSTATE: 0A000")
    assert "what to do: say it with one GROUP BY" in str(scene.supervised.stopped)


def test_refusal_at_start_stops() -> None:
    scene = Scene()
    scene.refusal = Refused("wrong column")
    scene.look()
    assert scene.supervised.stopped == "wrong column"


def test_query_that_hangs_is_started_again() -> None:
    scene = Scene()
    scene.look()
    scene.look(61)
    assert not scene.queries[0].isActive
    scene.look(9)
    assert len(scene.queries) == 2


def test_a_query_runs_on_after_the_machine_slept_and_may_hang_only_while_it_is_awake() -> None:
    scene = Scene()
    scene.look()
    scene.clock.sleep(3600)
    scene.look(60)
    assert scene.runs
    scene.look(1)
    assert not scene.runs


def test_query_that_cannot_be_stopped_ends_the_program_and_holds_up_no_other() -> None:
    sick, well = Scene("sick"), Scene("well")
    fleet = fleet_of(sick, well)
    fleet.look()
    sick.queries[0].unstoppable = PySparkException("stop took longer than 60 s")
    sick.clock.move(61)
    with pytest.raises(Ended, match=r"^watch sick: its query cannot be stopped: stop took longer"):
        fleet.look()
    fleet.stop()
    assert not well.queries[0].isActive


def fleet_of(*scenes: Scene) -> Fleet:
    fleet = Fleet()
    for scene in scenes:
        name = scene.supervised.watched.name
        fleet.put(name, Running(None, None, scene.supervised, 1, Phase(30, 0)))  # type: ignore[arg-type] # not looked at here
    return fleet


def test_trouble_of_one_watch_leaves_the_others_running() -> None:
    sick, well = Scene("sick", most=0), Scene("well")
    fleet = fleet_of(sick, well)
    fleet.look()
    sick.queries[-1].fail("gone")
    fleet.look()
    assert fleet.notes() == "watch sick fails again and again: gone"
    sick.remedies.error = Refused("watch sick: bad SQL")
    sick.clock.move(9)
    fleet.look()
    sick.queries[-1].fail("SQLSTATE: 22003")
    fleet.look()
    sick.settle()
    assert well.queries[0].isActive
    assert fleet.notes() == "watch sick: bad SQL"
    assert "watch sick: bad SQL" in str(fleet.not_ready())


def test_a_watch_that_waits_for_its_next_start_is_not_ready_and_says_why() -> None:
    scene = Scene("sick")
    fleet = fleet_of(scene)
    for _ in range(2):
        scene.look(9)
        assert fleet.not_ready() is None
        scene.fail("gone")
        assert fleet.not_ready() == "watch sick stands still: gone"
    scene.refusal = Transient("the disk is full")
    scene.look(9)
    assert fleet.not_ready() == "watch sick stands still: the disk is full"
    scene.refusal = Refused("wrong column")
    scene.look(9)
    assert fleet.not_ready() == "wrong column"


def test_a_watch_counts_as_stopped_until_it_is_looked_after_anew() -> None:
    stopped = Scene("sick")
    fleet = fleet_of(stopped)
    assert counted_as_stopped("sick") == 0
    stopped.refusal = Refused("wrong column")
    fleet.look()
    assert counted_as_stopped("sick") == 1
    fleet.put("sick", fleet_of(Scene("sick")).running["sick"])
    assert counted_as_stopped("sick") == 0


def counted_as_stopped(watch: str) -> float | None:
    return value("stopped", watch)


def test_a_missing_watch_is_told_with_its_reason_until_it_runs_or_need_not() -> None:
    fleet = fleet_of()
    fleet.miss("gone", "too few slots")
    fleet.miss("gone", "no topic")
    assert fleet.not_ready() == "watch gone cannot start: no topic"
    assert counted_as_stopped("gone") == 1
    fleet.excuse("gone")
    assert fleet.not_ready() is None
    assert counted_as_stopped("gone") is None


def test_program_ends_when_every_watch_fails_again_and_again() -> None:
    one, other = Scene("one", most=0), Scene("other", most=0)
    fleet = fleet_of(one, other)
    fleet.look()
    one.queries[-1].fail("gone")
    fleet.look()
    other.queries[-1].fail("gone too")
    with pytest.raises(Transient, match="every watch failed too often, last: gone too"):
        fleet.look()
