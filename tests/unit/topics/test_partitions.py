"""How many partitions shared topics get, and that nothing else can be asked for."""

import pytest
from pydantic import ValidationError

from services.topics.__main__ import TopicsSettings, declared_topics


def test_each_shared_topic_has_what_was_asked_for() -> None:
    wanted = {"alerts": 4, "deliveries.email": 8}
    settings = TopicsSettings(channels=("bus", "email"), topic_partitions=wanted)
    made = {topic.name: topic.partitions for topic in declared_topics(settings)}
    assert {name: made[name] for name in (*wanted, "deliveries.bus")} == {
        **wanted,
        "deliveries.bus": 1,
    }


@pytest.mark.parametrize("name", ["trades", "deliveries.sms", "heartbeats"])
def test_what_nobody_shares_is_refused_with_what_can_be_shared(name: str) -> None:
    with pytest.raises(ValidationError, match=f"{name} is none of alerts, deliveries.bus"):
        TopicsSettings(channels=("bus",), topic_partitions={name: 2})
