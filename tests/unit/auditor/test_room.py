"""Whether a watch has slots beside those that are declared, told before it goes live."""

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from auditor.queries.declared import Declared, read_watch
from auditor.queries.room import room
from auditor.rehearsal.line import with_room
from auditor.settings import AuditorSettings
from services.contracts.rehearsals import Answer
from services.contracts.streams import load_streams
from services.contracts.watches import SHIPPED_WATCHES
from tests.unit.auditor.batches import EXAMPLE

pytestmark = pytest.mark.spark

DEFAULT = AuditorSettings.model_fields["auditor_slots"].default
SHIPPED = "over-purchase 5, unusual-volume 5"


def settings(slots: int = DEFAULT, watches: Path = SHIPPED_WATCHES) -> AuditorSettings:
    return AuditorSettings(
        auditor_slots=slots, auditor_watches=watches, auditor_shuffle_partitions=2
    )


def changed(watch: str, **parts: str) -> Declared:
    """Return a shipped watch with other words or another rule."""
    found = read_watch(SHIPPED_WATCHES / f"{watch}.yaml", load_streams())
    return replace(found, watch=found.watch.model_copy(update=parts))


def test_the_example_of_the_docs_fits_beside_the_shipped_watches(spark: SparkSession) -> None:
    example = read_watch(EXAMPLE, load_streams())
    said = room(spark, settings(), example)
    assert said == f"needs 5 slots and fits: {SHIPPED}, client-limit 5, of {DEFAULT}"


def test_a_rehearsal_tells_the_same(spark: SparkSession) -> None:
    example = read_watch(EXAMPLE, load_streams())
    told = with_room(Answer(), spark, settings(slots=14), example).room
    assert told == room(spark, settings(slots=14), example)


def test_too_few_are_told_with_how_many_it_takes(spark: SparkSession) -> None:
    said = room(spark, settings(slots=14), read_watch(EXAMPLE, load_streams()))
    assert said.startswith("needs 5 slots and does not fit: 15 slots are needed at once")
    assert f"{SHIPPED}, client-limit 5" in said
    assert "there are 14: set ALDEBARAN_AUDITOR_SLOTS=15 or more" in said


@pytest.mark.parametrize("watch", ["over-purchase", "unusual-volume"])
def test_the_default_holds_a_shipped_watch_beside_its_changed_rule(
    spark: SparkSession, watch: str
) -> None:
    said = room(spark, settings(), changed(watch, watermark="1 hour"))
    assert said == f"needs 5 slots and fits: {SHIPPED}, {watch} beside itself 5, of {DEFAULT}"


def test_other_words_take_no_slots_of_their_own(spark: SparkSession) -> None:
    said = room(spark, settings(slots=10), changed("over-purchase", description="Other words."))
    assert said == f"needs 5 slots and fits: {SHIPPED}, of 10"


def test_a_folder_without_watches_leaves_all_slots(spark: SparkSession, tmp_path: Path) -> None:
    said = room(spark, settings(5, tmp_path), read_watch(EXAMPLE, load_streams()))
    assert said == "needs 5 slots and fits: client-limit 5, of 5"


def test_watches_that_cannot_run_take_none(spark: SparkSession, tmp_path: Path) -> None:
    text = EXAMPLE.read_text("utf-8").replace("sum(CAST(shares", "sum(CAST(missing")
    (tmp_path / "bad.yaml").write_text(text.replace("watch: client-limit", "watch: other"))
    table = EXAMPLE.with_name("client-limits.csv")
    (tmp_path / table.name).write_text(table.read_text("utf-8"))
    said = room(spark, settings(5, tmp_path), read_watch(EXAMPLE, load_streams()))
    assert said == "needs 5 slots and fits: client-limit 5, of 5"
