"""Figures of several looks, held to plain counting."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from services.console.parts.figures import LATENCY_SECONDS, figures
from services.console.parts.looking import Look, Target
from services.console.parts.samples import Key, Samples, samples, total
from services.console.watching import Memory

GATEWAY = Target("gateway", "http://gateway")
NOW_MS = 1_700_000_000_000
HEARTBEAT = Target("heartbeat", "http://heartbeat")
ACCEPTED: Key = ("aldebaran_gateway_events_total", (("result", "accepted"), ("stream", "s")))


def look(at: float, accepted: float | None) -> Look:
    found = {} if accepted is None else {ACCEPTED: accepted}
    trouble = {"answer": "none"} if accepted is None else {}
    return Look(GATEWAY, at, trouble, {}, found)


def test_a_rate_is_the_growth_over_the_time() -> None:
    history = {GATEWAY: [look(0, 100), look(5, 150), look(10, 300)]}
    assert figures(history).events_per_second == 20


def test_a_program_started_again_counts_from_zero() -> None:
    assert figures({GATEWAY: [look(0, 100), look(10, 50)]}).events_per_second == 5


def test_nothing_is_told_of_a_program_that_does_not_answer() -> None:
    assert figures({GATEWAY: [look(0, 100), look(10, None)]}).events_per_second is None
    assert figures({GATEWAY: [look(0, 100)]}).events_per_second is None
    assert figures({}).auditors == ()


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=60))
def test_rates_are_never_negative_whatever_is_counted(counts: list[int]) -> None:
    history = {GATEWAY: [look(at, count) for at, count in enumerate(counts)]}
    rate = figures(history).events_per_second
    assert rate is not None
    assert rate >= 0


def heartbeat(registry: CollectorRegistry) -> Histogram:
    for name in ("answer_age_seconds", "auditor_in_step"):
        gauge = Gauge(f"aldebaran_heartbeat_{name}", "-", ["watch", "auditor"], registry=registry)
        gauge.labels("w", "a").set(1)
    return Histogram(
        "aldebaran_heartbeat_latency_seconds",
        "-",
        ["watch", "auditor"],
        registry=registry,
        buckets=[each / 1000 for each in range(1, 101)],
    )


@given(
    st.lists(st.floats(0.0005, 0.099), min_size=1, max_size=200),
    st.lists(st.floats(0.0005, 0.099), max_size=50),
)
def test_quantiles_are_right_to_a_bucket(new: list[float], old: list[float]) -> None:
    registry = CollectorRegistry()
    latency = heartbeat(registry).labels("w", "a")
    for each in old:
        latency.observe(each)
    before = samples(generate_latest(registry).decode())
    for each in new:
        latency.observe(each)
    after = samples(generate_latest(registry).decode())
    looks = [Look(HEARTBEAT, 0, {}, {}, before), Look(HEARTBEAT, LATENCY_SECONDS, {}, {}, after)]
    (auditor,) = figures({HEARTBEAT: looks}).auditors
    assert auditor.latency.count == len(new)
    for share, found in ((0.5, auditor.latency.p50_ms), (0.99, auditor.latency.p99_ms)):
        exact = sorted(new)[max(0, -(-int(share * 100) * len(new) // 100) - 1)] * 1000
        assert found is not None
        assert abs(found - exact) <= 1.001


def auditor(name: str, processors: float | None, state: float) -> Look:
    registry = CollectorRegistry()
    told = {"progress_age_seconds": 1.0}
    if processors is not None:
        told |= {"processors": processors, "state_bytes": state, "state_disk_bytes": state / 2}
        told |= {"rows_per_second": 10.0, "findings_per_second": 0.5}
    for each, value in told.items():
        made = Gauge(f"aldebaran_auditor_{each}", "-", ["watch"], registry=registry)
        made.labels("w").set(value)
    return Look(Target(name, name), 0, {}, {}, samples(generate_latest(registry).decode()))


def test_a_watch_costs_and_reads_what_all_auditors_tell() -> None:
    one, other, young = auditor("a", 0.25, 4096), auditor("b", 0.5, 2048), auditor("c", None, 0)
    (watch,) = figures({each.target: [each] for each in (one, other, young)}).watches
    assert (watch.rows_per_second, watch.findings_per_second) == (20, 1)
    assert (watch.processors, watch.state_bytes, watch.state_disk_bytes) == (0.75, 6144, 3072)
    (unmeasured,) = figures({young.target: [young]}).watches
    assert unmeasured.processors is unmeasured.rows_per_second is unmeasured.state_bytes is None


def stopped(name: str, is_stopped: bool) -> Look:
    """Return a look at an auditor that tells nothing of a watch but whether it stands still."""
    found: Samples = {("aldebaran_auditor_stopped", (("watch", "w"),)): float(is_stopped)}
    return Look(Target(name, name), 0, {}, {}, found)


def test_a_watch_that_no_auditor_can_start_is_stopped() -> None:
    alone = stopped("a", True)
    (watch,) = figures({alone.target: [alone]}).watches
    assert (watch.watch, watch.stopped, watch.behind_seconds) == ("w", True, None)
    assert watch.processors is watch.rows_per_second is None


def test_a_watch_that_one_auditor_cannot_start_is_stopped_and_costs_what_the_other_tells() -> None:
    looks = (auditor("a", 0.25, 4096), stopped("b", True))
    (watch,) = figures({each.target: [each] for each in looks}).watches
    assert (watch.stopped, watch.behind_seconds, watch.processors) == (True, 1.0, 0.25)


def test_a_watch_that_only_begins_is_not_told_of() -> None:
    begins = stopped("a", False)
    assert figures({begins.target: [begins]}).watches == ()


def told(part: str, name: str, values: dict[str, float]) -> Look:
    """Return a look at one gauge, by auditor where that is named."""
    registry = CollectorRegistry()
    gauge = Gauge(name, "-", ["auditor"] if any(values) else [], registry=registry)
    for each, value in values.items():
        (gauge.labels(each) if each else gauge).set(value)
    return Look(Target(part, part), 0, {}, {}, samples(generate_latest(registry).decode()))


def test_what_all_lookouts_tell_of_one_ledger_counts_once() -> None:
    name = "aldebaran_lookout_outbox_unpublished"
    looks = [told("a", name, {"": 7}), told("b", name, {"": 9}), look(0, None)]
    assert figures({each.target: [each] for each in looks}).unpublished == 9
    assert figures({GATEWAY: [look(0, 1)]}).unpublished is None


def test_what_one_auditor_alone_raised_is_shown() -> None:
    alone = told("x", "aldebaran_heartbeat_disagreements_open", {"": 3})
    assert figures({alone.target: [alone]}).disagreements == 3
    assert figures({GATEWAY: [look(0, 1)]}).disagreements is None


def test_an_auditor_that_was_never_heard_is_shown() -> None:
    looks = [
        told("x", "aldebaran_heartbeat_auditor_in_step", {"a": 1, "b": 0}),
        told("y", "aldebaran_heartbeat_answer_age_seconds", {"a": 2.5}),
    ]
    heard, unheard = figures({each.target: [each] for each in looks}).auditors
    assert (heard.auditor, heard.in_step, heard.answer_age_seconds) == ("a", True, 2.5)
    assert (unheard.auditor, unheard.in_step, unheard.answer_age_seconds) == ("b", False, None)


def test_only_what_is_wanted_is_read() -> None:
    registry = CollectorRegistry()
    counter = Counter("aldebaran_gateway_events", "-", ["stream", "result"], registry=registry)
    counter.labels('odd "name"\n', "accepted").inc(3)
    counter.labels("s", "rejected").inc(4)
    Gauge("something_else", "-", registry=registry).set(5)
    found = samples(generate_latest(registry).decode())
    assert total(found, "aldebaran_gateway_events_total", result="accepted") == 3
    assert total(found, "aldebaran_gateway_events_total") == 7
    assert total(found, "something_else") is None


def test_what_is_not_in_the_form_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\S"):
        samples('aldebaran_gateway_events_total{stream="s"} many\n')


def test_memory_keeps_a_minute_and_forgets_programs_that_are_gone() -> None:
    memory = Memory(seconds=60)
    for at in range(0, 200, 2):
        memory.keep([look(at, at)], NOW_MS)
    assert len(memory.looks[GATEWAY]) == 31
    memory.keep([Look(HEARTBEAT, 200, {})], NOW_MS)
    assert list(memory.looks) == [HEARTBEAT]
