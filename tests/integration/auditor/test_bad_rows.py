"""Rows of a table change while events flow: bad ones are refused, a bad event is set aside."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Final

import pytest

from auditor.checkpoints.spared import read_spared
from tests.integration.auditor.inside import settings_of
from tests.integration.auditor.running import (
    ROOT,
    Place,
    Running,
    rejected_of,
    wait_for,
)
from tests.integration.auditor.test_live_change import Live

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(600)]

WATCH: Final = "client-limit"
EXAMPLE: Final = ROOT / "docs" / "examples" / "limits" / f"{WATCH}.yaml"
HEADER: Final = "client,stock,most_shares\n"
DIVIDES: Final = "WHERE sums.bought / rules.most_shares > 1"
"""In place of the example's own condition: a limit of 0 divides by zero."""


class Limited:
    """A running auditor with one watch whose SQL divides by each client's limit."""

    def __init__(self, place: Place, auditor: Running) -> None:
        self.live = Live(place, auditor)
        self._numbers = count()

    def rows(self, *rows: str) -> None:
        write_rows(self.live.place, *rows)

    def buy(self, client: str, shares: int, **more: str) -> None:
        number = next(self._numbers)
        self.live.sender.purchase(f"p{number}", f"o{number}", shares, client=client, **more)
        self.live.sender.flush()

    def over(self) -> set[str]:
        """Return the clients that were found over their limits."""
        self.live.alerts.found()
        return {alert.key["client"] for alert in self.live.alerts.alerts}

    def wait_over(self, client: str) -> None:
        """Let a client buy over its limit until that is found."""

        def is_found() -> bool:
            self.buy(client, 1000)
            return client in self.over()

        wait_for(f"{client} is over", is_found)

    def wait_taken(self, before: int) -> None:
        wait_for("rows are taken", lambda: len(self.live.told("change_done")) > before)

    def worked_batches(self) -> int:
        return sum(int(str(one["rows"])) > 0 for one in self.live.told("batch", watch=WATCH))

    def set_aside(self) -> int:
        """Return how many records are noted as read past."""
        home = settings_of(self.live.place).checkpoints_here() / WATCH
        return sum(len(read_spared(folder)) for folder in home.iterdir() if folder.is_dir())


def write_rows(place: Place, *rows: str) -> None:
    (place.folder / "watches" / "client-limits.csv").write_text(
        HEADER + "".join(f"{row}\n" for row in rows)
    )


@pytest.fixture
def limits(place: Place) -> Place:
    """A place with the watch, and rows that are good."""
    place.declare()
    text = EXAMPLE.read_text()
    condition = "WHERE sums.bought > rules.most_shares"
    assert condition in text
    text = text.replace(condition, DIVIDES).replace("CAST(shares AS DOUBLE)", SUMMED)
    for before in ("streams: [", "FROM "):
        text = text.replace(f"{before}trades", f"{before}{place.stream}")
    path = place.folder / "watches" / f"{WATCH}.yaml"
    path.write_text(text)
    write_rows(place, "Ann,ACME,50", "Eve,X1O,1", "Dan,ACME,9")
    return place


@pytest.fixture
def limited(limits: Place) -> Iterator[Limited]:
    with audited(limits) as limited:
        yield limited


@contextmanager
def audited(place: Place) -> Iterator[Limited]:
    """Run an auditor of the place until it is told to end."""
    with place.auditor(AUDITOR_RELOAD_DELAY_SECONDS=0.2) as auditor:
        auditor.wait_until_ready()
        yield Limited(place, auditor)
        assert auditor.terminate() == 0, auditor.log()[-3000:]


SUMMED: Final = "IF(stock LIKE 'X%', CAST(stock AS INT), shares)"
"""A stock that begins with X is a record that the SQL fails on, whatever the rows are."""


@pytest.mark.long
def test_a_bad_row_is_refused_and_no_event_is_set_aside(limited: Limited) -> None:
    live = limited.live
    limited.wait_over("Ann")
    wait_for("a batch with events", lambda: limited.worked_batches() > 0)

    limited.rows("Ann,ACME,50", "Eve,X1O,1", "Cat,ACME,7", "Bob,ACME,0")
    live.wait_told("change_begins", kind="continue")
    for _ in range(3):
        limited.buy("Bob", 10)
    live.wait_told("change_rejected", watch=WATCH, old_goes_on="True")
    assert "client-limits.csv, line 5: with these rows the SQL fails on record" in live.notes()
    assert f"{live.place.stream}/" in live.notes()
    assert "DIVIDE_BY_ZERO" in live.notes()
    live.auditor.wait_until_ready()
    limited.wait_over("Dan")  # only the rows before have a limit for Dan
    assert limited.over() == {"Ann", "Dan"}
    assert limited.set_aside() == 0
    assert rejected_of(live.place) == []

    before = len(live.told("change_done"))
    limited.rows("Ann,ACME,50", "Eve,X1O,1", "Cat,ACME,7", "Bob,ACME,5")
    limited.wait_taken(before)
    limited.wait_over("Bob")
    limited.wait_over("Cat")
    assert limited.set_aside() == 0
    wait_for("the note is gone", lambda: "client-limits" not in live.notes())


@pytest.mark.long
def test_a_bad_row_that_came_while_no_auditor_ran_is_refused_too(limits: Place) -> None:
    with audited(limits) as limited:
        limited.wait_over("Ann")
        wait_for("a batch with events", lambda: limited.worked_batches() > 0)
    write_rows(limits, "Ann,ACME,50", "Bob,ACME,0")
    with audited(limits) as limited:
        limited.buy("Bob", 10)
        limited.live.wait_told("change_rejected", watch=WATCH, old_goes_on="True")
        assert "client-limits.csv, line 3: " in limited.live.notes()
        limited.wait_over("Dan")
        assert limited.set_aside() == 0
    with audited(limits) as limited:  # what showed them to be bad is read, and does not come again
        limited.buy("Bob", 10)
        # The log, which is of all runs, has told of the one before.
        wait_for("it is noted", lambda: "client-limits.csv, line 3: " in limited.live.notes())
        assert limited.set_aside() == 0


@pytest.mark.long
def test_a_bad_event_is_set_aside_though_rows_were_changed(limited: Limited) -> None:
    live = limited.live
    limited.wait_over("Ann")
    wait_for("a batch with events", lambda: limited.worked_batches() > 0)
    before = len(live.told("change_done"))
    limited.rows("Ann,ACME,50", "Eve,X1O,2", "Bob,ACME,5")
    limited.wait_taken(before)
    limited.buy("Eve", 1, stock="X1O")
    live.wait_told("record_spared", watch=WATCH)
    limited.wait_over("Bob")
    assert limited.set_aside() == 1
    (kept,) = rejected_of(live.place)
    assert b'"X1O"' in kept.original
    assert not live.told("change_rejected")
