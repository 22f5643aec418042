"""A changed rule that reads its streams from the start, beside the one that it will replace."""

from typing import Final

from auditor import metrics
from auditor.catchup import CatchUp, behind
from auditor.fleet import Running
from auditor.guards import topics_of
from auditor.job import Scene
from auditor.offsets import Offsets, committed
from engine.brokers import kept_offsets

SAMPLE_EVERY_SECONDS: Final = 1.0


class Candidate:
    """Looks after the new query until it has read all that there is."""

    def __init__(self, scene: Scene, running: Running) -> None:
        self.running = running
        self.caught_up = False
        """Whether it reads what comes as it comes."""
        self._scene = scene
        self._catch_up = CatchUp()
        self._sampled_at_seconds = float("-inf")

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
        read = self._read()
        metrics.BEHIND.labels(self.running.declared.name).set(behind(read, newest))
        self._catch_up.sample(newest)
        self.caught_up = bool(read) and self._catch_up.reached(read)

    def _newest(self) -> Offsets:
        options = self._scene.settings.kafka_client_options()
        topics = topics_of(self.running.declared.watch)
        return kept_offsets(self._scene.spark, options, topics)[1]

    def _read(self) -> Offsets:
        try:
            return committed(self._scene.spark, self.running.recipe.checkpoint.location())
        except (OSError, ValueError):
            return {}
