"""No secret stands where every user of a machine can read it: on the command line of a program."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.engine.starting_java import SECRET, Seen

PROGRAM = "tests.unit.engine.starting_java"


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="the system has no /proc")
def test_spark_knows_the_secrets_and_its_command_lines_do_not() -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = (sys.executable, "-m", PROGRAM)
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, timeout=200)
    seen = Seen(**json.loads(done.stdout))
    (submit,) = (each for each in seen.commands if "spark-submit" in each[0])
    assert any("spark.driver.memory=512m" in word for word in submit)
    assert [word for word in (*submit, *seen.java) if SECRET in word] == []
    assert "org.apache.spark.deploy.SparkSubmit" in seen.java
    assert (seen.in_hadoop, seen.in_spark, seen.heap) == (SECRET, SECRET, "512m")
