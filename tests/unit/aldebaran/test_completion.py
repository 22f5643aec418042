"""The script is read by a shell, wherever our Python lies."""

import argparse
import subprocess
from pathlib import Path

from services.aldebaran.completion import script


def test_a_python_in_a_folder_with_a_space_is_run(tmp_path: Path) -> None:
    python = tmp_path / "a folder" / "python"
    python.parent.mkdir()
    python.symlink_to("/bin/echo")
    (tmp_path / "script").write_text(script(argparse.ArgumentParser(), str(python), "bash"))
    command = f". {tmp_path}/script; aldebaran todo"
    said = subprocess.run(["/bin/bash", "-c", command], capture_output=True, text=True, check=True)
    assert said.stdout == "-m services.aldebaran todo\n"
