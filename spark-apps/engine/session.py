"""The Spark session as every application wants it: small, quiet, in UTC, with pinned jars."""

import logging
import os
import re
import shlex
import signal
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyspark import SparkConf, SparkContext
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from engine import spark_classes
from engine.java import jvm_of

_TWICE: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""PySpark's own loggers: a trace in a form of its own for what the refusal says in one line."""
_LOG_CONFIG: Final = Path(__file__).with_name("log4j2.properties")
_JAVA_OPTIONS: Final = Path(__file__).with_name("java-options")
_SECURITY: Final = Path(__file__).with_name("java-security")
"""Both are read by Java itself; executors are told of the same files by the chart."""
_LEVELS: Final = {"debug": "info", "info": "warn", "warning": "warn", "error": "error"}
"""Spark's level by ours: of what we say at `info` it says a hundred times as much."""
_UNTOLD: Final = re.compile(r"^spark\.hadoop\.|(?i:secret|password|token|access[.]?key)")
"""Java needs none of these to start: what opens stores, and names that Spark itself redacts."""


@dataclass(frozen=True, slots=True)
class Driver:
    """What a Spark driver is started with; `heap` as Java spells it, for example `512m`.

    `jars` are the folders of libraries that Spark does not already have. `alone` means that
    nothing outside this machine needs to reach the driver.
    """

    name: str
    master: str
    alone: bool
    heap: str
    jars: tuple[Path, ...]
    log_format: str
    log_level: str


def base_config(driver: Driver) -> dict[str, str]:
    """Return the part of Spark's configuration that all applications share."""
    config = {
        "spark.app.name": f"aldebaran-{driver.name}",
        "spark.driver.memory": driver.heap,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.adaptive.enabled": "false",
        # PySpark asks Java several times for each column where in Python it came from.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        # Declared SQL reads streams: neither files nor what stands in the environment.
        "spark.sql.runSQLOnFiles": "false",
        "spark.sql.variable.substitute": "false",
        "spark.sql.streaming.numRecentProgressUpdates": "20",
        "spark.driver.defaultJavaOptions": _java_options(driver),
    }
    if driver.alone:
        config |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    if driver.jars:
        found = (jar for folder in driver.jars for jar in folder.glob("*.jar"))
        config["spark.jars"] = ",".join(sorted(str(jar.resolve()) for jar in found))
    return config


def _java_options(driver: Driver) -> str:
    return " ".join(
        [
            f'"@{_JAVA_OPTIONS}"',
            shlex.join(spark_classes.options(os.environ)),  # Spark splits it as a shell would
            f'"-Djava.io.tmpdir={tempfile.gettempdir()}"',  # Java does not look at TMPDIR
            f"-Djava.security.properties={_SECURITY.as_uri()}",
            f"-Dlog4j2.configurationFile={_LOG_CONFIG.as_uri()}",
            f"-Daldebaran.log={driver.log_format}",
            f"-Daldebaran.level={_LEVELS[driver.log_level]}",
        ]
    )


def open_with(driver: Driver, more: Mapping[str, str]) -> SparkSession:
    """Start Spark with the shared configuration and `more`; takes some seconds."""
    # It tells of every connection that a thread of ours closes.
    logging.getLogger("py4j").setLevel(logging.WARNING)
    for name in _TWICE:
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL)
    config = {"spark.master": driver.master} | base_config(driver) | dict(more)
    if driver.alone:
        # Before Spark reads any of it, it asks for the address of the machine's own name, which
        # need not have one.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    _start_java(told_at_start(config))
    builder = SparkSession.Builder()
    for name, value in config.items():
        builder = builder.config(name, value)
    with _interrupt_kept():
        return builder.getOrCreate()


@contextmanager
def _interrupt_kept() -> Iterator[None]:
    """Leave SIGINT to whoever has it: a context of PySpark takes it, to raise KeyboardInterrupt."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def told_at_start(config: Mapping[str, str]) -> dict[str, str]:
    """Return what may stand on Java's command line, which every user of the machine can read."""
    return {name: value for name, value in config.items() if not _UNTOLD.search(name)}


def _start_java(config: Mapping[str, str]) -> None:
    """Start Java, unless it runs; PySpark then tells it all else by their own connection."""
    told = SparkConf(loadDefaults=False)
    for name, value in config.items():
        told.set(name, value)
    # A context would do it itself, with all of its configuration on the command line.
    SparkContext._ensure_initialized(conf=told)  # noqa: SLF001 - PySpark has no public way


def quieten(spark: SparkSession) -> None:
    """End Spark's log before its queries are stopped: it reports each stopped task as an error."""
    # PySpark's own setLogLevel spares loggers with a level.
    log4j = jvm_of(spark).org.apache.logging.log4j
    log4j.core.config.Configurator.setAllLevels("", log4j.Level.OFF)
