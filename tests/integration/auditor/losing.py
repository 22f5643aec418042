"""A Spark of its own, of whose executors one is killed; says what is known of that afterwards.

A program, since a process has only one Spark: `python -m tests.integration.auditor.losing`.
"""

import os
import signal
import subprocess
import sys

from pyspark.sql import SparkSession

from auditor.recovery.executors import lost_since
from engine import spark_classes
from services.backbone.clock import SystemClock
from tests.integration.auditor.running import wait_for

ARCHIVED = " ".join(spark_classes.options(os.environ))
"""What Java is told of the archive of Spark's classes, where there is one: a start takes less."""
OPTIONS = {
    "spark.executor.memory": "600m",
    "spark.executor.extraJavaOptions": ARCHIVED,
    "spark.ui.enabled": "false",
}


def main() -> None:
    """Write what is said before the loss, after it, and of the time after that."""
    builder = SparkSession.Builder().master("local-cluster[1,1,1024]")
    for name, value in OPTIONS.items():
        builder = builder.config(name, value)
    spark, begun_ms = builder.getOrCreate(), SystemClock().now_ms()
    wait_for("an executor", lambda: bool(executors_of(spark)))
    spark.range(1).count()
    sys.stdout.write(f"{lost_since(spark, begun_ms)}\n")
    os.kill(executors_of(spark)[0], signal.SIGKILL)
    wait_for("it is known", lambda: lost_since(spark, begun_ms) is not None)
    sys.stdout.write(f"{lost_since(spark, begun_ms)}\n")
    sys.stdout.write(f"{lost_since(spark, SystemClock().now_ms() + 1)}\n")
    spark.stop()


def executors_of(spark: SparkSession) -> list[int]:
    """Return the processes of this Spark's executors."""
    command = ["/bin/ps", "-eo", "pid,args"]
    listed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    own = ("CoarseGrainedExecutorBackend", spark.sparkContext.applicationId)
    lines = [line for line in listed.stdout.splitlines() if all(word in line for word in own)]
    return [int(line.split()[0]) for line in lines]


if __name__ == "__main__":
    main()
