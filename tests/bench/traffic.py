"""Events for measuring: background orders that never alert, and probes that alert when told to."""

from collections.abc import Callable, Iterator
from itertools import count

Encode = Callable[[bytes], bytes]
"""Makes of an event, as it is made here, what is to stand in the topic."""

REQUESTED = 100
PURCHASES_PER_REQUEST = 4
SPACING = 2500
"""Between two events of one order come that many of each other kind: 10,000 books are open."""


def as_json(event: bytes) -> bytes:
    """Leave an event as it is."""
    return event


def request(order: str, shares: int = REQUESTED) -> bytes:
    """Encode a request."""
    return _event("request", order, order, shares)


def purchase(order: str, number: int, shares: int) -> bytes:
    """Encode purchase `number` of an order."""
    return _event("purchase", f"{order}-p{number}", order, shares)


def _event(kind: str, event: str, order: str, shares: int) -> bytes:
    return (
        f'{{"kind":"{kind}","event_id":"{event}","order_id":"{order}","shares":{shares},'
        '"client":"Baker Fund","stock":"ACME"}'
    ).encode()


def background(run: str, spacing: int = SPACING) -> Iterator[tuple[str, bytes]]:
    """Yield (key, event) without end: each request's purchases come `spacing` orders apart.

    So many books times four are open at any time, and no purchase meets its book by chance in
    some cache of the last few. An order's purchases sum up to exactly what it asked for.
    """
    for newest in count():
        yield _background_order(run, newest), request(_background_order(run, newest))
        for each in range(PURCHASES_PER_REQUEST):
            number = newest - (each + 1) * spacing
            if number >= 0:
                order = _background_order(run, number)
                yield order, purchase(order, each, REQUESTED // PURCHASES_PER_REQUEST)


def _background_order(run: str, number: int) -> str:
    return f"{run}-{number}"


def probe_order(run: str, index: int) -> str:
    """Name a probe's order; `probe_run` and `probe_index` read both back."""
    return f"{run}-probe-{index}"


def probe_run(order: str) -> str:
    """Return the run that a probe's order belongs to; nothing for any other order."""
    return order.rpartition("-probe-")[0]


def probe_index(order: str) -> int:
    """Return which probe an order belongs to."""
    return int(order.rpartition("-")[2])


def opening(order: str) -> list[bytes]:
    """Return what comes before a probe's crossing: a request and a purchase that stays within."""
    return [request(order), purchase(order, 0, 60)]


def crossing(order: str) -> bytes:
    """Return the purchase that makes a probe's order alert."""
    return purchase(order, 1, 60)


def is_crossing(value: bytes) -> bool:
    """Tell by its text alone whether an event is the crossing purchase of a probe."""
    return b"-probe-" in value and b'-p1","' in value
