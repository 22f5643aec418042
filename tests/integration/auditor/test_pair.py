"""One of two auditors is killed while events flow: the other raises all, under the same ids.

The killed one is not started again, so the survivor raises what crosses after its end without
waiting for it. Batches are long, so that the survivor is most likely in the middle of one. How soon
it raises is measured, not tested: by row `pair-killed` of the bench.
"""

import threading
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import contextmanager

import pytest

from tests.integration.auditor.running import Findings, Place, Sender, wait_for

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(600)]

BATCH_SECONDS = 60
PACE_SECONDS = 0.05
ENOUGH = 40
"""Orders that cross before the kill, and again after it."""


class Flow:
    """Orders that cross their limit one after the other, at a steady pace."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._go)
        self.crossed: list[str] = []

    @contextmanager
    def running(self) -> Iterator["Flow"]:
        self._thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            self._thread.join()
            self._sender.flush()

    def _go(self) -> None:
        while not self._stop.wait(PACE_SECONDS):
            order = f"order-{len(self.crossed)}"
            self._sender.request(order, 1)
            self._sender.purchase(f"{order}-p", order, 2)
            self.crossed.append(order)


class Raised:
    """What each auditor has raised: by auditor and order, the ids of its alerts, repeats kept."""

    def __init__(self, place: Place, auditors: Collection[str]) -> None:
        self._findings = Findings(place)
        self._auditors = auditors
        self._ids: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))

    def by(self, auditor: str) -> dict[str, list[str]]:
        for alert in self._findings.fresh():
            if alert.auditor in self._auditors:  # other tests' alerts are on the topic too
                (order,) = alert.key.values()
                self._ids[alert.auditor][order].append(alert.alert_id)
        return self._ids[auditor]


def test_killing_one_of_two_costs_nothing(place: Place) -> None:
    place.declare("over-purchase")
    killed, survivor = f"{place.name}-a", f"{place.name}-b"
    raised, flow = Raised(place, (killed, survivor)), Flow(Sender(place))
    long = BATCH_SECONDS
    with (
        place.auditor(AUDITOR_ID=killed, AUDITOR_BATCH_SECONDS=long) as one,
        place.auditor(AUDITOR_ID=survivor, AUDITOR_BATCH_SECONDS=long, AUDITOR_PHASE=0.5) as other,
    ):
        one.wait_until_ready()
        other.wait_until_ready()
        with flow.running():
            wait_for("one raises", lambda: len(raised.by(killed)) >= ENOUGH)
            wait_for("the other raises", lambda: len(raised.by(survivor)) >= ENOUGH)
            one.kill()
            before = len(flow.crossed)
            wait_for("more cross", lambda: len(flow.crossed) >= before + ENOUGH)
        crossed = set(flow.crossed)
        wait_for("the survivor raises all", lambda: set(raised.by(survivor)) >= crossed)
        assert other.process.poll() is None, other.log()[-3000:]
    by_killed, by_survivor = raised.by(killed), raised.by(survivor)
    assert set(by_survivor) == crossed
    # A query that fails and starts again raises anew what its last batch had raised: same id.
    assert {len(set(ids)) for ids in by_survivor.values()} == {1}
    assert set(by_killed) < crossed
    assert all(set(ids) == set(by_survivor[order]) for order, ids in by_killed.items())
