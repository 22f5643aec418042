"""The auditor's Spark session, with everything pinned that Real-time Mode's latency depends on."""

from typing import Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from auditor.settings import AuditorSettings
from engine.own_classes import MISSING, require
from engine.session import Driver, open_with
from services.backbone.errors import Refused

_OURS: Final = "aldebaran."
_SHUFFLE: Final = f"{_OURS}shuffle.LocalShuffleManager"
_STATE_MEMORY: Final = f"{_OURS}state.StateMemory"
_CHECKPOINT_FILES: Final = f"{_OURS}state.CheckpointFiles"

_REAL_TIME = "spark.sql.streaming.realTimeMode"
_STATE = "spark.sql.streaming.stateStore"
_ROCKSDB = f"{_STATE}.rocksdb"


def real_time_config(settings: AuditorSettings) -> dict[str, str]:
    """Return what the auditor adds to Spark's shared configuration."""
    return {
        "spark.sql.shuffle.partitions": str(settings.auditor_shuffle_partitions),
        # Rows go from task to task through memory where all tasks are in one process.
        "spark.shuffle.manager.incremental": _SHUFFLE,
        # 0 would look faster and is not: the network thread then never flushes by itself.
        "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "1",
        "spark.sql.streaming.pollingDelay": "10ms",
        # A day, so at a batch's end only: changed books are written then, as nothing of ours has
        # a time to live. Written each second, the events of that moment would wait.
        f"{_REAL_TIME}.transformWithState.ttlEvictionIntervalMs": "86400000",
        # A query that cannot be stopped ends the program instead of holding up all others.
        "spark.sql.streaming.stopTimeout": "60s",
        f"{_STATE}.providerClass": (
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        ),
        # Else RocksDB's memory is divided so that filters push each other out.
        "spark.plugins": _STATE_MEMORY,
        f"{_ROCKSDB}.trackTotalNumberOfRows": "false",
        f"{_ROCKSDB}.boundedMemoryUsage": "true",
        # Else data pushes out what says where data is, and each look into much state reads it.
        f"{_ROCKSDB}.highPriorityPoolRatio": "0.4",
        f"{_ROCKSDB}.maxMemoryUsageMB": str(settings.auditor_state_memory_mebibytes),
        **_checkpoint_files(settings),
        **settings.store_config(),
        **settings.spark_options(),
    }


def _checkpoint_files(settings: AuditorSettings) -> dict[str, str]:
    """Spark's own start a program, chmod, for each file on a disk while nothing is judged."""
    if settings.auditor_store:
        return {}
    return {"spark.sql.streaming.checkpointFileManagerClass": _CHECKPOINT_FILES}


def open_session(settings: AuditorSettings) -> SparkSession:
    """Start Spark; takes some seconds.

    Raises:
        Refused: Spark does not find our own classes, or those of another version.
    """
    driver = Driver(
        name=f"auditor-{settings.auditor_id}",
        master=settings.master(),
        alone=not settings.auditor_master,
        heap=settings.auditor_heap,
        jars=settings.jars(),
        log_format=settings.log_format,
        log_level=settings.log_level,
    )
    try:
        spark = open_with(driver, real_time_config(settings))
    except Py4JJavaError as error:
        if f"ClassNotFoundException: {_OURS}" in str(error):
            raise Refused(MISSING) from error
        raise
    # Spark loads it at the first checkpoint only, and its error then says nothing of jars.
    require(spark, _CHECKPOINT_FILES)
    return spark
