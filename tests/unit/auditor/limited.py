"""One auditor with a watch of which an event has just shown rows to be bad: no Spark."""

from typing import Final

from auditor.queries.declared import Declared
from auditor.recovery.blame import RowsToBlame
from auditor.watching import read_opening
from tests.unit.auditor.batches import EXAMPLE
from tests.unit.auditor.changing import WATCH, World

LIMITED: Final = "client-limit"
GOOD: Final = "Ann,ACME,5\n"
BAD: Final = f"{GOOD}Bob,ACME,0\n"
CORRECTED: Final = f"{GOOD}Bob,ACME,7\n"
WHY: Final = "watch client-limit: client-limits.csv, line 3: with these rows the SQL fails"


class Limited:
    """A world with a watch that has a table, of which rows have just been refused."""

    def __init__(self, world: World) -> None:
        self.world = world
        world.slots = {LIMITED: 1, WATCH: 1}
        (world.watches / f"{LIMITED}.yaml").write_text(EXAMPLE.read_text())
        self.write(GOOD)
        self.before = world.read().watches[LIMITED]
        self.write(BAD)
        bad = world.made[-1][1]
        bad.remedies.error = RowsToBlame(WHY, self.before)
        bad.queries[-1].fail("SQLSTATE: 22012")
        world.turns()
        self.made = len(world.queries(LIMITED))
        self.assert_refused()

    def write(self, rows: str) -> None:
        self.write_unseen(rows)
        self.world.turns(self.world.read())

    def write_unseen(self, rows: str) -> None:
        (self.world.watches / "client-limits.csv").write_text(f"client,stock,most_shares\n{rows}")

    def runs(self) -> Declared:
        return self.world.fleet.running[LIMITED].declared

    def assert_refused(self) -> None:
        # Without heartbeats the turn is kept for as long as a quiet query is waited for.
        self.world.turns(count=40)
        assert self.runs() == self.before
        assert self.world.reload.notes() == WHY
        assert len(self.world.queries(LIMITED)) == self.made
        assert self.world.partner.take()
        self.world.partner.give_back()

    def opens(self) -> Declared:
        """Return what of the watch runs first after a restart."""
        return read_opening(self.world.settings).first[LIMITED]
