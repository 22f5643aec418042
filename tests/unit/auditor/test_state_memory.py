"""RocksDB's memory for state has few large shards, and Spark takes it so."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from auditor.session import real_time_config
from auditor.settings import AuditorSettings
from engine.java import jvm_of
from engine.own_classes import own_classes

MEBIBYTE = 1 << 20
MANAGER = "org.apache.spark.sql.execution.streaming.state.RocksDBMemoryManager$"
HELD = ("writeBufferManager", "cache")


@pytest.fixture
def held(spark: SparkSession) -> Iterator[dict[str, Any]]:
    """The fields in which Spark holds RocksDB's memory, as they are now; put back at the end."""
    manager = jvm_of(spark).java.lang.Class.forName(MANAGER)
    fields = {name: manager.getDeclaredField(name) for name in HELD}
    for field in fields.values():
        field.setAccessible(True)
    before = {name: field.get(None) for name, field in fields.items()}
    yield fields
    for name, field in fields.items():
        field.set(None, before[name])


def configured(spark: SparkSession, **changes: str) -> Any:
    """Spark's configuration as an auditor gives it."""
    conf = jvm_of(spark).org.apache.spark.SparkConf(False)
    for name, value in (real_time_config(AuditorSettings()) | changes).items():
        conf.set(name, value)
    return conf


def rocksdb_conf(spark: SparkSession) -> Any:
    """What Spark opens a state of this session with."""
    package = jvm_of(spark).org.apache.spark.sql.execution.streaming.state
    session = spark._jsparkSession.sessionState().conf()  # noqa: SLF001 - PySpark has no other way
    return package.RocksDBConf.apply(package.StateStoreConf.apply(session))


@given(mebibytes=st.integers(1, 1 << 20))
def test_a_shard_has_room_for_the_largest_blocks(spark: SparkSession, mebibytes: int) -> None:
    shards = 2 ** own_classes(spark).state.StateMemory.shardBits(mebibytes * MEBIBYTE)
    assert shards == 1 or mebibytes / shards >= 32
    assert shards <= 64
    assert shards == 64 or mebibytes / shards < 64


def test_spark_takes_this_memory(spark: SparkSession, held: dict[str, Any]) -> None:
    own_classes(spark).state.StateMemory.share(configured(spark))
    shared = {name: field.get(None) for name, field in held.items()}
    manager = held["cache"].getDeclaringClass().getField("MODULE$").get(None)
    taken = manager.getOrCreateRocksDBMemoryManagerAndCache(rocksdb_conf(spark))
    assert [taken.productElement(0), taken.productElement(1)] == [shared[name] for name in HELD]


def test_memory_without_bounds_is_left_to_spark(spark: SparkSession, held: dict[str, Any]) -> None:
    for field in held.values():
        field.set(None, None)
    unbounded = {"spark.sql.streaming.stateStore.rocksdb.boundedMemoryUsage": "false"}
    own_classes(spark).state.StateMemory.share(configured(spark, **unbounded))
    assert held["cache"].get(None) is None
