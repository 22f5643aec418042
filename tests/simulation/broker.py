"""Kafka: topics of partitions, groups with committed offsets, at least once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from services.backbone.kafka.consumer import Incoming
from tests.simulation.kernel import START_MS, Kernel, Process

SESSION_SECONDS: Final = 2.0
"""A member that gives no sign for so long is put out of its group."""


@dataclass(eq=False)
class Member:
    """One consumer as its group knows it; `positions` is what it has fetched, by partition."""

    process: Process
    wake: Callable[[], None]
    positions: dict[int, int] = field(default_factory=dict)


@dataclass
class Group:
    """Who reads which partition of one topic, and how far that is settled."""

    kernel: Kernel
    log: list[list[bytes | None]]
    members: list[Member] = field(default_factory=list)
    readers: list[Member] = field(default_factory=list)
    """All that ever read: who was put out of the group comes back by reading on."""
    committed: dict[int, int] = field(default_factory=dict)
    turn: int = 0
    on_commit: Callable[[], None] = lambda: None
    """Called after offsets have moved on."""

    def join(self, member: Member) -> None:
        """Take a member in."""
        self.members.append(member)
        if member not in self.readers:
            self.readers.append(member)
            member.process.on_missing.append(lambda: self._miss(member))
        self.rebalance()

    def rebalance(self) -> None:
        """Deal the partitions out; who gets one begins at the committed offset."""
        self.turn += 1
        for index, member in enumerate(self.members):
            owned = {p for p in range(len(self.log)) if self._owner(p) == index}
            kept = member.positions
            member.positions = {p: kept.get(p, self.committed.get(p, 0)) for p in sorted(owned)}
            self.wake(member)

    def rewind(self, records: int) -> None:
        """Forget the last commits, so that records come again."""
        for partition, offset in self.committed.items():
            self.committed[partition] = max(0, offset - records)
        for member in self.members:
            member.positions.clear()
        self.rebalance()

    def wake(self, member: Member) -> None:
        """Let a member look for records soon."""
        self.kernel.after(0.001, member.wake, member.process)

    def wake_readers(self, partition: int) -> None:
        """Let whoever reads a partition look for records soon."""
        for member in self.members:
            if partition in member.positions:
                self.wake(member)

    def is_member(self, member: Member) -> bool:
        """Tell whether the group still counts on it."""
        return member in self.members

    def fetch(self, member: Member, limit: int) -> list[tuple[int, int, bytes]]:
        """Return records as (partition, offset, value), and move the member's position."""
        found: list[tuple[int, int, bytes]] = []
        for partition in sorted(member.positions, key=lambda each: (each + self.turn) % 2):
            log, at = self.log[partition], member.positions[partition]
            while at < len(log) and len(found) < limit:
                if (value := log[at]) is not None:
                    found.append((partition, at, value))
                at += 1
            member.positions[partition] = at
        return found

    def has_more(self, member: Member) -> bool:
        """Tell whether something lies beyond the member's positions."""
        return any(at < len(self.log[part]) for part, at in member.positions.items())

    def commit(self, member: Member, ends: dict[int, int]) -> None:
        """Keep offsets of partitions that are still the member's; others are refused."""
        if member in self.members:
            for partition, end in ends.items():
                if partition in member.positions:
                    self.committed[partition] = end
            self.on_commit()

    def is_settled(self, value: bytes) -> bool:
        """Tell whether a record was written, and offsets are committed past each copy of it."""
        if not any(value in log for log in self.log):
            return False
        left = (log[self.committed.get(part, 0) :] for part, log in enumerate(self.log))
        return not any(value in log for log in left)

    def _miss(self, member: Member) -> None:
        def put_out() -> None:
            if member in self.members and (member.process.stopped or not member.process.alive):
                self.members.remove(member)
                self.rebalance()

        self.kernel.after(SESSION_SECONDS, put_out)

    def _owner(self, partition: int) -> int:
        return (partition + self.turn) % len(self.members)


@dataclass
class Broker:
    """All topics; a topic that nobody reads keeps only a count."""

    kernel: Kernel
    groups: dict[str, Group] = field(default_factory=dict)
    mirrors: dict[str, Group] = field(default_factory=dict)
    """Groups that read beside another what that one reads."""
    away_until: float = -1.0

    def declare(self, topic: str, partitions: int) -> Group:
        """Make a topic with its group."""
        group = self.groups[topic] = Group(self.kernel, [[] for _ in range(partitions)])
        return group

    def mirror(self, topic: str) -> None:
        """Make a second group of a topic, before anything is written to it."""
        self.mirrors[topic] = Group(self.kernel, self.groups[topic].log)

    @property
    def every_group(self) -> list[Group]:
        """All groups, mirrors last."""
        return [*self.groups.values(), *self.mirrors.values()]

    @property
    def is_away(self) -> bool:
        """Whether nothing can be written or read."""
        return self.kernel.now < self.away_until

    def append(self, topic: str, key: str, value: bytes) -> None:
        """Write one record."""
        group = self.groups.get(topic)
        if group is None:
            return
        partition = sum(key.encode()) % len(group.log)
        group.log[partition].append(value)
        for each in self.every_group:
            if each.log is group.log:
                each.wake_readers(partition)

    def lose(self, topic: str) -> None:
        """Lose every record of a topic; offsets go on."""
        for log in self.groups[topic].log:
            log[:] = [None] * len(log)

    def back(self) -> None:
        """Tell every reader that the brokers are there again."""
        for group in self.every_group:
            for member in group.readers:
                group.wake(member)


def incoming(topic: str, found: Sequence[tuple[int, int, bytes]]) -> list[Incoming]:
    """Return records as a consumer gives them."""
    return [Incoming(topic, part, offset, None, value, START_MS) for part, offset, value in found]
