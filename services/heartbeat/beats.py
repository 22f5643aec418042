"""What is open, answered and missed, as plain state over times that are passed in."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

KEEP_SECONDS: Final = 60.0
"""So long a late answer is still measured."""
OPEN_LIMIT: Final = 10_000
AUDITORS_LIMIT: Final = 16
"""Auditors that are told apart, which bounds the labels of metrics."""
NOBODY: Final = "none"
"""Stands for the auditor while no auditor has ever answered."""


@dataclass(slots=True)
class OpenBeat:
    """A beat on its way; `missed` once the time for an answer is over."""

    watch: str
    sent_seconds: float
    answered: set[str] = field(default_factory=set)
    missed: bool = False


@dataclass(frozen=True, slots=True)
class Missed:
    """A beat that an auditor did not answer in time."""

    watch: str
    auditor: str
    beat: str


@dataclass
class Beats:
    """All beats that still matter; times are seconds of one monotonic clock."""

    in_time_seconds: float
    gap_seconds: float = 30.0
    """An auditor is in step while no more than this lies between its answers in time."""
    expected: frozenset[str] = frozenset()
    """Auditors that should answer, also if they never did."""
    _open: dict[str, OpenBeat] = field(default_factory=dict)
    _seen: dict[tuple[str, str], float] = field(default_factory=dict)
    _since: dict[tuple[str, str], float] = field(default_factory=dict)
    _marks: dict[tuple[str, str], str] = field(default_factory=dict)

    def sent(self, beat: str, watch: str, now: float) -> None:
        """Remember a beat; the oldest is forgotten if there are too many."""
        if len(self._open) >= OPEN_LIMIT:
            del self._open[next(iter(self._open))]
        self._open[beat] = OpenBeat(watch, now)

    def answered(
        self, beat: str, watch: str, auditor: str, now: float, mark: str = ""
    ) -> float | None:
        """Return the seconds from sending to now; None for repeats and beats that are not ours.

        `mark` tells what the auditor takes the watch to be; with another it is in step anew.
        """
        opened = self._open.get(beat)
        if opened is None or opened.watch != watch or auditor in opened.answered:
            return None
        if auditor not in self.auditors() and len(self.auditors()) >= AUDITORS_LIMIT:
            return None
        opened.answered.add(auditor)
        latency = now - opened.sent_seconds
        if latency <= self.in_time_seconds:
            self._note_in_time((watch, auditor), mark, now)
        return latency

    def answers(self, beat: str) -> int:
        """Return how many auditors have answered a beat that is still remembered."""
        opened = self._open.get(beat)
        return len(opened.answered) if opened else 0

    def missed(self, now: float) -> list[Missed]:
        """Return what has not been answered in time, each only once; forget what is too old."""
        found: list[Missed] = []
        for beat, opened in self._open.items():
            age = now - opened.sent_seconds
            if age <= self.in_time_seconds:
                break
            if not opened.missed:
                opened.missed = True
                found += self._missed_by(beat, opened)
        self._forget(now)
        return found

    def auditors(self) -> set[str]:
        """Return every auditor that has answered."""
        return {auditor for _, auditor in dict(self._seen)}

    def ages(self, now: float) -> dict[tuple[str, str], float]:
        """Return the seconds since the last answer in time, by watch and auditor."""
        return {pair: now - seen for pair, seen in dict(self._seen).items()}

    def steps(self, now: float) -> dict[tuple[str, str], float]:
        """Return the seconds for which each auditor in step has answered without a gap."""
        ages = self.ages(now)
        since = dict(self._since)
        return {
            pair: now - since[pair]
            for pair, age in ages.items()
            if age <= self.gap_seconds and pair in since
        }

    def marks(self) -> dict[tuple[str, str], str]:
        """Return what each auditor takes each watch to be, as its last answer in time told."""
        return dict(self._marks)

    def out_of_step(self, watches: Sequence[str], now: float) -> list[tuple[str, str]]:
        """Return each watch and auditor that should answer and does not."""
        steps = self.steps(now)
        auditors = sorted(self.auditors() | self.expected)
        wanted = [(watch, auditor) for watch in watches for auditor in auditors]
        return [pair for pair in wanted if pair not in steps]

    def silent(self, watches: Sequence[str], now: float, limit_seconds: float) -> list[str]:
        """Return the watches that no auditor has answered for within the limit."""
        ages = self.ages(now)
        alive = {watch for (watch, _), age in ages.items() if age <= limit_seconds}
        return [watch for watch in watches if watch not in alive]

    def forget(self, watch: str) -> set[str]:
        """Forget a watch that has ended; return the auditors that had answered for it."""
        self._open = {beat: one for beat, one in self._open.items() if one.watch != watch}
        answered = {auditor for name, auditor in self._seen if name == watch}
        for auditor in answered:
            self._seen.pop((watch, auditor), None)
            self._since.pop((watch, auditor), None)
            self._marks.pop((watch, auditor), None)
        return answered

    def waiting(self) -> int:
        """Return how many beats are remembered."""
        return len(self._open)

    def _note_in_time(self, pair: tuple[str, str], mark: str, now: float) -> None:
        before = self._seen.get(pair)
        if before is None or now - before > self.gap_seconds or mark != self._marks[pair]:
            self._since[pair] = now
        self._seen[pair], self._marks[pair] = now, mark

    def _missed_by(self, beat: str, opened: OpenBeat) -> list[Missed]:
        seen = {auditor for watch, auditor in self._seen if watch == opened.watch}
        silent = sorted((seen | self.expected or {NOBODY}) - opened.answered)
        return [Missed(opened.watch, auditor, beat) for auditor in silent]

    def _forget(self, now: float) -> None:
        keep = max(KEEP_SECONDS, self.in_time_seconds)
        oldest = list(islice(self._open.items(), 100))
        for beat, opened in oldest:
            if now - opened.sent_seconds > keep:
                del self._open[beat]
