"""Spark leaves it to the program what an interrupt (Ctrl-C) does."""

import os
import subprocess
import sys

PROGRAM = """
import signal
from engine.session import Driver, open_with

signal.signal(signal.SIGINT, lambda *_: print("heard by the program"))
driver = Driver(
    "x", "local[1]", alone=True, heap="512m", jars=(), log_format="json", log_level="info"
)
spark = open_with(driver, {})
signal.raise_signal(signal.SIGINT)
spark.stop()
"""


def test_an_interrupt_goes_to_the_program_also_once_spark_is_open() -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = (sys.executable, "-c", PROGRAM)
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=200
    )
    assert (done.returncode, done.stdout) == (0, "heard by the program\n"), done.stderr
