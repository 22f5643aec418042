"""Java's archive of the broker's classes is made by a real broker, once, and Java takes it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from services.backbone.class_archive import NotMade
from services.machine.installation import setup
from services.machine.servers import broker
from services.machine.servers.broker_classes import archive_classes

pytestmark = pytest.mark.kafka


def test_a_broker_starts_from_the_archive_that_one_before_has_left(
    aldebaran_tools: Path, tmp_path: Path
) -> None:
    java = setup.required_java(os.environ)
    jars = shutil.copytree(setup.jars_folder(aldebaran_tools, "broker"), tmp_path / "jars")
    node = broker.BrokerNode(tmp_path / "kafka", 1, 2)
    plain = broker.program(node, java, jars).command
    assert not any("SharedArchiveFile" in each for each in plain)

    archive_classes(java, jars, os.environ)
    made_at_ns = broker.classes(java, jars).stat().st_mtime_ns
    archive_classes(java, jars, os.environ)
    assert broker.classes(java, jars).stat().st_mtime_ns == made_at_ns

    command = broker.program(node, java, jars).command
    assert sorted(os.listdir(tmp_path)) == sorted(["jars", broker.classes(java, jars).name])
    loaded = tmp_path / "loaded"
    listed = [command[0], f"-Xlog:class+load:file={loaded}", *command[1:-1]]
    subprocess.run(listed, capture_output=True, timeout=100, check=False)  # it lacks its settings
    (main,) = (line for line in loaded.read_text().splitlines() if " kafka.Kafka " in line)
    assert "shared objects file (top)" in main


def test_without_a_broker_there_is_no_archive_and_the_reason_is_told(tmp_path: Path) -> None:
    jars = tmp_path / "jars"
    jars.mkdir()
    with pytest.raises(NotMade, match="storage cannot be formatted"):
        archive_classes(setup.required_java(os.environ), jars, os.environ)
    assert os.listdir(tmp_path) == ["jars"]
