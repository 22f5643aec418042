"""A fault is no trial if it hits nobody, or is over before it can bite."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from services.machine.problems import MachineProblem
from tests.acceptance.system import System
from tests.chaos.cells import AUDITORS, CONTROLLER, FOLLOWER, LEADER, Cell, Fault, plan
from tests.chaos.conftest import BATCH_SECONDS
from tests.chaos.stage import Stage
from tests.chaos.trial import BASELINE_LIMIT_PROBES, enough, lasting_seconds, named


class Running:
    """Programs that run, by name."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def programs(self) -> Mapping[str, Sequence[object]]:
        return {name: [] for name in self.names}

    def auditors(self) -> list[str]:
        return [name for name in self.names if name.startswith("auditor")]

    def leader(self) -> str:
        return "kafka-3"

    def controller(self) -> str:
        return "kafka"


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("lookout", ["lookout"]),
        (AUDITORS, ["auditor-a", "auditor-b"]),
        (LEADER, ["kafka-3"]),
        (FOLLOWER, ["kafka-2"]),
        (CONTROLLER, ["kafka"]),
    ],
)
def test_a_word_means_programs_that_run(word: str, meant: list[str]) -> None:
    running = Running("lookout", "auditor-a", "auditor-b", "kafka", "kafka-2", "kafka-3")
    assert named(running, word) == meant


@pytest.mark.parametrize("word", ["lookout", AUDITORS, LEADER, FOLLOWER, CONTROLLER])
def test_who_does_not_run_cannot_be_hit(word: str) -> None:
    with pytest.raises(AssertionError, match=f"does not run: {word}"):
        named(Running("gateway"), word)


def test_what_hits_an_auditors_disk_outlasts_its_batch() -> None:
    disks = (Fault.FULL, Fault.SLOW)
    found = [cell for cell in plan(["auditor-a", "auditor-b"]) if cell.fault in disks]
    for cell in found:
        if cell.hit == ("auditor-a",):
            assert lasting_seconds(cell) > BATCH_SECONDS
    assert lasting_seconds(Cell(Fault.FULL, ("postgres",))) < BATCH_SECONDS


def test_who_decides_stands_in_the_newest_vote(tmp_path: Path) -> None:
    system = System(tmp_path)
    votes = {"kafka": (1, 4), "kafka-2": (-1, 7), "kafka-3": (3, 6)}
    for name, (leader, epoch) in votes.items():
        written = system.state(name, "data", "__cluster_metadata-0", "quorum-state")
        written.parent.mkdir(parents=True)
        written.write_text(f'{{"leaderId":{leader},"leaderEpoch":{epoch}}}')
    stage = Stage(system)
    with pytest.raises(MachineProblem, match="no broker decides"):
        stage.controller()
    written = system.state("kafka", "data", "__cluster_metadata-0", "quorum-state")
    written.write_text('{"leaderId":2,"leaderEpoch":8}')
    assert stage.controller() == "kafka-2"


def test_a_baseline_ends_also_on_a_machine_that_is_never_steady() -> None:
    restless = [60, 900] * (BASELINE_LIMIT_PROBES // 4)
    unsteady = [*restless, *[10] * 50]
    assert not enough(unsteady[1:])
    assert enough([*[5] * (BASELINE_LIMIT_PROBES - len(unsteady)), *unsteady])
