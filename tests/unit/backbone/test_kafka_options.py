"""Options that no client can be opened with are a wrong setting, and told without their values."""

import threading
from collections.abc import Callable
from typing import Final

import pytest
from pydantic import SecretStr

from services.backbone.clock import ManualClock
from services.backbone.errors import Refused
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.lag import LagReader
from services.backbone.kafka.lag_apart import LagApart
from services.backbone.kafka.producer import Producer, ProducerSettings
from services.backbone.kafka.security import Security
from services.backbone.kafka.trail import Followed, Trail
from services.backbone.kafka.window import Bounds, Window

CLIENTS: Final[dict[str, Callable[[ProducerSettings], object]]] = {
    "producer": lambda given: Producer(given, "test"),
    "consumer": lambda given: Consumer(given, "test", group="g", topics=["t"]),
    "admin": lambda given: TopicAdmin(given, "test"),
    "lag": lambda given: LagReader(given, "test", lambda _: True),
    "lag apart": lambda given: LagApart(given, "test", [], ManualClock(), threading.Event()),
    "window": lambda given: Window(given, ManualClock(), ["t"], Bounds()),
    "trail": lambda given: Trail(given, Followed(b"k", ["t"], []), 0, {}),
}


def with_options(options: dict[str, str]) -> ProducerSettings:
    secret = {name: SecretStr(value) for name, value in options.items()}
    return ProducerSettings(kafka_bootstrap_servers="127.0.0.1:9", kafka_options=secret)


@pytest.mark.parametrize("client", CLIENTS)
def test_an_option_that_does_not_exist_is_named_as_a_wrong_setting(client: str) -> None:
    with pytest.raises(Refused, match=r"^ALDEBARAN_KAFKA_OPTIONS: .*secuirty\.protocol"):
        CLIENTS[client](with_options({"secuirty.protocol": "ssl"}))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"security.protocol": "ssl", "ssl.ca.location": "/hunter2"}, "ssl.ca.location failed"),
        ({"security.protocol": "hunter2"}, "security.protocol"),
        ({"metadata.max.age.ms": "hunter2"}, "metadata.max.age.ms"),
        (
            {
                "security.protocol": "ssl",
                "ssl.keystore.location": "/hunter2",
                "ssl.keystore.password": "hunter2",
            },
            "ssl.keystore.location",
        ),
        ({"oauth_cb": "hunter2"}, "oauth_cb"),
    ],
)
def test_the_option_is_named_and_no_value(options: dict[str, str], named: str) -> None:
    with pytest.raises(Refused, match="ALDEBARAN_KAFKA_OPTIONS") as caught:
        TopicAdmin(with_options(options), "test")
    assert named in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_another_clusters_entrance_is_blamed_on_its_own_setting() -> None:
    entrance = Security("ssl", ca_file="/nowhere.pem", setting="ALDEBARAN_BUS")
    with pytest.raises(Refused, match=r"^ALDEBARAN_BUS: .*ssl\.ca\.location"):
        Producer(with_options({}), "test", entrance)
