"""What the lag's metrics say."""

from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from services.backbone.clock import ManualClock
from services.backbone.errors import Transient
from services.backbone.kafka.lag import Lag, Told
from services.backbone.service import Life
from services.console.lagging import LagWatch

BEHIND = Lag("lookout", "alerts", 7, has_members=True)
UNREAD = Lag("deliverer-sms", "deliveries.sms", 3, has_members=False)


AGAIN = Lag("lookout", "alerts", 4, has_members=True, made_again=True)


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


def test_a_topic_made_again_is_counted_until_it_is_settled_and_said_once() -> None:
    answers = iter([Told((AGAIN, UNREAD)), Told((AGAIN,)), Told((BEHIND,))])
    watch = LagWatch(lambda: next(answers), Life(ManualClock()))
    with capture_logs() as lines:
        for expected in (1, 1, 0):
            watch.ask()
            assert value("topics_made_again") == expected
    assert [(each["event"], each["topic"]) for each in lines] == [("topic_made_again", "alerts")]


def test_brokers_without_an_answer_are_told_and_the_last_lag_stands() -> None:
    def away() -> Told:
        raise Transient("Kafka: away")

    LagWatch(lambda: Told((BEHIND,)), Life(ManualClock())).ask()
    LagWatch(away, Life(ManualClock())).ask()
    assert value("brokers_answer") == 0
    assert value("lag_records", group="lookout", topic="alerts") == 7
