"""The script is read by a shell, wherever our Python lies."""

import argparse
import shutil
import subprocess
from pathlib import Path

import pytest

from services.aldebaran.completion import Shell, script


def test_a_python_in_a_folder_with_a_space_is_run(tmp_path: Path) -> None:
    python = tmp_path / "a folder" / "python"
    python.parent.mkdir()
    python.symlink_to("/bin/echo")
    (tmp_path / "script").write_text(script(argparse.ArgumentParser(), str(python), "bash"))
    command = f". {tmp_path}/script; aldebaran todo"
    said = subprocess.run(["/bin/bash", "-c", command], capture_output=True, text=True, check=True)
    assert said.stdout == "-m services.aldebaran todo\n"


@pytest.mark.parametrize(
    ("shell", "options", "kind"),
    [("bash", ("--norc", "-i"), "function"), ("zsh", ("-f",), "aldebaran: function")],
)
def test_it_takes_the_place_of_an_alias(
    tmp_path: Path, shell: Shell, options: tuple[str, ...], kind: str
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here: apt-get install {shell}")
    (tmp_path / "script").write_text(script(argparse.ArgumentParser(), "/bin/echo", shell))
    ask = "type -t" if shell == "bash" else "whence -w"
    lines = f"alias aldebaran=todo\nsource ./script\nsource ./script\n{ask} aldebaran\n"
    made = subprocess.run(
        [shell, *options],
        input=lines,
        cwd=tmp_path,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.stdout.splitlines() == [kind]
