"""Producer and consumer as programs see them, on the simulated broker."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from services.backbone.errors import Transient, Trouble
from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.kafka.producer import Outgoing, Producer
from services.contracts import topics
from tests.simulation.broker import Broker, Group, Member, incoming
from tests.simulation.kernel import Process, Violation
from tests.simulation.plan import Kind
from tests.simulation.store import Line


def _done(outcomes: list[Trouble | None]) -> "Future[list[Trouble | None]]":
    future: Future[list[Trouble | None]] = Future()
    future.set_result(outcomes)
    return future


class QuietProducer(Producer):
    """Writes nothing: what a deliverer tells is not read by anybody here."""

    def __init__(self) -> None:
        self._told = _done([])

    def send(self, records: Sequence[Outgoing]) -> "Future[list[Trouble | None]]":
        return self._told


class LineProducer(Producer):
    """Writes and blocks meanwhile; a failed write may have been done."""

    def __init__(self, broker: Broker, line: Line) -> None:
        self._broker = broker
        self._line = line

    def send(self, records: Sequence[Outgoing]) -> "Future[list[Trouble | None]]":
        worth = [each for each in records if each.topic != topics.DELIVERY_EVENTS]
        if not worth:
            return _done([None] * len(records))
        fault = self._line.weather.fault(self._line.process.slot, "produce")
        kind = fault.kind if fault else None
        if kind is Kind.CRASH_BEFORE:
            self._line.kernel.kill(self._line.process)
        self._line.block(self._line.weather.there())
        if fault is not None and kind in (Kind.STORE_DIES_BEFORE, Kind.STORE_DIES_AFTER):
            self._line.store.go_away(fault.seconds)
        if self._broker.is_away or kind is Kind.NOT_DONE:
            self._line.block(0.3)
            return _done([Transient("Kafka is away")] * len(records))
        for each in worth:
            self._broker.append(each.topic, each.key, each.value)
        if kind is Kind.CRASH_AFTER:
            self._line.kernel.kill(self._line.process)
        if fault is not None and kind in (Kind.SLOW, Kind.SLOW_ANSWER, Kind.PAUSE_AFTER):
            self._line.kernel.stop(self._line.process, fault.seconds)
        self._line.block(0.0)
        lost = Transient("the acknowledgement was lost") if kind is Kind.ANSWER_LOST else None
        return _done([lost] * len(records))


class GroupConsumer(Consumer):
    """Reads one topic as a member of its group; gives one batch, then none, then asks to stop.

    The consumer loop under test ends after each batch, so that the kernel can let others go on.
    """

    def __init__(
        self,
        broker: Broker,
        group: Group,
        topic: str,
        process: Process,
        wake: Callable[[], None],
    ) -> None:
        self._broker = broker
        self._group = group
        self._topic = topic
        self._joined = Member(process, wake)
        self._block: Callable[[float], None] | None = None
        self.stop = threading.Event()
        self._polls = 0
        process.on_resumed.append(lambda: group.wake(self._joined))
        group.join(self._joined)

    def one_batch(self, block: Callable[[float], None]) -> None:
        """Prepare for one turn of a loop that may block."""
        self._block = block
        self._polls = 0
        self.stop.clear()

    def batch(self, limit: int, timeout_seconds: float) -> list[Incoming]:
        self._polls += 1
        if self._polls > 2:
            self.stop.set()
        if self._polls > 1 or self._broker.is_away:
            return []
        if not self._group.is_member(self._joined):
            self._joined.positions.clear()
            self._group.join(self._joined)
        return incoming(self._topic, self._group.fetch(self._joined, limit))

    def commit(self, batch: Sequence[Incoming]) -> None:
        if not self._broker.is_away:
            ends = {each.partition: each.offset + 1 for each in batch}
            self._group.commit(self._joined, ends)

    def idle(self, timeout_seconds: float) -> None:
        if self._block is None:
            raise Violation("only a loop that blocks stays idle")
        self._block(timeout_seconds)

    def again(self) -> "GroupConsumer":
        """Prepare for one batch outside of a loop."""
        self._polls = 0
        return self

    def has_more(self) -> bool:
        """Tell whether another batch may be waiting."""
        return not self._broker.is_away and self._group.has_more(self._joined)
