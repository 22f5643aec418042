"""A changed table of rules is on probation: what fails is tried with the rows before as well."""

from typing import Final

from auditor.checkpoints.ranges import Range
from auditor.queries.current import read_earlier, worked_since_ms
from auditor.queries.declared import Declared
from auditor.queries.query import Recipe
from auditor.queries.rules import Row
from auditor.recovery.blame import RowsToBlame, changed, guilty_line, is_of_rows
from auditor.recovery.poison import Verdict
from auditor.recovery.sieve import Sieve
from services.backbone.clock import Clock

PROBATION_MS: Final = 3_600_000
"""So long rows can be refused for what an event shows: a bad one of many is met late.

After that to go back would take more away than it mends: every limit that was changed since.
"""


class Probation:
    """Of the rows that one watch is started with."""

    def __init__(self, recipe: Recipe, sieve: Sieve, clock: Clock) -> None:
        self._recipe = recipe
        self._sieve = sieve
        self._clock = clock

    def hear(self, verdict: Verdict, reason: str) -> None:
        """Return where the rows are not to blame for what a search has found.

        Raises:
            RowsToBlame: they are; the message names the record, and the line where one is to blame.
            Transient: that cannot be tried now.
            Refused: a note of the watch cannot be read until a person changes something.
        """
        earlier = self._earlier()
        if earlier is None or not is_of_rows(verdict, lambda: self._fails(earlier, verdict)):
            return
        raise RowsToBlame(self._told(earlier, verdict, reason), earlier)

    def _earlier(self) -> Declared | None:
        home, declared = self._recipe.checkpoint.home, self._recipe.declared
        if declared.watch.rules is None:
            return None
        since_ms = worked_since_ms(home, declared)
        is_over = since_ms is not None and self._clock.now_ms() - since_ms > PROBATION_MS
        return None if is_over else read_earlier(home, declared)

    def _fails(self, declared: Declared, verdict: Verdict) -> bool:
        return verdict.guilty is not None and self._sieve.fails_as(declared, verdict.guilty)

    def _told(self, earlier: Declared, verdict: Verdict, reason: str) -> str:
        declared, guilty = self._recipe.declared, verdict.guilty
        file = declared.watch.rules.file if declared.watch.rules else ""
        line = self._line(earlier, guilty) if guilty else None
        return (
            f"watch {declared.name}: {file}{f', line {line}' if line else ''}: with these rows the "
            f"SQL fails on {_records(guilty)}, with those before it does not: {reason} "
            "The watch goes on with those before; correct the file"
        )

    def _line(self, earlier: Declared, guilty: Range) -> int | None:
        """Look for a single row among those that are new."""
        declared = self._recipe.declared

        def fails(rows: tuple[Row, ...]) -> bool:
            alone = Declared(declared.watch, declared.streams, rows)
            return self._sieve.fails_as(alone, guilty)

        return guilty_line(changed(declared.rules, earlier.rules), fails)


def _records(guilty: Range | None) -> str:
    if guilty is None:
        return "what has come since, though on no single record"
    more = f" to {guilty.end - 1}" if len(guilty) > 1 else ""
    return f"record {guilty.topic}/{guilty.partition}@{guilty.first}{more}"
