"""The images: what is fetched for them is not fetched again when a service changes."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.chart.rendering import ROOT

COPIED = re.compile(r"^COPY (services\S*) \./(\S+)$", re.MULTILINE)
FETCHES = "services.machine jars"


@pytest.mark.parametrize("image", ["spark", "broker"])
def test_jars_are_fetched_by_few_of_our_files(image: str, tmp_path: Path) -> None:
    before = (ROOT / "docker" / f"{image}.Dockerfile").read_text("utf-8").partition(FETCHES)[0]
    copied = COPIED.findall(before)
    assert "services" not in dict(copied)
    for source, place in copied:
        shutil.copytree(ROOT / source, tmp_path / place)
    asked = subprocess.run(
        [sys.executable, "-m", "services.machine", "--help"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "jars" in asked.stdout, asked.stderr
