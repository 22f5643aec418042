"""Orders in random disorder, and which of them must alert by the rule: every engine is held to it.

Purchases before their request, copies, requests sent twice with other shares, one purchase id with
two sizes, exact splits and one share more: whoever alerts for another set is not measured.
"""

import random
from collections import defaultdict
from collections.abc import Iterable

from tests.bench.traffic import purchase, request

Event = tuple[str, bytes]


def disorder(seed: int, orders: int) -> tuple[list[Event], set[str]]:
    """Return (key, event) in the order to send them, and the orders that must alert."""
    rng = random.Random(seed)
    events, crossed = [], set()
    for number in range(orders):
        order = f"disorder-{number}"
        requests, purchases = _order(rng)
        if any(is_exceeded(asked, purchases) for asked in requests):
            crossed.add(order)
        events += [(order, request(order, asked)) for asked in requests]
        events += [(order, purchase(order, which, shares)) for which, shares in purchases]
    rng.shuffle(events)
    return events, crossed


def is_exceeded(asked: int, purchases: Iterable[tuple[int, int]]) -> bool:
    """Tell whether purchases of (id, shares), the largest of each id, are more than asked for."""
    largest: dict[int, int] = defaultdict(int)
    for which, shares in purchases:
        largest[which] = max(largest[which], shares)
    return sum(largest.values()) > asked


def _order(rng: random.Random) -> tuple[list[int], list[tuple[int, int]]]:
    parts = [rng.randint(1, 50) for _ in range(rng.randint(1, 6))]
    asked = max(1, sum(parts) + rng.choice([-1, 0, 0, 1]))
    requests = [asked] * rng.choice([0, 1, 1, 1, 1, 2])
    if rng.random() < 0.1:
        requests.append(asked + rng.randint(1, 100))
    purchases = list(enumerate(parts))
    purchases += rng.choices(purchases, k=rng.choice([0, 0, 1, 3]))
    if rng.random() < 0.1:
        purchases.append((0, rng.randint(1, 50)))
    return requests, purchases
