"""Readiness tells what is missing, from the last answer."""

from collections.abc import Mapping

from services.backbone.errors import Transient
from services.gateway.broker import BrokerWatch


def test_ready_only_while_the_brokers_answer_and_have_the_topics() -> None:
    answers: list[Mapping[str, int] | Transient] = [
        Transient("Kafka: away"),
        {"a": 1},
        {"a": 1, "a.rejected": 1, "other": 1},
        Transient("Kafka: away again"),
    ]

    def ask() -> Mapping[str, int]:
        answer = answers.pop(0)
        if isinstance(answer, Transient):
            raise answer
        return answer

    watch = BrokerWatch(["a", "a.rejected"], ask)
    said = [watch.complaint()]
    while answers:
        watch.look()
        said.append(watch.complaint())
    assert said == [
        "Kafka has not been asked yet",
        "Kafka: away",
        "no topic a.rejected: run python -m services.topics",
        None,
        "Kafka: away again",
    ]
