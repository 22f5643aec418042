"""What is found out about a failure that nobody knows: nothing good is set aside for it."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from auditor.checkpoints.checkpoint import ASIDE, Checkpoint, fingerprint
from auditor.checkpoints.ranges import Range
from auditor.checkpoints.spared import Place, note_spared, read_spared
from auditor.recovery.poison import STEP_RECORDS, STEPS_MAX, Verdict
from auditor.recovery.poison import search as real_search
from auditor.recovery.rebuilds import REBUILDS_MAX
from auditor.recovery.remedies import RealRemedies
from auditor.trouble import Failure
from engine.brokers import MissingTopic
from services.backbone.clock import ManualClock
from services.backbone.errors import Refused, Transient
from tests.unit.auditor.batches import STREAMS, WATCHES
from tests.unit.auditor.our_shuffle import our_shuffle_says

WATCH = WATCHES["over-purchase"]
SAID = "Job aborted due to stage failure"
FAILED = Failure(SAID, SAID)
PLACES = (Place("trades", 0, 7), Place("trades", 1, 9))
GAP = (
    "org.apache.kafka.clients.consumer.OffsetOutOfRangeException: Fetch position FetchPosition"
    "{offset=3, offsetEpoch=Optional[0]} is out of range for partition trades-0"
)
FEW, MANY = 10, 2 * STEPS_MAX * STEP_RECORDS


class Suspected:
    """A watch whose query failed three times, over brokers and a Spark that do as they are told."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.newest = FEW
        self.guilty: Range | None = None
        self.searched: list[list[Range]] = []
        self.trial: Exception | None = None
        self.lost: str | None = None
        self.keeping: Exception | None = None
        """What keeps a record from being kept aside."""
        self.kept: list[tuple[Place, tuple[Place, ...]]] = []
        """Each record that was kept aside, with what was read past by then."""
        self.topic_is_gone = False
        self.settings = SimpleNamespace(kafka_client_options=dict, auditor_fail_on_data_loss=False)
        checkpoint = Checkpoint("w", home, fingerprint(WATCH, STREAMS, 2))
        recipe: Any = SimpleNamespace(
            checkpoint=checkpoint,
            declared=SimpleNamespace(name="w", watch=WATCH),
            settings=self.settings,
            spark=None,
        )
        self.checkpoint, self.clock = checkpoint, ManualClock()
        self.remedies = RealRemedies(recipe, self.clock)
        checkpoint.claim(self.clock.now_ms())
        monkeypatch.setattr("auditor.recovery.reach.kept_offsets", self._kept)
        monkeypatch.setattr("auditor.recovery.reach.committed", lambda *_: {})
        monkeypatch.setattr("auditor.recovery.guilt.search", self._search)
        monkeypatch.setattr("auditor.recovery.remedies.try_out", self._try_out)
        monkeypatch.setattr("auditor.recovery.remedies.lost_since", lambda *_: self.lost)
        monkeypatch.setattr("auditor.recovery.remedies.Sieve.keep_aside", self._keep_aside)

    def _kept(self, *_: object) -> tuple[dict[str, dict[int, int]], dict[str, dict[int, int]]]:
        if self.topic_is_gone:
            raise MissingTopic("topic trades does not exist")
        return {"trades": {0: 0}}, {"trades": {0: self.newest}}

    def _search(self, ranges: Sequence[Range], *_: object) -> Verdict:
        self.searched.append(list(ranges))
        if self.guilty is not None:
            return Verdict(self.guilty)
        return real_search(ranges, lambda _: False)

    def _keep_aside(self, place: Place, *_: object) -> None:
        if self.keeping is not None:
            raise self.keeping
        self.kept.append((place, read_spared(self.checkpoint.folder)))

    def _try_out(self, *_: object) -> None:
        if self.trial is not None:
            raise self.trial

    def suspect(self, text: str = "") -> None:
        self.remedies.suspect(Failure(SAID, f"{SAID}\n{text}"))

    def set_aside(self) -> int:
        return len(list((self.checkpoint.home / ASIDE).glob("*")))


@pytest.fixture
def suspected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Suspected:
    return Suspected(tmp_path, monkeypatch)


def test_what_nothing_else_explains_is_the_checkpoint(suspected: Suspected) -> None:
    suspected.suspect()
    assert suspected.set_aside() == 1


OUTSIDE = [
    "java.io.IOException: No space left on device",
    "org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized: [alerts]",
    "org.apache.kafka.common.errors.NotEnoughReplicasException: fewer in-sync replicas",
    our_shuffle_says(),
    "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) exit code 137",
]


@pytest.mark.parametrize("text", OUTSIDE)
def test_what_is_outside_sets_nothing_aside_however_often(suspected: Suspected, text: str) -> None:
    for _ in range(20):
        with pytest.raises(Transient, match=SAID):
            suspected.suspect(text)
    assert suspected.set_aside() == 0


