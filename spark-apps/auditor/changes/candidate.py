"""A changed rule that reads its streams from the start, beside the one that it will replace."""

from typing import Final

from auditor import metrics
from auditor.batches.boundaries import BatchEnd
from auditor.batches.stagger import Phase
from auditor.changes.ahead import Ahead
from auditor.changes.catch_up import CatchUp
from auditor.checkpoints.offsets import Offsets, behind, committed, read_by
from auditor.fleet import Running
from auditor.job import Scene
from auditor.queries.slots import topics_of
from engine.brokers import kept_offsets

CATCH_UP_SECONDS: Final = 10.0
"""Length of the batches of a rule that catches up: only their ends tell how far it is."""
SAMPLE_EVERY_SECONDS: Final = 1.0


class Candidate:
    """Looks after the new query until it has read all that there is."""

    def __init__(self, scene: Scene, running: Running) -> None:
        """Let it read under a name of its own, as the old one is shown under the watch's."""
        self.running = running
        self.caught_up = False
        """Whether it reads what comes as it comes."""
        self._scene = scene
        options = scene.settings.kafka_client_options()
        self._catch_up = CatchUp(Ahead(scene.spark, options, scene.clock).is_clear)
        self._sampled_at_seconds = float("-inf")
        self._shown = f"{self.watch}+new"
        running.supervised.call(self._shown, Phase(CATCH_UP_SECONDS, 0.0))

    @property
    def watch(self) -> str:
        """The watch whose rule changed."""
        return self.running.declared.name

    def look(self) -> None:
        """Look after the query, and see once a second how far it is.

        Raises:
            Transient: brokers or disk do not answer.
        """
        self.running.supervised.look()
        now = self._scene.clock.monotonic_seconds()
        if now - self._sampled_at_seconds < SAMPLE_EVERY_SECONDS:
            return
        self._sampled_at_seconds = now
        newest = self._newest()
        self._catch_up.sample(newest, self._scene.clock.now_ms() / 1000)
        ended = self.running.supervised.batches.last
        read = self._read(ended)
        metrics.BEHIND.labels(self.watch).set(behind(read, newest))
        self.caught_up = ended is not None and self._has_caught_up(read, ended)

    def take_name(self) -> None:
        """Be shown as the watch's own query, with batches that end when the watch's should."""
        self.running.supervised.call(self.watch, self.running.phase)

    def end(self) -> None:
        """End its query."""
        self.running.supervised.stop()

    def show_no_more(self) -> None:
        """Show no more values of how it caught up: it has taken over, or was given up."""
        metrics.forget(self._shown)
        metrics.change_is_over(self.watch)

    def _has_caught_up(self, read: Offsets, ended: BatchEnd) -> bool:
        """What has failed since that batch is behind again, and goes on who knows when."""
        reads_on = self.running.supervised.not_ready() is None
        return reads_on and bool(read) and self._catch_up.reached(read, ended.read_until_seconds)

    def _newest(self) -> Offsets:
        options = self._scene.settings.kafka_client_options()
        topics = topics_of(self.running.declared.watch)
        return kept_offsets(self._scene.spark, options, topics)[1]

    def _read(self, ended: BatchEnd | None) -> Offsets:
        """Newer notes than that batch's would tell of a moment that is not known yet."""
        spark, location = self._scene.spark, self.running.recipe.checkpoint.location
        try:
            if ended is None:
                return committed(spark, location())
            return read_by(spark, location(), ended.batch)
        except (OSError, ValueError):
            return {}
