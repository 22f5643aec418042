"""Rows of waits, and the document that they make."""

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

PAINT_MS: Final = 200.0
"""First paint, as promised in issue 7."""
INTERACTION_MS: Final = 100.0
"""From a press to the next frame with its answer."""


@dataclass(frozen=True)
class Row:
    """What was measured, how long it took each time in milliseconds, and what is promised."""

    what: str
    milliseconds: list[float]
    promised_ms: float | None = None

    @property
    def p50_ms(self) -> float:
        """The median."""
        return statistics.median(self.milliseconds)

    @property
    def p95_ms(self) -> float:
        """Nineteen of twenty were at least as fast."""
        ordered = sorted(self.milliseconds)
        return ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]

    def line(self) -> str:
        """Return the table's row."""
        promised = f"{self.promised_ms:.0f}" if self.promised_ms else ""
        kept = {True: "yes", False: "**no**", None: ""}[self.kept]
        return f"| {self.what} | {self.p50_ms:.0f} | {self.p95_ms:.0f} | {promised} | {kept} |\n"

    @property
    def kept(self) -> bool | None:
        """Whether the promise held, by the p95; None where nothing is promised."""
        return self.p95_ms <= self.promised_ms if self.promised_ms else None


def document(
    rows: Iterable[Row],
    alerts: int,
    times: int,
    machine: Mapping[str, str],
    moments: Iterable[Mapping[str, str]],
) -> str:
    """Return the report; `moments` are the times and loads before and after."""
    told = ", ".join(f"{name} {value}" for name, value in machine.items())
    loads = "; ".join(f"{each['at']}: load {each['load_average']}" for each in moments)
    return "".join(
        [
            "# Waiting for the console\n\n",
            f"`python -m tests.bench.reading --alerts {alerts} --times {times}`: {alerts:,} alerts",
            f" with two deliveries each, {times} times each, in milliseconds, in Chromium on the\n",
            "same machine as console and Postgres. First paint is the browser's own mark; an",
            " interaction is from the press to the next frame with the answer in it.\n",
            "The browser has opened one page of another kind before.\n\n",
            f"{told}.\n{loads}.\n\n",
            "| | p50 | p95 | promised | kept |\n|---|---|---|---|---|\n",
            *(row.line() for row in rows),
        ]
    )
