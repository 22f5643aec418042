"""Failures are counted where every move is told, whoever moved."""

from concurrent.futures import Future

import pytest
from prometheus_client import REGISTRY

from services.backbone.clock import SystemClock
from services.backbone.errors import Trouble
from services.backbone.kafka.producer import Outgoing
from services.backbone.ledger.sweeps import Swept
from services.contracts.records import Severity
from services.contracts.states import State
from services.deliverer.announcer import Announcer

CHANNEL = "counted"


class Taking:
    """A producer whose brokers have everything at once."""

    def send(self, records: list[Outgoing]) -> "Future[list[Trouble | None]]":
        done: Future[list[Trouble | None]] = Future()
        done.set_result([None] * len(records))
        return done


def failed() -> float:
    return REGISTRY.get_sample_value("aldebaran_deliverer_failed_total", {"channel": CHANNEL}) or 0


@pytest.mark.parametrize(
    ("before", "path", "counted"),
    [
        (State.CLAIMED, (State.FAILED,), 1),
        (State.SENT, (State.FAILED,), 1),
        (State.IN_DOUBT, (State.SENT, State.FAILED), 1),
        (State.CLAIMED, (State.SENT,), 0),
        (State.CLAIMED, (State.RETRY_WAIT,), 0),
    ],
)
def test_what_fails_for_good_is_counted_once(
    before: State, path: tuple[State, ...], counted: int
) -> None:
    announcer = Announcer(Taking(), SystemClock())  # type: ignore[arg-type] # all that it uses
    row = Swept("d" * 32, "a" * 32, CHANNEL, "desk", Severity.CRITICAL, before, 1, 1, False)
    begun = failed()
    announcer.moved(row, before, path)
    assert failed() - begun == counted
