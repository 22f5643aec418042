"""Sends straight to the stream's topic, as fast as the machine gives."""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Final

from services.backbone.errors import NoTopic, Refused, Transient, Trouble
from services.backbone.kafka.producer import Outgoing, Producer
from services.simulator.history import Message
from services.simulator.sending import Settled
from services.simulator.tally import Outcome

IN_FLIGHT_MESSAGES: Final = 20_000
"""Well below the producer's queue, so that a full queue is never met."""


@dataclass(frozen=True, slots=True)
class _Flight:
    messages: Sequence[Message]
    future: "Future[list[Trouble | None]]"


class KafkaSender:
    """Keeps flights in starting sequence; the oldest is nearly always the first to be answered."""

    def __init__(self, producer: Producer, topic: str) -> None:
        self._producer = producer
        self._topic = topic
        self._flights: deque[_Flight] = deque()
        self._open = 0
        self._full = False
        self._retried = 0
        self._has_landed = False
        """Whether the topic has ever taken a message."""

    def start(self, batch: Sequence[Message]) -> bool:
        """Hand the batch to the producer, unless too much is open; once full, half must go."""
        if self._open + len(batch) > IN_FLIGHT_MESSAGES:
            self._full = True
        elif self._open <= IN_FLIGHT_MESSAGES // 2:
            self._full = False
        if self._full and self._open:
            return False
        self._launch(batch)
        return True

    def collect(self) -> Iterator[Settled]:
        """Yield answered batches; what the broker could not take yet is sent again.

        Raises:
            Refused: there is no such topic, or it took nothing so far and never will.
            Transient: the producer has come to its end.
        """
        for _ in range(len(self._flights)):
            if not self._flights[0].future.done():
                return
            answers = self._usable(self._flights[0])
            flight = self._flights.popleft()
            self._open -= len(flight.messages)
            yield self._landed(flight, answers)

    def retried(self) -> int:
        """Return how many messages were sent again."""
        return self._retried

    def waiting(self) -> int:
        """Return how many batches are open."""
        return len(self._flights)

    def close(self) -> list[Settled]:
        """Give the producer a moment; what is open after it is unknown."""
        self._producer.close()
        return [
            self._final(flight) if flight.future.done() else _all_unknown(flight.messages)
            for flight in self._flights
        ]

    def _launch(self, batch: Sequence[Message]) -> None:
        topic = self._topic
        records = [Outgoing(topic, message.key, message.value) for message in batch]
        self._open += len(batch)
        self._flights.append(_Flight(batch, self._producer.send(records)))

    def _usable(self, flight: _Flight) -> list[Trouble | None]:
        """Return a flight's answers; where they are the run's end, it stays to be closed."""
        answers = flight.future.result()
        if any(answers) and (fatal := self._producer.unusable()):
            raise Transient(f"Kafka: the producer cannot go on: {fatal}")
        if end := self._end(answers):
            raise end
        self._has_landed = self._has_landed or None in answers
        return answers

    def _end(self, answers: list[Trouble | None]) -> Refused | None:
        """Return why no message will ever be taken, if the answers say so."""
        if any(isinstance(answer, NoTopic) for answer in answers):
            advice = "create it, or correct ALDEBARAN_SIMULATOR_STREAM"
            return Refused(f"there is no stream {self._topic}: {advice}")
        refused = [answer for answer in answers if isinstance(answer, Refused)]
        is_end = refused and len(refused) == len(answers) and not self._has_landed
        return refused[0] if is_end else None

    def _landed(self, flight: _Flight, answers: list[Trouble | None]) -> Settled:
        if not any(answers):
            return Settled(flight.messages, [Outcome.ACCEPTED] * len(answers))
        pairs = list(zip(flight.messages, answers, strict=True))
        later = [message for message, answer in pairs if isinstance(answer, Transient)]
        if later:
            self._retried += len(later)
            self._launch(later)
        done = [(message, answer) for message, answer in pairs if not isinstance(answer, Transient)]
        return Settled([message for message, _ in done], [_outcome(answer) for _, answer in done])

    @staticmethod
    def _final(flight: _Flight) -> Settled:
        return Settled(flight.messages, [_outcome(answer) for answer in flight.future.result()])


def _outcome(answer: Trouble | None) -> Outcome:
    if answer is None:
        return Outcome.ACCEPTED
    return Outcome.REJECTED if isinstance(answer, Refused) else Outcome.UNKNOWN


def _all_unknown(messages: Sequence[Message]) -> Settled:
    return Settled(messages, [Outcome.UNKNOWN] * len(messages))
