"""Options that no client can be opened with are a wrong setting, and told without their values."""

import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

import pytest
from pydantic import SecretStr

from services.backbone.clock import ManualClock
from services.backbone.errors import Refused, Transient
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.consumer import Consumer
from services.backbone.kafka.lag import LagReader
from services.backbone.kafka.lag_apart import LagApart
from services.backbone.kafka.newest import Newest, Room
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
    "newest": lambda given: Newest(given, ManualClock(), "t", Room()),
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


@pytest.mark.parametrize("client", ["window", "newest", "trail"])
def test_who_looks_at_topics_for_people_fetches_little_that_nobody_reads(
    client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[str, Any] = {}

    def opened(_: object, config: Mapping[str, Any]) -> NoReturn:
        told.update(config)
        raise Transient("no client")

    monkeypatch.setattr(f"services.backbone.kafka.{client}.opened", opened)
    with pytest.raises(Transient):
        CLIENTS[client](with_options({}))
    assert told["queued.max.messages.kbytes"] <= 4096
    assert told["fetch.queue.backoff.ms"] <= 10
