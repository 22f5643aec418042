"""Every move is told, whatever its reason, and those to a failure are counted, whoever moved."""

from collections.abc import Sequence
from concurrent.futures import Future

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import REGISTRY

from services.backbone.clock import ManualClock
from services.backbone.errors import Trouble
from services.backbone.kafka.producer import Outgoing, Producer
from services.backbone.ledger.deliveries.moves import Move
from services.contracts.ids import digest
from services.contracts.records import DeliveryEvent
from services.contracts.states import State
from services.deliverer.announcer import Announcer

CHANNEL = "counted"


class Kept(Producer):
    """Keeps what is written."""

    def __init__(self) -> None:
        self.records: list[Outgoing] = []

    def send(self, records: Sequence[Outgoing]) -> "Future[list[Trouble | None]]":
        self.records += records
        written: Future[list[Trouble | None]] = Future()
        written.set_result([None] * len(records))
        return written


def told(reason: str, *path: State, before: State = State.HELD) -> list[DeliveryEvent]:
    ids = (digest("delivery"), digest("alert"), CHANNEL, "someone")
    move = Move(*ids, 1, before, path, reason, "p-1")
    kept = Kept()
    Announcer(kept, ManualClock()).moved(move, before, path, reason, "p-1")
    return [DeliveryEvent.decode(each.value) for each in kept.records]


@given(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=1200))
def test_a_reason_of_any_length_is_told_as_far_as_it_fits(reason: str) -> None:
    first, second = told(reason, State.SENT, State.CONFIRMED)
    assert (first.before, first.after) == (State.HELD, State.SENT)
    assert (second.before, second.after) == (State.SENT, State.CONFIRMED)
    assert first.reason == second.reason == reason[:512]


def test_a_long_word_of_a_person_with_a_long_name_is_told() -> None:
    """As `absent` says it of a delivery that is HELD."""
    (event,) = told(f"resend by {'n' * 100}: it did not arrive: {'w' * 400}", State.RETRY_WAIT)
    assert len(event.reason) == 512


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
    begun = failed()
    told("", *path, before=before)
    assert failed() - begun == counted
