"""Background orders never alert, probes always do: checked against the rule in plain Python."""

import json
from collections import Counter
from itertools import islice, pairwise

from services.contracts.events import Event, EventReader
from services.contracts.streams import load_streams
from tests.bench.traffic import background, crossing, opening, probe_index, probe_order, probe_run


def excess(events: list[bytes]) -> int:
    totals: Counter[str] = Counter()
    for event in map(json.loads, events):
        totals[event["kind"]] += event["shares"]
    return totals["purchase"] - totals["request"]


def test_background_orders_are_bought_exactly() -> None:
    keyed = list(islice(background("r", spacing=3), 200))
    for number in range(20):
        assert excess([event for each, event in keyed if each == f"r-{number}"]) == 0
    assert all(excess([event for each, event in keyed if each == key]) <= 0 for key, _ in keyed)


def test_events_of_one_order_stand_apart() -> None:
    at = [place for place, (key, _) in enumerate(islice(background("r", 3), 200)) if key == "r-5"]
    assert len(at) == 5
    assert all(later - earlier > 5 for earlier, later in pairwise(at))


def test_a_probe_crosses_with_its_last_purchase_only() -> None:
    order = probe_order("r", 17)
    assert excess(opening(order)) < 0 < excess([*opening(order), crossing(order)])
    assert probe_index(order) == 17
    assert probe_run(order) == "r"


def test_every_event_is_valid() -> None:
    reader = EventReader(load_streams()["trades"])
    order = probe_order("r", 1)
    sent = [event for _, event in islice(background("r"), 5)] + [*opening(order), crossing(order)]
    assert all(isinstance(reader.read(event), Event) for event in sent)
