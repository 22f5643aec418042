"""A jar of another version than the programs is told of before Spark meets what it has not."""

import pytest
from pyspark.sql import SparkSession

from engine.own_classes import own_classes, require
from services.backbone.errors import Refused


def test_what_the_jar_has_not_is_told_with_what_to_do(spark: SparkSession) -> None:
    with pytest.raises(Refused, match="another version than this program: run `make setup`"):
        require(spark, "aldebaran.state.NotYetWritten")


def test_what_the_jar_has_is_there(spark: SparkSession) -> None:
    require(spark, "aldebaran.state.CheckpointFiles")
    assert own_classes(spark).state.CheckpointFiles
