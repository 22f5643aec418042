import errno
import fcntl
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from services.machine.home import occupied, remove
from services.machine.problems import MachineProblem, told_of_disk


def test_a_folder_is_used_by_one_run_at_a_time(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with occupied(home):
        with pytest.raises(MachineProblem, match=r"a run \(process \d+\) is using"), occupied(home):
            pass
        with pytest.raises(MachineProblem, match="stop it first"):
            remove(home)
    with occupied(home):
        pass


def test_a_disk_without_locks_is_told_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    told = "with locks, or name another folder by ALDEBARAN_HOME"
    with (
        pytest.raises(MachineProblem, match=f"No locks available.*{told}"),
        told_of_disk(tmp_path, "ALDEBARAN_HOME"),
        occupied(tmp_path / "home"),
    ):
        pass


def test_a_folder_that_is_made_is_its_users_alone(tmp_path: Path) -> None:
    made, shared = tmp_path / "made", tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o755)
    with occupied(made), occupied(shared):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700
        assert stat.S_IMODE(shared.stat().st_mode) == 0o755


def test_a_folder_with_other_peoples_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("dear", "utf-8")
    with pytest.raises(MachineProblem, match="ALDEBARAN_HOME"), occupied(tmp_path):
        pass
    with pytest.raises(MachineProblem, match="ALDEBARAN_HOME"):
        remove(tmp_path)
    assert (tmp_path / "letter").read_text("utf-8") == "dear"


def test_removing_takes_all_and_may_be_repeated(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with occupied(home):
        (home / "log").mkdir()
        (home / "log" / "kafka.log").write_text("x", "utf-8")
        (home / "note").write_text("x", "utf-8")
    assert remove(home)
    assert not home.exists()
    assert not remove(home)


def test_a_link_inside_is_removed_and_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x", "utf-8")
    with occupied(tmp_path / "home"):
        (tmp_path / "home" / "link").symlink_to(outside)
    remove(tmp_path / "home")
    assert (outside / "kept").exists()


def test_a_home_that_is_a_link_is_emptied_and_stays(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.symlink_to(tmp_path / "larger", target_is_directory=True)
    (tmp_path / "larger").mkdir()
    with occupied(home):
        (home / "note").touch()
    assert remove(home)
    assert list(home.iterdir()) == []


MOUNTED = """
import sys
from pathlib import Path
from services.machine.home import MARK, occupied, remove
home, mount = map(Path, sys.argv[1:])
left = {mount, *(each for each in mount.parents if home in each.parents), home / MARK} - {home}
for _ in range(2):
    with occupied(home):
        (mount / "data").mkdir()
        (mount / "data" / "note").touch()
        for name in ("a", "z"):
            (home / name).mkdir()
            (home / name / "note").touch()
    assert remove(home)
    assert set(home.rglob("*")) == (left if mount != home else set())
"""


@pytest.mark.parametrize("within", ["", "kafka", "kafka/data"])
def test_a_mount_is_emptied_and_stays_and_all_else_is_gone(tmp_path: Path, within: str) -> None:
    apart = ["unshare", "--map-root-user", "--mount"]
    try:
        subprocess.run([*apart, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("nobody but root may mount here")
    home = tmp_path / "home"
    with occupied(home):
        (home / within).mkdir(parents=True, exist_ok=True)
    mounted = 'mount --bind "$2" "$2" && exec "$3" -c "$4" "$1" "$2"'
    shell = ["sh", "-c", mounted, "sh", str(home), str(home / within), sys.executable, MOUNTED]
    subprocess.run([*apart, *shell], check=True)
