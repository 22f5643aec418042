"""Whatever of Spark begins after the stop is broken off as well."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.java_gateway import GatewayParameters, JavaGateway
from pyspark.sql import SparkSession

from archivist import __main__ as archivist
from services.backbone.service import Life


@pytest.mark.spark
def test_each_query_after_the_stop_is_broken_off(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = tmp_path / "gate"

    def waits(_: object) -> None:
        while not gate.exists():
            time.sleep(0.05)

    monkeypatch.setattr(archivist, "quieten", lambda _: None)
    life, ended = Life(), threading.Event()
    canceller = archivist._cancel_at_stop(spark, life, ended)  # noqa: SLF001 - a part of main
    life.stop.set()
    for _ in range(2):
        with pytest.raises(Exception, match="cancelled"):
            spark.sparkContext.parallelize([0], 1).map(waits).collect()
    ended.set()
    canceller.join()
    gate.touch()


@contextmanager
def ending_java() -> Iterator[JavaGateway]:
    """Take each call, and end without an answer, as a Java that is killed within it."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answers() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                connection.recv(1)
                connection.close()

        thread = threading.Thread(target=answers, daemon=True)
        thread.start()
        yield JavaGateway(gateway_parameters=GatewayParameters(port=server.getsockname()[1]))
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_java_that_ends_within_a_call_ends_the_cancelling(monkeypatch: pytest.MonkeyPatch) -> None:
    uncaught: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", uncaught.append)
    monkeypatch.setattr(archivist, "quieten", lambda _: None)
    life = Life()
    with ending_java() as java:
        spark: Any = SimpleNamespace(sparkContext=java.entry_point)
        canceller = archivist._cancel_at_stop(spark, life, threading.Event())  # noqa: SLF001 - a part of main
        life.stop.set()
        canceller.join()
    assert [each.exc_value for each in uncaught] == []
