"""No secret stands where every user of a machine can read it: on the command line of a program."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.engine.starting_java import SECRET, Seen

PROGRAM = "tests.unit.engine.starting_java"

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/cmdline").exists(), reason="the system has no /proc"
)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Start Spark once, on a machine whose own name nobody knows."""
    known = tmp_path_factory.mktemp("hosts") / "hosts"
    known.write_text("127.0.0.1 localhost\n")
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "JAVA_TOOL_OPTIONS": f"-Djdk.net.hosts.file={known}",
    }
    command = (sys.executable, "-m", PROGRAM)
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, timeout=200)
    return Seen(**json.loads(done.stdout))


def test_spark_knows_the_secrets_and_its_command_lines_do_not(seen: Seen) -> None:
    (submit,) = (each for each in seen.commands if "spark-submit" in each[0])
    assert any("spark.driver.memory=512m" in word for word in submit)
    assert [word for word in (*submit, *seen.java) if SECRET in word] == []
    assert "org.apache.spark.deploy.SparkSubmit" in seen.java
    assert (seen.in_hadoop, seen.in_spark, seen.heap) == (SECRET, SECRET, "512m")


def test_spark_starts_alone_where_nobody_knows_the_machines_name(seen: Seen) -> None:
    assert seen.counted == 3
