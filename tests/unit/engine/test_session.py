"""What Spark's Java is told: it is asked itself."""

import os
import subprocess
from pathlib import Path

import pytest

from engine.session import Driver, base_config
from engine.spark_classes import SPARK

DRIVER = Driver("x", "local[1]", alone=True, heap="512m", jars=(), log_format="json")


def test_java_writes_where_python_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of its own, what a kill leaves is gone when the program starts again."""
    folder = tmp_path / "a scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    told = base_config(DRIVER)["spark.driver.defaultJavaOptions"]
    option = f"spark.driver.defaultJavaOptions={told} -XshowSettings:properties"
    command = (str(SPARK / "bin" / "spark-submit"), "--conf", option, "--version")
    said = subprocess.run(
        command, env=os.environ, capture_output=True, text=True, check=True, timeout=200
    )
    assert f"java.io.tmpdir = {folder}\n" in said.stdout + said.stderr
