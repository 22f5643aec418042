"""Which declaration of each watch is kept for the next start; written only where it is new."""

from collections.abc import Mapping
from pathlib import Path

from auditor.fleet import Running
from auditor.job import Scene
from auditor.queries import current
from auditor.queries.declared import Declared, Face


class Kept:
    """What one auditor keeps of its watches beside their checkpoints."""

    def __init__(self, scene: Scene) -> None:
        self._folder = scene.settings.checkpoints_here()
        self._shuffle_partitions = scene.settings.auditor_shuffle_partitions
        self._clock = scene.clock
        self._noted: dict[str, tuple[Face, bool]] = {}

    def note(self, running: Mapping[str, Running]) -> None:
        """Keep the declaration of each watch whose query Spark has taken.

        Raises:
            Transient: the folder cannot be written to.
            Refused: what is kept cannot be read until a person changes something.
        """
        for name, one in running.items():
            worked = one.supervised.record.has_worked
            note = one.declared.face(self._shuffle_partitions), worked
            if self._noted.get(name) != note and one.supervised.batches.not_ready() is None:
                now_ms = self._clock.now_ms()
                current.keep(self._home(name), one.declared, worked=worked, now_ms=now_ms)
                self._noted[name] = note

    def go_back(self, bad: Declared, earlier: Declared, reason: str) -> None:
        """Keep the earlier declaration of a watch, and why the bad one's rows are refused.

        Raises:
            Transient: the folder cannot be written to.
        """
        current.restore(self._home(bad.name), earlier, refused=bad, reason=reason)

    def forget(self, watch: str) -> None:
        """Keep nothing of a watch that does not run any more."""
        current.forget(self._home(watch))
        self._noted.pop(watch, None)

    def _home(self, watch: str) -> Path:
        return self._folder / watch
