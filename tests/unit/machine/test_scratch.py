"""What a killed program leaves in its own folder is gone when it starts again."""

import os
from pathlib import Path

from services.machine.supervision import child
from services.machine.supervision.programs import Program

LEAVES_A_FILE = 'ls "$1"; touch "$1/left"; kill -9 $$'


def test_a_program_starts_with_an_empty_folder(tmp_path: Path) -> None:
    folder, log = tmp_path / "scratch" / "one", tmp_path / "one.log"
    command = ("/bin/sh", "-c", LEAVES_A_FILE, "sh", str(folder))
    for _ in range(2):
        child.start(Program("one", command, scratch=folder), log, os.environ).process.wait(30)
        assert (folder / "left").exists()
    assert log.read_text("utf-8") == ""
