"""Mirrors: of two programs that read a topic, the second reads all of it too, in its own group.

Each asks the ledger, and whichever is first does the work, so that nothing waits for one that is
dead (docs/decisions/0017-mirrored-lookouts.md, 0018-mirrored-deliverers.md). A mirror lets the
other begin, and leaves to it what is not urgent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.producer import Outgoing
from services.backbone.settings import KafkaSettings

GROUP_SUFFIX: Final = "-mirror"
BEHIND_SECONDS: Final = 0.01
"""So long a mirror lets the other begin: more than that takes, and little beside a death's cost.
At the same instant both would do the work, and each keep the other waiting for a processor."""
EACH_SECONDS: Final = 0.001
"""What a thing that was read takes at most, where many are: twice what was measured."""
FEW_TIMES: Final = 10
"""So many times the work itself a batch waits at most, however far behind a storm has left us."""
FURTHEST_SECONDS: Final = 0.5
"""Of one wait; several batches behind, taking over in a storm may cost some 1.5 s."""


class MirrorSettings(KafkaSettings):
    """Settings of a program that can be a mirror."""

    ordinal: Annotated[int, Field(ge=0, le=999)] = 0
    """Its number among the programs of its kind. Those of odd numbers are mirrors: they read all
    that the others read, in a group `<group>-mirror`, so that nothing waits for one that is dead.
    """

    @property
    def is_mirror(self) -> bool:
        """Whether it reads beside another what that one reads."""
        return self.ordinal % 2 == 1

    def behind_seconds(self, count: int) -> float:
        """Return how long it waits at least with so many as it has read."""
        return BEHIND_SECONDS if self.is_mirror else 0.0


@dataclass
class Distance:
    """How far a mirror stays behind the other: in a storm so far that it finds things done.

    It falls back where both have done the same at the same time, comes nearer while things are done
    when it comes to them, and does not wait for one that does nothing.
    """

    _further_seconds: float = 0.0
    _nothing_was_done: bool = False

    def behind_seconds(self, count: int) -> float:
        """Return how long to wait with a batch of so many."""
        return BEHIND_SECONDS + min(self._further_seconds, FEW_TIMES * count * EACH_SECONDS)

    def found(self, count: int, done: int) -> None:
        """Learn how many of a batch the other had done before."""
        self._nothing_was_done = done == 0 < count
        if not self._nothing_was_done:
            self._further(max(self._further_seconds / 2, (count - done) * EACH_SECONDS))

    def recorded(self, count: int, new: int) -> None:
        """Learn how many of so many we were the first to record."""
        if new < count:
            self._further(max(2 * self._further_seconds, count * EACH_SECONDS))
        elif self._nothing_was_done:
            self._further_seconds = 0.0

    def _further(self, seconds: float) -> None:
        self._further_seconds = min(seconds, FURTHEST_SECONDS)


class LeftToTheOther:
    """Keeps nothing aside: the other program does, which reads it too."""

    def write(self, records: Sequence[Outgoing]) -> None:
        """Leave them."""


def open_consumer(settings: MirrorSettings, program: str, group: str, topic: str) -> Consumer:
    """Return a consumer of the topic in the group, or in that of the group's mirrors.

    A new mirror begins with what comes: what is older is the other program's alone.

    Raises:
        Refused: by options that the client cannot be opened with.
    """
    mirror = settings.is_mirror
    group += GROUP_SUFFIX if mirror else ""
    return Consumer(settings, program, group=group, topics=[topic], from_beginning=not mirror)
