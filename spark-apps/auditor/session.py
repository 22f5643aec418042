"""The Spark session, with everything pinned that Real-time Mode's latency depends on."""

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from auditor.settings import AuditorSettings

_LOG_CONFIG = Path(__file__).with_name("log4j2.properties")
_STATE = "spark.sql.streaming.stateStore"
_ROCKSDB = f"{_STATE}.rocksdb"


def session_config(settings: AuditorSettings) -> dict[str, str]:
    """Return Spark's configuration for these settings."""
    config = {
        "spark.app.name": f"aldebaran-auditor-{settings.auditor_id}",
        "spark.driver.memory": settings.auditor_heap,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": str(settings.auditor_shuffle_partitions),
        # 0 would look faster and is not: the network thread then never flushes by itself.
        "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "1",
        "spark.sql.streaming.pollingDelay": "10ms",
        "spark.sql.streaming.numRecentProgressUpdates": "20",
        f"{_STATE}.providerClass": (
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        ),
        f"{_ROCKSDB}.trackTotalNumberOfRows": "false",
        f"{_ROCKSDB}.boundedMemoryUsage": "true",
        f"{_ROCKSDB}.maxMemoryUsageMB": str(settings.auditor_state_memory_mebibytes),
        "spark.driver.defaultJavaOptions": _java_options(settings),
    }
    if not settings.auditor_master:
        config |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    if settings.auditor_jars:
        jars = sorted(str(jar.resolve()) for jar in settings.auditor_jars.glob("*.jar"))
        config["spark.jars"] = ",".join(jars)
    return config


def _java_options(settings: AuditorSettings) -> str:
    """Parallel collectors gain nothing on a small heap; the log file stands beside this module."""
    return " ".join(
        [
            "-XX:+UseG1GC" if settings.auditor_heap.endswith("g") else "-XX:+UseSerialGC",
            "-XX:+ExitOnOutOfMemoryError",
            f"-Dlog4j2.configurationFile={_LOG_CONFIG.as_uri()}",
            f"-Daldebaran.log={settings.log_format}",
        ]
    )


def quieten(spark: SparkSession) -> None:
    """End Spark's log before its queries are stopped: it reports each stopped task as an error."""
    jvm: Any = spark._jvm  # noqa: SLF001 - PySpark's own setLogLevel spares loggers with a level
    log4j = jvm.org.apache.logging.log4j
    log4j.core.config.Configurator.setAllLevels("", log4j.Level.OFF)


def open_session(settings: AuditorSettings) -> SparkSession:
    """Start Spark; takes some seconds."""
    builder = SparkSession.Builder().master(settings.master())
    for name, value in session_config(settings).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
