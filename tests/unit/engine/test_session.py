"""What Spark's Java is told: it is asked itself."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from engine.session import Driver, base_config, told_at_start
from engine.spark_classes import SPARK, make

DRIVER = Driver(
    "x", "local[1]", alone=True, heap="512m", jars=(), log_format="json", log_level="info"
)


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


@pytest.mark.parametrize(
    ("ours", "sparks"),
    [("debug", "info"), ("info", "warn"), ("warning", "warn"), ("error", "error")],
)
def test_sparks_lines_heed_our_level(ours: str, sparks: str) -> None:
    told = base_config(replace(DRIVER, log_level=ours))["spark.driver.defaultJavaOptions"]
    assert f" -Daldebaran.level={sparks}" in told


def test_no_secret_is_told_where_every_user_can_read_it() -> None:
    plain = base_config(DRIVER) | {"spark.plugins": "x", "spark.kubernetes.namespace": "x"}
    secret = {
        "spark.hadoop.fs.s3a.secret.key",
        "spark.hadoop.fs.s3a.encryption.key",
        "spark.ssl.keyPassword",
        "spark.kubernetes.authenticate.oauthToken",
        "spark.some.accessKey",
    }
    assert told_at_start(plain | dict.fromkeys(secret, "hidden")) == plain


def test_the_archive_of_classes_may_lie_in_a_folder_with_a_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark splits what Java is told, in the environment and in its own configuration."""
    submit, spark = str(SPARK / "bin" / "spark-submit"), tmp_path / "a user's" / "spark"
    (spark / "jars").mkdir(parents=True)
    archive = make((submit, "--version"), os.environ, spark)
    found = (f"-XX:SharedArchiveFile={archive}",)
    monkeypatch.setattr("engine.spark_classes.options", lambda _: found)
    told = base_config(DRIVER)["spark.driver.defaultJavaOptions"]
    option = f"spark.driver.defaultJavaOptions={told} -Xlog:class+load:file={tmp_path}/loaded"
    command = (submit, "--conf", option, "--version")
    subprocess.run(command, env=os.environ, capture_output=True, check=True, timeout=200)
    loaded = (tmp_path / "loaded").read_text().splitlines()
    (one,) = (line for line in loaded if "org.apache.spark.deploy.SparkSubmit " in line)
    assert "shared objects file (top)" in one
