"""The sender to Kafka: what its topic will never take ends the run, and nothing else does."""

from collections.abc import Sequence
from concurrent.futures import Future
from itertools import islice
from typing import Any, cast

import pytest

from services.backbone.errors import NoTopic, Refused, Transient, Trouble
from services.backbone.kafka.producer import Outgoing, Producer
from services.simulator.dials import Shape
from services.simulator.history import history
from services.simulator.kafka_sender import KafkaSender
from services.simulator.tally import Outcome

NO_RIGHT = Refused("Kafka: Broker: Topic authorization failed")
AWAY = Transient("Kafka: Local: Message timed out")
NO_TOPIC = NoTopic("Kafka: Local: Unknown topic")


class Answers:
    """A producer that answers each batch with the next of these lists, and at last with nothing."""

    def __init__(self, *given: list[Trouble | None]) -> None:
        self._given = list(given)

    def send(self, records: Sequence[Outgoing]) -> "Future[list[Trouble | None]]":
        future: Future[list[Trouble | None]] = Future()
        if self._given:
            future.set_result(self._given.pop(0))
        return future

    def unusable(self) -> str | None:
        return None

    def close(self) -> None:
        return None


def sender_that_meets(*given: list[Trouble | None]) -> KafkaSender:
    """Return a sender with as many batches under way, of as many messages as are answered."""
    sender = KafkaSender(cast(Producer, cast(Any, Answers(*given))), "traids")
    messages = history(Shape(), "run", 40)
    for answers in given:
        sender.start(list(islice(messages, len(answers))))
    return sender


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([NO_RIGHT, NO_RIGHT], "authorization failed"),
        ([NO_TOPIC], "there is no stream traids: create it"),
        ([AWAY, NO_TOPIC], "there is no stream traids: create it"),
    ],
)
def test_a_topic_that_will_never_take_anything_ends_the_run(
    answers: list[Trouble | None], said: str
) -> None:
    sender = sender_that_meets(answers)
    with pytest.raises(Refused, match=said):
        list(sender.collect())
    (left,) = sender.close()
    assert len(left.outcomes) == len(answers)
    assert Outcome.ACCEPTED not in left.outcomes


def test_a_topic_that_is_gone_ends_a_run_that_went_well() -> None:
    sender = sender_that_meets([None], [NO_TOPIC])
    with pytest.raises(Refused, match="there is no stream traids"):
        list(sender.collect())


@pytest.mark.parametrize("first", [[None], [None, NO_RIGHT]])
def test_a_message_that_is_refused_beside_others_ends_nothing(first: list[Trouble | None]) -> None:
    sender = sender_that_meets(first, [NO_RIGHT])
    outcomes = [outcome for settled in sender.collect() for outcome in settled.outcomes]
    assert outcomes[0] is Outcome.ACCEPTED
    assert outcomes[-1] is Outcome.REJECTED


def test_a_broker_that_is_away_is_asked_again() -> None:
    sender = sender_that_meets([AWAY, NO_RIGHT])
    (settled,) = sender.collect()
    assert settled.outcomes == [Outcome.REJECTED]
    assert (sender.retried(), sender.waiting()) == (1, 1)
