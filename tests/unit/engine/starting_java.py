"""A program that starts Spark with secrets, and says who was told of them how."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from pyspark import SparkContext

from engine.java import jvm_of
from engine.session import Driver, open_with

SECRET: Final = "Hidden-5f1d"
IN_STORE: Final = "fs.s3a.secret.key"
OF_SPARK: Final = "spark.ssl.keyPassword"


@dataclass(frozen=True)
class Seen:
    """What was started, as Python asked for it and as Java runs, and what Spark knows then."""

    commands: Sequence[Sequence[str]]
    java: Sequence[str]
    in_hadoop: str
    in_spark: str
    heap: str
    counted: int


def main() -> None:
    """Start Spark and print what is seen."""
    commands: list[list[str]] = []

    def heed(event: str, told: tuple[object, ...]) -> None:
        if event == "subprocess.Popen" and isinstance(told[1], list):
            commands.append([str(each) for each in told[1]])

    sys.addaudithook(heed)
    driver = Driver(
        "x", "local[1]", alone=True, heap="512m", jars=(), log_format="json", log_level="info"
    )
    spark = open_with(driver, {f"spark.hadoop.{IN_STORE}": SECRET, OF_SPARK: SECRET})
    context = spark.sparkContext
    java = Path(f"/proc/{jvm_of(spark).java.lang.ProcessHandle.current().pid()}/cmdline")
    seen = Seen(
        commands,
        java.read_text().split("\0"),
        str(context._jsc.hadoopConfiguration().get(IN_STORE)),  # noqa: SLF001 - PySpark does not wrap it
        str(context.getConf().get(OF_SPARK)),
        str(SparkContext.getSystemProperty("spark.driver.memory")),
        spark.range(3).count(),
    )
    spark.stop()
    sys.stdout.write(json.dumps(asdict(seen)))


if __name__ == "__main__":
    main()
