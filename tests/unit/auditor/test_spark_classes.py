"""Java's archive of Spark's classes: where it is, how it is made, and that Java takes it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.session import Driver, base_config
from engine.spark_classes import SPARK, make, options
from services.backbone.class_archive import NotMade, place

VERSION = (str(SPARK / "bin" / "spark-submit"), "--version")


@pytest.fixture
def spark(tmp_path: Path) -> Path:
    """A folder of a Spark with two jars."""
    for name in ("a.jar", "b.jar"):
        jar = tmp_path / "spark" / "jars" / name
        jar.parent.mkdir(parents=True, exist_ok=True)
        jar.write_text(name)
    return tmp_path / "spark"


@pytest.fixture
def java(tmp_path: Path) -> Path:
    """A Java's home whose program says no more than its name."""
    program = tmp_path / "java" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text("java")
    return tmp_path / "java"


def test_another_spark_or_no_java_has_no_archive(spark: Path, java: Path) -> None:
    environment = {"JAVA_HOME": str(java), "SPARK_HOME": "/opt/spark"}
    place(java / "bin" / "java", spark / "jars").touch()
    assert options(environment, spark) == ()
    assert options({"PATH": str(spark)}, spark) == ()
    with pytest.raises(NotMade, match="no Java was found"):
        make(("true",), environment, spark)


def test_what_was_said_of_a_failure_is_told_and_nothing_is_left(spark: Path, java: Path) -> None:
    environment = {"JAVA_HOME": str(java), "PATH": os.environ["PATH"]}
    with pytest.raises(NotMade, match="exit code 3: no luck"):
        make(("sh", "-c", "echo no luck; exit 3"), environment, spark)
    assert [each.name for each in spark.iterdir()] == ["jars"]


def test_an_interruption_is_no_fault_of_ours(java: Path) -> None:
    environment = os.environ | {"JAVA_HOME": str(java), "PYTHONPATH": os.pathsep.join(sys.path)}
    asked = (sys.executable, "-m", "engine.spark_classes")
    interrupts = ("sh", "-c", "kill -INT $PPID; exec sleep 86400")
    command = (*asked, *interrupts)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr


def test_what_a_command_has_loaded_is_kept(spark: Path, java: Path) -> None:
    environment = {"JAVA_HOME": str(java), "PATH": os.environ["PATH"]}
    written = make(("sh", "-c", 'touch "${SPARK_SUBMIT_OPTS##*=}"'), environment, spark)
    assert written == place(java / "bin" / "java", spark / "jars")
    assert written.exists()


def test_java_reads_spark_from_what_it_wrote(tmp_path: Path) -> None:
    """With `-Xshare:on` Java ends with an error if it cannot use the archive."""
    archive = tmp_path / "classes.jsa"
    for option in (f"-XX:ArchiveClassesAtExit={archive}", f"-XX:SharedArchiveFile={archive}"):
        told = f"-Xshare:auto {option} -Xlog:class+load:file={tmp_path}/loaded"
        environment = os.environ | {"SPARK_SUBMIT_OPTS": told}
        subprocess.run(VERSION, env=environment, check=True, capture_output=True, timeout=200)
    loaded = (tmp_path / "loaded").read_text().splitlines()
    (submit,) = (line for line in loaded if "org.apache.spark.deploy.SparkSubmit " in line)
    assert "shared objects file (top)" in submit


def test_spark_is_told_of_an_archive_that_is_there(
    spark: Path, java: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {"JAVA_HOME": str(java)}
    assert options(environment, spark) == ()
    found = place(java / "bin" / "java", spark / "jars")
    found.touch()
    told = options(environment, spark)
    assert told == (f"-XX:SharedArchiveFile={found}",)
    monkeypatch.setattr("engine.spark_classes.options", lambda _: told)
    driver = Driver(
        "x", "local[1]", alone=True, heap="512m", jars=(), log_format="json", log_level="info"
    )
    assert told[0] in base_config(driver)["spark.driver.defaultJavaOptions"].split()
