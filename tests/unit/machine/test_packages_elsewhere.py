"""What the user's Python finds elsewhere is no part of the environment."""

import os
import subprocess
from pathlib import Path

import pytest

from services.machine.installation.packages import ELSEWHERE, pip_install

ROOT = Path(__file__).parents[3]
FINDING = """#!/bin/sh
echo "${PYTHONPATH-nothing} ${PYTHONHOME-nothing}" >> "${0%/*}/found"
"""
RULE = "include Makefile\ntold:\n\t@echo $${PYTHONPATH-nothing} $${PYTHONHOME-nothing}\n"


def test_pip_is_not_led_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes what it finds for installed, and the environment would lack it."""
    for name in ELSEWHERE:
        monkeypatch.setenv(name, str(tmp_path))
    pip = tmp_path / "venv" / "bin" / "pip"
    pip.parent.mkdir(parents=True)
    pip.write_text(FINDING)
    pip.chmod(0o755)
    wanted = tmp_path / "list"
    wanted.write_text("a==1\npyspark==2\nsetuptools==3\n")
    pip_install(tmp_path / "venv", wanted)
    assert pip.with_name("found").read_text() == "nothing nothing\n" * 3


def test_make_leads_no_program_there(tmp_path: Path) -> None:
    command = ["make", "-s", "-f", "-", "told"]
    said = subprocess.run(
        command,
        input=RULE,
        cwd=ROOT,
        env=os.environ | dict.fromkeys(ELSEWHERE, str(tmp_path)) | {"BASE_PYTHON": "true"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == "nothing nothing\n"