def test_a_record_behind_a_lost_executor_is_still_looked_for(suspected: Suspected) -> None:
    suspected.guilty = Range("trades", 0, 3, 5)
    with pytest.raises(Refused, match=r"no single record is to blame: .*trades/0: 3 to 4"):
        suspected.suspect(OUTSIDE[-1])


def test_a_lost_executor_that_the_failure_does_not_name_sets_nothing_aside(
    suspected: Suspected,
) -> None:
    suspected.lost = "executor 1 was lost"
    with pytest.raises(Transient, match="executor 1 was lost: Job aborted"):
        suspected.suspect("Connection to streaming shuffle writer 38 closed before termination")
    assert suspected.set_aside() == 0


def test_a_trial_that_cannot_be_made_sets_nothing_aside(suspected: Suspected) -> None:
    suspected.trial = Transient("no room")
    with pytest.raises(Transient, match="no room"):
        suspected.suspect()
    assert suspected.set_aside() == 0


def test_nothing_is_concluded_before_all_was_looked_at(suspected: Suspected) -> None:
    suspected.newest = MANY
    with pytest.raises(Transient, match="trades/0: 5000000 to 9999999 are not looked at yet"):
        suspected.suspect()
    assert suspected.set_aside() == 0
    suspected.suspect()
    assert suspected.searched[1] == [Range("trades", 0, MANY // 2, MANY)]
    assert suspected.set_aside() == 1


def test_a_watch_whose_sql_fails_is_not_given_up_before_all_was_looked_at(
    suspected: Suspected,
) -> None:
    suspected.newest = MANY
    with pytest.raises(Transient, match="Then change it"):
        suspected.remedies.spare(FAILED)
    with pytest.raises(Refused, match=f"no single record is to blame: .*0 to {MANY - 1}"):
        suspected.remedies.spare(FAILED)


def test_a_record_is_read_past_only_once_it_is_kept_aside(suspected: Suspected) -> None:
    suspected.guilty, place = Range("trades", 0, 3, 4), Place("trades", 0, 3)
    suspected.keeping = Transient("brokers away")
    with pytest.raises(Transient, match="brokers away"):
        suspected.remedies.spare(FAILED)
    assert read_spared(suspected.checkpoint.folder) == ()
    suspected.keeping = None
    suspected.remedies.spare(FAILED)
    assert suspected.kept == [(place, ())]
    assert read_spared(suspected.checkpoint.folder) == (place,)


def test_a_rebuilt_watch_still_reads_past_the_records_it_knows(suspected: Suspected) -> None:
    folder = suspected.checkpoint.folder
    note_spared(folder, PLACES)
    suspected.remedies.rebuild(FAILED)
    suspected.checkpoint.claim(suspected.clock.now_ms())
    assert suspected.set_aside() == 1
    assert read_spared(folder) == PLACES


def test_a_topic_that_may_be_another_one_is_read_whole(suspected: Suspected) -> None:
    note_spared(suspected.checkpoint.folder, PLACES)
    suspected.remedies.accept_loss(Failure(SAID, f"{SAID}: Lost task 0.0 in stage 5.0\n{GAP}"))
    assert suspected.set_aside() == 1
    assert read_spared(suspected.checkpoint.folder) == ()


def test_whoever_lets_a_watch_stop_is_told_what_going_on_takes(suspected: Suspected) -> None:
    suspected.settings.auditor_fail_on_data_loss = True
    with pytest.raises(Refused, match=r"DATA_LOSS=false it goes on.* from the oldest kept event"):
        suspected.remedies.accept_loss(Failure(SAID, GAP))
    assert suspected.set_aside() == 0


def test_a_topic_that_is_gone_may_come_back(suspected: Suspected) -> None:
    suspected.topic_is_gone = True
    for _ in range(20):
        with pytest.raises(Transient, match="topic trades does not exist"):
            suspected.suspect()
        with pytest.raises(Transient, match="topic trades does not exist"):
            suspected.remedies.accept_loss(Failure(SAID, GAP))
    assert suspected.set_aside() == 0


def test_a_topic_that_keeps_too_little_is_no_fault_of_the_disk(suspected: Suspected) -> None:
    for _ in range(REBUILDS_MAX):
        suspected.remedies.accept_loss(Failure(SAID, GAP))
        suspected.checkpoint.claim(suspected.clock.now_ms())
        suspected.clock.move(1)
    with pytest.raises(Refused, match=r"begin anew 4 times .*trades.*retention\.ms") as refused:
        suspected.remedies.accept_loss(Failure(SAID, GAP))
    assert "disk" not in str(refused.value)


def test_a_checkpoint_that_breaks_again_and_again_points_at_the_disk(suspected: Suspected) -> None:
    for _ in range(REBUILDS_MAX):
        suspected.remedies.rebuild(FAILED)
        suspected.checkpoint.claim(suspected.clock.now_ms())
        suspected.clock.move(1)
    with pytest.raises(Refused, match=r"begin anew 4 times .*look at the disk of"):
        suspected.remedies.rebuild(FAILED)
