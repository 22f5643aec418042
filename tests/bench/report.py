"""The bench's result: bench.json for programs, bench.md for people.

Each section is measured by itself, and stays as it was until it is measured again; `measured` says
when, under which load, by which command. Compare rows of one section only. What an open book takes
(`bytes_per_open_book`) is described in capacity.py.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from tests.bench import facts
from tests.bench.books import BooksRow
from tests.bench.capacity import bytes_per_open_book
from tests.bench.capacity_lines import books_lines, gateway_lines, slope_lines
from tests.bench.delivering.claims import ClaimsRow
from tests.bench.delivering.first_byte import FirstByteRow
from tests.bench.delivering.lines import (
    claims_lines,
    first_byte_lines,
    storm_lines,
    whole_way_lines,
)
from tests.bench.delivering.storm import StormRow
from tests.bench.delivering.whole_way import WholeWayRow
from tests.bench.drain import DrainRow
from tests.bench.gateway import GatewayRow
from tests.bench.latency import LatencyRow
from tests.bench.loops import LoopRow
from tests.bench.profiling.lines import profile_lines
from tests.bench.profiling.profile import ProfileRow
from tests.bench.rounds import Ratio
from tests.bench.watching_lines import (
    drain_lines,
    latency_lines,
    loop_lines,
    ratio_lines,
    variant_lines,
)


@dataclass(frozen=True)
class Skipped:
    """A row that could not be measured here, and why."""

    engine: str
    reason: str


@dataclass
class Report:
    """All sections, and how each was measured."""

    latency: list[LatencyRow] = field(default_factory=list)
    drain: list[DrainRow] = field(default_factory=list)
    loops: list[LoopRow] = field(default_factory=list)
    profile: list[ProfileRow] = field(default_factory=list)
    variants: list[DrainRow] = field(default_factory=list)
    slope: list[DrainRow] = field(default_factory=list)
    books: list[BooksRow] = field(default_factory=list)
    gateway: list[GatewayRow] = field(default_factory=list)
    bytes_per_open_book: dict[str, int] = field(default_factory=dict)
    ratios: dict[str, list[Ratio]] = field(default_factory=dict)
    skipped: dict[str, list[Skipped]] = field(default_factory=dict)
    claims: list[ClaimsRow] = field(default_factory=list)
    first_bytes: list[FirstByteRow] = field(default_factory=list)
    storm: StormRow | None = None
    whole_way: list[WholeWayRow] = field(default_factory=list)
    measured: dict[str, dict[str, str]] = field(default_factory=dict)
    machine: dict[str, str] = field(default_factory=facts.machine)

    def note(self, section: str, command: str, beside: str = "") -> None:
        """Note that a section was measured here and now, and what else was going on."""
        here = {"machine": facts.machine_line(), **facts.now()}
        self.measured[section] = {"command": command, "beside": beside, **here}

    def write(self, folder: Path) -> Path:
        """Write bench.json and bench.md; return the latter."""
        folder.mkdir(parents=True, exist_ok=True)
        self.bytes_per_open_book = bytes_per_open_book(self.books)
        (folder / "bench.json").write_text(json.dumps(asdict(self), indent=1) + "\n")
        table = folder / "bench.md"
        table.write_text("\n".join(self.lines()) + "\n")
        return table

    def lines(self) -> Iterator[str]:
        """Yield the report as Markdown."""
        yield "# Bench"
        yield ""
        yield "Made by `make bench`; below each section stands on which machine it was measured."
        for section, rows, lines in self._sections():
            if rows or self.skipped.get(section):
                yield ""
                yield from lines
                yield from self._after(section)

    def _sections(self) -> Sequence[tuple[str, object, Iterable[str]]]:
        return (
            ("latency", self.latency, latency_lines(self.latency)),
            ("drain", self.drain, drain_lines(self.drain)),
            ("profile", self.profile, profile_lines(self.profile)),
            ("variants", self.variants, variant_lines(self.variants)),
            ("slope", self.slope, slope_lines(self.slope)),
            ("books", self.books, books_lines(self.books)),
            ("gateway", self.gateway, gateway_lines(self.gateway)),
            ("loops", self.loops, loop_lines(self.loops)),
            ("claims", self.claims, claims_lines(self.claims)),
            ("first_bytes", self.first_bytes, first_byte_lines(self.first_bytes)),
            ("storm", self.storm, storm_lines(self.storm) if self.storm else ()),
            ("whole_way", self.whole_way, whole_way_lines(self.whole_way)),
        )

    def _after(self, section: str) -> Iterator[str]:
        if self.ratios.get(section):
            yield ""
            yield from ratio_lines(self.ratios[section])
        for each in self.skipped.get(section, []):
            yield ""
            yield f"Not measured: {each.engine}: {each.reason[:1000]}"
        if how := self.measured.get(section):
            yield ""
            yield (
                f"Measured by `{how['command']}`, ended {how['at']}, "
                f"load average then {how['load_average']}. {how.get('beside', '')}"
            ).rstrip()
            yield ""
            yield how.get("machine", facts.machine_line(self.machine))


def kept(folder: Path) -> Report:
    """Return the report that stands in a folder, or an empty one if it cannot be read."""
    try:
        return TypeAdapter(Report).validate_json((folder / "bench.json").read_bytes())
    except (OSError, ValidationError):
        return Report()
