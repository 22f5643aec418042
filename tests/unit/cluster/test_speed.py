"""What counts as across a boundary, and that the pair is as fast as its faster one."""

from hypothesis import given
from hypothesis import strategies as st

from tests.cluster.speed import AROUND_MS, Pause, Probe, probe_of, quantiles, table

latencies = st.floats(0.1, 10_000)


@given(st.lists(st.tuples(latencies, latencies), min_size=1, max_size=50))
def test_the_pair_is_never_slower_than_either(pairs: list[tuple[float, float]]) -> None:
    probes = [Probe(float(n), {"a": a, "b": b}) for n, (a, b) in enumerate(pairs)]
    rows = table(probes, [])
    for alone in ("a, all", "b, all"):
        assert all(rows["pair, all"][name] <= rows[alone][name] for name in rows[alone])


def test_across_is_from_before_the_pause_until_after_it() -> None:
    pause = Pause("a", ended_ms=10_000, lasted_ms=3_000, parts_ms={})
    moments = (7_000 - AROUND_MS - 1, 7_000 - AROUND_MS, 10_000 + AROUND_MS, 10_001 + AROUND_MS)
    assert [pause.touches(at) for at in moments] == [False, True, True, False]


def test_each_alone_knows_its_own_boundaries_and_the_pair_both() -> None:
    probes = [Probe(float(at), {"a": 1.0, "b": 2.0}) for at in (0, 50_000, 100_000)]
    pauses = [Pause("a", 0, 10, {}), Pause("b", 50_000, 10, {})]
    rows = table(probes, pauses)
    assert rows["a, across"]["max"] == 1.0
    assert rows["b, across"]["max"] == 2.0
    assert {"pair, across", "pair, between"} <= rows.keys()


def test_an_echo_is_no_alert() -> None:
    probe = probe_of({"at_ms": 5.0, "ms": {"a": 4.0, "echo": 1.0}})
    assert probe == Probe(5.0, {"a": 4.0}, 1.0)
    rows = table([probe, probe_of({"at_ms": 6.0, "ms": {"a": 3.0}})], [])
    assert (rows["pair, all"]["max"], rows["echo"]["max"]) == (4.0, 1.0)
    assert probe_of({"at_ms": 7.0, "ms": {"echo": 1.0}}).first_ms() is None


def test_quantiles_of_nothing_are_none() -> None:
    assert quantiles([]) == {}
    assert quantiles([3.0]) == {"p50": 3.0, "p99": 3.0, "p99.9": 3.0, "max": 3.0}
