"""The order of measuring, and ratios between engines that were measured in one run."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Ratio:
    """How `engine` compares with `peer`: the median of the pairs, the least and the largest."""

    what: str
    engine: str
    peer: str
    pairs: int
    median: float
    least: float
    largest: float


def there_and_back(names: Sequence[str], visits: int) -> list[tuple[str, int]]:
    """Return (name, number of its visit): through all, back, and so on."""
    ways = [list(names) if turn % 2 == 0 else list(reversed(names)) for turn in range(visits)]
    return [(name, turn) for turn, way in enumerate(ways) for name in way]


def ratio(
    what: str,
    engine: str,
    peer: str,
    rows: Iterable[Row],
    name_and_visit: Callable[[Row], tuple[str, int]],
    value: Callable[[Row], float],
) -> Ratio | None:
    """Return value of engine / value of peer over visits that both made; None without any."""
    values = {name_and_visit(row): value(row) for row in rows}
    visits = sorted({number for _, number in values})
    pairs = [
        values[engine, number] / values[peer, number]
        for number in visits
        if (engine, number) in values and values.get((peer, number))
    ]
    if not pairs:
        return None
    middle, least, largest = statistics.median(pairs), min(pairs), max(pairs)
    return Ratio(what, engine, peer, len(pairs), *(round(x, 2) for x in (middle, least, largest)))
