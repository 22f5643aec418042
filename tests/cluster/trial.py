"""One cell played: load, the deed, then exact counts."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from services.machine.waiting import now_seconds
from services.simulator.report import Report
from tests.chaos.counting import (
    SENDS_AT_ONCE,
    Counts,
    Message,
    count,
    in_vain,
    messages,
    rows,
    settled,
)
from tests.cluster.cells import Cell, Deed
from tests.cluster.growth import GROWTHS, MINIMUM, ended
from tests.cluster.kubectl import pause
from tests.cluster.nodes import NODE_DEEDS
from tests.cluster.release import WORK, Release

DIALS: Final = ("--rate", "20", "--over-share", "0.3", "--duplicates", "0.1", "--disorder", "0.1")
BEFORE_SECONDS: Final = 5.0
AFTER_SECONDS: Final = 10.0
REPLICAS: Final = 3
UPGRADED_TAG: Final = os.environ.get("CLUSTER_NEXT_TAG", "next")


@dataclass(frozen=True)
class Outcome:
    """What a cell came to. Latencies run from the broker's stamp on the crossing purchase to the
    webhook's receiver, in milliseconds; `whole_seconds` is the time from the deed until every pod
    was new and ready; `images` are those that ran at the end; `shares` is what each pod of a scaled
    component did since then; `shrunk_seconds` is the time from then until an autoscaler had taken
    the pod away that it had added. Latencies are none where nothing came."""

    title: str
    accepted: int
    sent_again: int
    counts: Counts
    latency_p50_ms: int | None
    latency_p99_ms: int | None
    latency_max_ms: int | None
    whole_seconds: float
    images: str
    shares: dict[str, list[int]]
    shrunk_seconds: float | None = None


class Trial:
    """One cell on a release."""

    def __init__(self, release: Release, cell: Cell, run: str) -> None:
        self._release = release
        self._cell = cell
        self._run = run
        self._reports: list[Report] = []

    @property
    def title(self) -> str:
        """The cell in words."""
        return self._cell.title

    def play(self) -> Outcome:
        """Play the cell to its end; what does not come to rest stands beside the counts."""
        before = messages(self._release.received())
        load = self._release.simulate(*DIALS, "--seed", "1", "--run-id", self._run)
        try:
            self._release.wait_for(load.has_sent, "the load does not begin")
            pause(BEFORE_SECONDS)
            begun = now_seconds()
            self._disturb()
            self._release.wait_ready()
            whole_seconds = now_seconds() - begun
            shares = self._shares() if self._cell.deed in {Deed.SCALE, Deed.GROW} else {}
            shrunk_seconds = self._shrink() if self._cell.deed is Deed.GROW else None
            pause(AFTER_SECONDS)
        finally:
            self._reports.append(ended(load))
        return self._counted(before, whole_seconds, shares, shrunk_seconds)

    def _disturb(self) -> None:
        if self._cell.deed in NODE_DEEDS:
            NODE_DEEDS[self._cell.deed](self._release, self._cell.to)
            return
        deeds: dict[Deed, Callable[[], None]] = {
            Deed.NONE: lambda: pause(BEFORE_SECONDS),
            Deed.KILL: self._kill,
            Deed.SCALE: lambda: self._release.scale(REPLICAS),
            Deed.GROW: self._grow,
            Deed.UPGRADE: lambda: self._release.upgrade(UPGRADED_TAG),
            Deed.ROLL_BACK: self._release.roll_back,
        }
        deeds[self._cell.deed]()

    def _kill(self) -> None:
        picked = (self._cell.label,) if self._cell.label else ()
        self._release.kubectl.kill(
            self._release.pods(self._cell.to, *picked)[0]["metadata"]["name"]
        )
        pause(2.0)  # until the sets know of it

    def _grow(self) -> None:
        """Burden the part until something has added a pod to it."""
        with GROWTHS[self._cell.to].burden(self._release, self._run, self._reports):
            self._release.wait_for(
                lambda: len(self._release.pods(self._cell.to)) > MINIMUM,
                f"nothing adds a pod to {self._cell.to}",
            )

    def _shrink(self) -> float:
        """Wait until only as many pods are there as at first; return how long that took."""
        begun = now_seconds()
        self._release.wait_for(
            lambda: len(self._release.pods(self._cell.to)) == MINIMUM,
            f"nothing takes a pod from {self._cell.to}",
        )
        return round(now_seconds() - begun, 1)

    def _shares(self) -> dict[str, list[int]]:
        """Wait until every pod has done some of the work; return how much each did.

        Of a part that grew by itself alone; of all that were scaled by hand.
        """
        parts = (self._cell.to,) if self._cell.deed is Deed.GROW else tuple(WORK)
        before, shares = self._release.work(parts), dict[str, list[int]]()

        def all_work() -> bool:
            for component, pods in self._release.work(parts).items():
                shares[component] = [
                    done - before[component].get(pod, 0) for pod, done in pods.items()
                ]
            return all(share > 0 for each in shares.values() for share in each)

        self._release.wait_for(all_work, "a pod of a scaled component takes no load")
        return shares

    def _counted(
        self,
        before: frozenset[Message],
        whole_seconds: float,
        shares: dict[str, list[int]],
        shrunk_seconds: float | None,
    ) -> Outcome:
        reports, runs = self._reports, [f"%{self._run}-%"]
        expected = {alert for report in reports for alert in report.expected_alert_ids}
        assert all(report.unknown == 0 for report in reports), reports
        problem = in_vain(
            lambda: self._release.wait_for(
                lambda: settled(self._release, runs, expected),
                f"not all is alerted and at rest: {self._cell.title}",
            )
        )
        held_limit = SENDS_AT_ONCE * self._cell.doubting
        counts = count(self._release, runs, expected, before, held_limit=held_limit)
        latencies = sorted(self._latencies_ms(runs))
        return Outcome(
            title=self._cell.title,
            accepted=sum(report.accepted for report in reports),
            sent_again=sum(report.retried for report in reports),
            counts=replace(counts, problem=problem),
            latency_p50_ms=at_share(latencies, 0.5),
            latency_p99_ms=at_share(latencies, 0.99),
            latency_max_ms=latencies[-1] if latencies else None,
            whole_seconds=round(whole_seconds, 1),
            images=self._release.images(),
            shares=shares,
            shrunk_seconds=shrunk_seconds,
        )

    def _latencies_ms(self, runs: list[str]) -> list[int]:
        arrived = self._release.arrivals_ms()
        appended = dict(
            self._release.ask(
                "SELECT alert_id, (record->>'appended_at_ms')::bigint FROM alerts"
                " WHERE watch = 'over-purchase' AND record->>'key' LIKE ANY(%s)",
                runs,
            )
        )
        return [
            arrived[row.delivery_id] - appended[row.alert_id]
            for row in rows(self._release, runs)
            if row.channel == "webhook" and row.delivery_id in arrived
        ]


def at_share(sorted_ms: list[int], share: float) -> int | None:
    """Return the latency at this share of the sorted ones, if there are any."""
    return sorted_ms[int(len(sorted_ms) * share)] if sorted_ms else None
