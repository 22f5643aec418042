"""The history against a plain recount, over random shapes."""

from collections import Counter
from itertools import islice

import orjson
from hypothesis import given
from hypothesis import strategies as st

from services.contracts.events import Event, EventReader, Invalid
from services.contracts.streams import load_streams
from services.simulator.dials import Shape
from services.simulator.history import Kind, Message, history
from services.simulator.tally import Outcome, Tally

READER = EventReader(load_streams()["trades"])
SHARES = st.floats(0, 1, allow_nan=False)


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    purchases = draw(st.integers(0, 8))
    return Shape(
        purchases_per_request=purchases,
        over_share=draw(SHARES) if purchases else 0,
        disorder=draw(SHARES),
        duplicates=draw(SHARES),
        malformed=draw(SHARES),
        seed=draw(st.integers(0, 1000)),
    )


def recount(messages: list[Message]) -> set[str]:
    """The rule in its plainest form: distinct purchases of an order against its request."""
    requested: dict[str, int] = {}
    bought: dict[str, dict[str, int]] = {}
    for message in messages:
        if message.kind is Kind.MALFORMED:
            continue
        event = orjson.loads(message.value)
        if event["kind"] == "request":
            requested[event["order_id"]] = event["shares"]
        else:
            bought.setdefault(event["order_id"], {})[event["event_id"]] = event["shares"]
    return {
        order_id
        for order_id, limit in requested.items()
        if sum(bought.get(order_id, {}).values()) > limit
    }


def tallied(messages: list[Message]) -> Tally:
    tally = Tally(ids_limit=10_000)
    tally.start(messages)
    for message in messages:
        bad = message.kind is Kind.MALFORMED
        tally.settle(message, Outcome.REJECTED if bad else Outcome.ACCEPTED)
    tally.close()
    return tally


@given(shapes(), st.integers(1, 30))
def test_every_order_is_whole_and_the_truth_is_the_plain_recount(shape: Shape, orders: int) -> None:
    messages = list(history(shape, "run", orders))
    counts = Counter(message.kind for message in messages)
    assert counts[Kind.REQUEST] == orders
    assert counts[Kind.PURCHASE] == orders * shape.purchases_per_request
    assert set(tallied(messages).expected_order_ids) == recount(messages)


@given(shapes(), st.integers(0, 200))
def test_the_truth_is_exact_wherever_the_run_is_cut(shape: Shape, cut: int) -> None:
    messages = list(islice(history(shape, "run"), cut))
    tally = tallied(messages)
    assert set(tally.expected_order_ids) == recount(messages)
    assert tally.expected_alerts == len(tally.expected_order_ids)
    assert sum(tally.sent) == cut


@given(shapes())
def test_readers_take_all_events_and_no_malformed_message(shape: Shape) -> None:
    for message in islice(history(shape, "run"), 100):
        read = READER.read(message.value)
        if message.kind is Kind.MALFORMED:
            assert isinstance(read, Invalid)
        else:
            assert isinstance(read, Event)
            assert read.key == message.key
            assert orjson.loads(read.value)["shares"] == message.shares


@given(shapes())
def test_the_same_seed_gives_the_same_history(shape: Shape) -> None:
    first = list(islice(history(shape, "run"), 60))
    assert list(islice(history(shape, "run"), 60)) == first


@given(shapes())
def test_a_repeat_follows_its_original(shape: Shape) -> None:
    seen: set[bytes] = set()
    for message in history(shape, "run", 20):
        if message.kind is Kind.DUPLICATE:
            assert message.value in seen
        seen.add(message.value)


def test_dials_at_their_ends_do_what_they_say() -> None:
    always = Shape(over_share=1, duplicates=1, malformed=1, disorder=1)
    messages = list(history(always, "run", 50))
    assert tallied(messages).expected_alerts == 50
    counts = Counter(message.kind for message in messages)
    assert counts[Kind.DUPLICATE] == counts[Kind.PURCHASE] == 200
    assert counts[Kind.MALFORMED] == 250
    assert any_purchase_before_its_request(messages)
    plain = list(history(Shape(over_share=0), "run", 50))
    assert len(plain) == 250
    assert tallied(plain).expected_alerts == 0
    assert not any_purchase_before_its_request(plain)


def any_purchase_before_its_request(messages: list[Message]) -> bool:
    opened = set()
    for message in messages:
        if message.kind is Kind.REQUEST:
            opened.add(message.key)
        elif message.kind is Kind.PURCHASE and message.key not in opened:
            return True
    return False
