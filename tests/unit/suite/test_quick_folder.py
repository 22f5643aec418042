"""Where databases of tests have their files: in memory where there is room, and nothing is left."""

import subprocess
import sys
from os import getpid
from pathlib import Path

from tests.quick_folder import NAME, quick_folder


def test_it_is_in_memory_for_as_long_as_it_is_used(tmp_path: Path) -> None:
    with quick_folder(tmp_path / "other", memory=tmp_path, room_bytes=1) as folder:
        assert (folder.parent, folder.is_dir()) == (tmp_path, True)
        (folder / "file").write_text("x")
    assert not folder.exists()


def test_without_room_or_such_a_folder_it_is_the_other(tmp_path: Path) -> None:
    other = tmp_path / "other"
    with quick_folder(other, memory=tmp_path, room_bytes=2**62) as folder:
        assert folder == other
    with quick_folder(other, memory=tmp_path / "none") as folder:
        assert folder == other


def test_what_killed_tests_have_left_is_removed_and_what_others_use_is_not(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left, used = tmp_path / f"{NAME}{ended.pid}-a", tmp_path / f"{NAME}{getpid()}-b"
    for each in (left, used):
        (each / "postgres").mkdir(parents=True)
    with quick_folder(tmp_path, memory=tmp_path, room_bytes=1):
        assert (left.exists(), used.exists()) == (False, True)
