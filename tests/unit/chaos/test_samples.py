"""Samples are read as the client library writes them."""

from prometheus_client import CollectorRegistry, Counter, generate_latest

from tests.integration.samples import total


def test_samples_are_summed_by_metric_and_labels() -> None:
    registry = CollectorRegistry()
    many = Counter("things_total", "With labels.", ["kind", "side"], registry=registry)
    Counter("things_more_total", "Another, whose name begins alike.", registry=registry).inc(100)
    Counter("bare_total", "Without labels.", registry=registry).inc(5)
    for kind, side, count in (("a", "left", 1), ("a", "right", 2), ("b", "left", 4)):
        many.labels(kind, side).inc(count)
    page = generate_latest(registry).decode()
    assert total(page, "things_total") == 7
    assert total(page, "things_total", kind="a") == 3
    assert total(page, "things_total", kind="a", side="left") == 1
    assert total(page, "bare_total") == 5
    assert total(page, "unknown_total") == 0
