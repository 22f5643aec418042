"""What has to be done so that the watches that run become the watches that are declared."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from auditor.queries.declared import Face


class Kind(StrEnum):
    """How one watch changes."""

    STOP = "stop"
    """Removed or paused: its query ends, its checkpoint stays."""
    START = "start"
    """New, or no longer paused."""
    RESUME = "resume"
    """A start on the state of what ran last, which could not start with its auditor."""
    CONTINUE = "continue"
    """Texts or rules changed: the same state goes on under the new declaration."""
    REPLACE = "replace"
    """The rule changed: the old one runs until the new one has caught up beside it."""

    @property
    def needs_turn(self) -> bool:
        """Whether it stops a query or competes with one, as one auditor of a pair at a time may."""
        return self in (Kind.CONTINUE, Kind.REPLACE)

    @property
    def needs_trial(self) -> bool:
        """Whether Spark is asked first; of a state that goes on it is not, as it took it before."""
        return self in (Kind.START, Kind.REPLACE)


@dataclass(frozen=True, slots=True)
class Change:
    """One step."""

    kind: Kind
    watch: str


_SEQUENCE = tuple(Kind)


def changes(
    running: Mapping[str, Face], declared: Mapping[str, Face], gone: Collection[str]
) -> list[Change]:
    """Return the steps, those that free slots first.

    `declared` has no paused watches. Of those that run only what is surely `gone` is stopped: one
    that is declared nowhere may be the one whose file is bad.
    """
    stopped = [Change(Kind.STOP, name) for name in gone]
    new = [Change(Kind.START, name) for name in declared if name not in running]
    other = [
        Change(Kind.CONTINUE if running[name].state == face.state else Kind.REPLACE, name)
        for name, face in declared.items()
        if name in running and running[name] != face
    ]
    return sorted(stopped + new + other, key=lambda step: (_SEQUENCE.index(step.kind), step.watch))
