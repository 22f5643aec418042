"""Memory that is short while a query is made says nothing of the watch, which is tried again."""

import threading
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from auditor.checkpoints.checkpoint import Checkpoint, fingerprint
from auditor.checkpoints.ranges import Range
from auditor.queries import query
from auditor.queries.declared import Declared
from auditor.queries.query import Recipe, messages_of
from auditor.recovery.sieve import Sieve
from auditor.settings import AuditorSettings
from services.backbone.errors import Transient
from tests.unit.auditor.batches import STREAMS, WATCHES, records

SHORT = "^watch over-purchase: .*, memory is short: java.lang.OutOfMemoryError"
DECLARED = Declared(WATCHES["over-purchase"], {"trades": STREAMS["trades"]}, ())


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    def findings(*_: Any) -> None:
        raise PySparkException("java.lang.OutOfMemoryError: Java heap space")

    monkeypatch.setattr(query, "findings", findings)


def test_a_query_is_made_again_once_there_is_memory(spark: SparkSession) -> None:
    with pytest.raises(Transient, match=SHORT):
        messages_of(spark, DECLARED, lambda _: records(spark, []), "a")


def test_a_search_for_a_record_goes_on_once_there_is_memory(
    spark: SparkSession, tmp_path: Path
) -> None:
    wanted = fingerprint(DECLARED.watch, DECLARED.streams, 1)
    checkpoint = Checkpoint(DECLARED.name, tmp_path, wanted)
    recipe = Recipe(spark, AuditorSettings(), DECLARED, checkpoint)
    with pytest.raises(Transient, match=SHORT):
        Sieve(recipe, threading.Event()).fails(Range("trades", 0, 0, 1))
