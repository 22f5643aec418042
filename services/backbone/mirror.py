"""Mirrors: of two programs that read a topic, the second reads all of it too, in its own group.

Each asks the ledger, and whichever is first does the work, so that nothing waits for one that is
dead (docs/decisions/0017-mirrored-lookouts.md, 0018-mirrored-deliverers.md). A mirror lets the
other begin, and leaves to it what is not urgent.
"""

from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import Field

from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.producer import Outgoing
from services.backbone.niceness import step_back
from services.backbone.settings import KafkaSettings

GROUP_SUFFIX: Final = "-mirror"
NICENESS: Final = 10
BEHIND_SECONDS: Final = 0.01
"""So long a mirror lets the other begin: more than that takes, and little beside a death's cost.
At the same instant both would do the work, and each keep the other waiting for a processor."""


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

    @property
    def behind_seconds(self) -> float:
        """How long it waits with what it has read."""
        return BEHIND_SECONDS if self.is_mirror else 0.0


def stand_back(settings: MirrorSettings) -> None:
    """Let the other have the processors first, where there are too few for both.

    So a mirror falls behind in a storm, and finds done what it comes to; see `step_back`.
    """
    if settings.is_mirror:
        step_back(NICENESS)


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
