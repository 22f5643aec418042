"""Has Java archive the classes of the broker and of Spark, so that both start sooner."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from services.backbone.class_archive import NotMade
from services.backbone.inherited import passed_on
from services.machine.installation.setup import PYTHON_PATH, ROOT, jars_folder, required_java
from services.machine.servers import broker_classes

_CHECKED: Final = ROOT / "spark-apps" / "auditor" / "watches" / "over-purchase.yaml"


def archive_classes(tools: Path, environment: Mapping[str, str]) -> None:
    """Have Java archive the broker's and Spark's classes, unless that was done.

    Spark's are those of a check of a shipped watch. Where there is no archive afterwards, it was
    said why: all works without it, and starts take some seconds more.
    """
    java = required_java(environment)
    try:
        broker_classes.archive_classes(java, jars_folder(tools, "broker"), environment)
    except NotMade as error:
        sys.stderr.write(f"there is no archive of the broker's classes: {error}\n")
    told = {
        **passed_on(environment),
        "JAVA_HOME": str(java.parents[1]),
        "PYTHONPATH": PYTHON_PATH,
        "ALDEBARAN_AUDITOR_JARS": str(jars_folder(tools, "spark").resolve()),
    }
    check = (sys.executable, "-m", "auditor", "check", str(_CHECKED))
    command = (sys.executable, "-m", "engine.spark_classes", *check)
    subprocess.run(command, env=told, check=False)
