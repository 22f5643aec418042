"""No record of a batch is in neither place, wherever it was killed, whatever is declared then."""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from archivist.filing import Counts, Filing, Places
from archivist.shelf import shelved
from services.contracts.records import Rejected
from services.contracts.streams import StreamDeclaration
from tests.unit.archivist.deaths import KilledError, dying_at
from tests.unit.archivist.filed import found
from tests.unit.archivist.histories import topic_records
from tests.unit.auditor.batches import TRADES, request

pytestmark = pytest.mark.spark

SHARES = {"few": 1, "some": 10, "many": 100, "none": 0}


def declared(low: int, high: int) -> StreamDeclaration:
    """Return the stream with other bounds of its shares."""
    shares = TRADES.fields["shares"].model_copy(update={"minimum": low, "maximum": high})
    return TRADES.model_copy(update={"fields": {**TRADES.fields, "shares": shares}})


FEWER, MORE = declared(1, 10), declared(10, 100)


class Place:
    """An archive and a topic for what is no event."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.kept: list[Rejected] = []
        self._records = [request(name, shares).record()[:2] for name, shares in SHARES.items()]

    def filing(self, stream: StreamDeclaration) -> Filing:
        return Filing(stream, Places(str(self.folder), 1, self._keep_aside))

    def marked(self, stream: StreamDeclaration) -> DataFrame:
        """Return the batch as the query gives it."""
        return shelved(topic_records(self.spark, self._records).coalesce(1), stream)

    def _keep_aside(self, rejected: DataFrame) -> None:
        self.kept += [Rejected.decode(bytes(row["value"])) for row in rejected.collect()]

    def aside(self) -> set[str]:
        return {name for name in SHARES for kept in self.kept if name.encode() in kept.original}


@pytest.mark.parametrize(("before", "after"), [(FEWER, MORE), (MORE, FEWER)])
def test_a_batch_that_begins_anew_under_another_declaration_leaves_nothing_out(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    before: StreamDeclaration,
    after: StreamDeclaration,
) -> None:
    steps, killed = 0, True
    while killed:
        steps += 1
        place = Place(spark, tmp_path / str(steps))
        with monkeypatch.context() as patch:
            dying_at(steps, patch)
            try:
                place.filing(before)(place.marked(before), 0)
                killed = False
            except KilledError:
                pass
        place.filing(after)(place.marked(after), 0)
        archived = found(spark, place.folder)
        assert set(archived.values()) == {1}
        assert archived.keys() | place.aside() == SHARES.keys()
    assert steps > 4


def test_what_a_batch_held_is_told_once(spark: SparkSession, tmp_path: Path) -> None:
    place = Place(spark, tmp_path)
    filing = place.filing(FEWER)
    filing(place.marked(FEWER), 0)
    assert filing.counts(0) == Counts(rows=4, malformed=2)
    assert filing.counts(0) == Counts(rows=0, malformed=0)
    assert place.aside() == {"many", "none"}


def test_why_a_batch_was_not_filed_is_known_and_it_is_kept_aside_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    place = Place(spark, tmp_path)
    (tmp_path / "_batches").write_text("in the way")
    filing = place.filing(FEWER)
    for _ in range(2):
        with pytest.raises(OSError, match="_batches"):
            filing(place.marked(FEWER), 0)
        assert "_batches" in str(filing.failure)
    (tmp_path / "_batches").unlink()
    filing(place.marked(FEWER), 0)
    assert found(spark, tmp_path) == {"few": 1, "some": 1}
    assert len(place.kept) == len({each.source for each in place.kept}) == 2
