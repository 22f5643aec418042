"""What the lag's metrics say."""

from prometheus_client import REGISTRY

from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.kafka.lag import Lag, Told
from services.backbone.service import Life
from services.console.lagging import LagWatch

BEHIND = Lag("lookout", "alerts", 7, has_members=True)
UNREAD = Lag("deliverer-sms", "deliveries.sms", 3, has_members=False)


def value(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(f"aldebaran_console_{name}", labels)


def test_the_newest_answer_is_what_the_metrics_say() -> None:
    answers = iter([Told((BEHIND, UNREAD), left_out=2), Told((BEHIND,))])
    watch = LagWatch(lambda: next(answers), Life(ManualClock()))
    watch.ask()
    assert watch.last.left_out == 2
    assert value("lag_records", group="deliverer-sms", topic="deliveries.sms") == 3
    assert (value("groups_without_members"), value("brokers_answer")) == (1, 1)
    watch.ask()
    assert value("lag_records", group="deliverer-sms", topic="deliveries.sms") is None
    assert value("lag_records", group="lookout", topic="alerts") == 7
    assert value("groups_without_members") == 0


def test_brokers_without_an_answer_are_told_and_the_last_lag_stands() -> None:
    def away() -> Told:
        raise Transient("Kafka: away")

    LagWatch(lambda: Told((BEHIND,)), Life(ManualClock())).ask()
    LagWatch(away, Life(ManualClock())).ask()
    assert value("brokers_answer") == 0
    assert value("lag_records", group="lookout", topic="alerts") == 7
