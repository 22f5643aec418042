"""Kill -9 of each program once, a broker and a Postgres away, doubtful providers: nothing is lost.

Method: a workload that counts itself runs through the gateway; the fault comes while events flow;
afterwards every over-purchase must have alerted exactly once and reached the far end once.
"""

import signal
from collections.abc import Callable

import pytest

from tests.acceptance.counts import alerted, reconcile
from tests.acceptance.system import System

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
WORKLOAD = ("--rate", "60", "--orders", "150", "--over-share", "0.3", "--duplicates", "0.1")
AWAY_SECONDS = 10.0


def under_load(system: System, seed: int, fault: Callable[[], None]) -> None:
    """Run the workload; once its first alerts are there, let the fault happen; then count."""
    run = f"f{seed}"
    running = system.simulate(*WORKLOAD, "--seed", str(seed), "--run-id", run)
    system.wait_for(lambda: bool(alerted(system, f"%{run}-%")), "no alert before the fault")
    fault()
    reconcile(system, running.finish())


PROGRAMS = ["gateway", "auditor", "lookout", "deliverer", "heartbeat", "kafka", "postgres"]
STORES = ["kafka", "postgres"]


@pytest.mark.parametrize(("seed", "program"), list(enumerate(PROGRAMS, start=100)))
def test_kill_9_loses_nothing_and_repeats_nothing(system: System, seed: int, program: str) -> None:
    under_load(system, seed, fault=lambda: system.kill(program))


@pytest.mark.parametrize(("seed", "store"), list(enumerate(STORES, start=300)))
def test_a_store_that_stands_still_only_delays(system: System, seed: int, store: str) -> None:
    """SIGSTOP is the nastier outage: connections stay open and nobody answers."""

    def stand_still() -> None:
        stopped = system.find(store)
        for process in stopped:
            process.send_signal(signal.SIGSTOP)
        try:
            system.pause(AWAY_SECONDS)
        finally:
            for process in stopped:
                process.send_signal(signal.SIGCONT)

    under_load(system, seed, fault=stand_still)
