"""The environment is made once, by one process at a time, and anew after it was cut short."""

import threading
from pathlib import Path

import pytest

from services.machine.packages import STAMP, ensure, split

ROOT = Path(__file__).parents[3]


class Installer:
    """Counts what is done; `inside` is how many install at this moment."""

    def __init__(self) -> None:
        self.created = 0
        self.installed: list[str] = []
        self.inside = 0
        self.most_inside = 0
        self.fails = False

    def create(self, venv: Path) -> None:
        (venv / "bin").mkdir(parents=True, exist_ok=True)
        for each in venv.glob(".*"):
            each.unlink()
        (venv / "bin" / "python").touch()
        self.created += 1

    def install(self, _: Path, wanted: Path) -> None:
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        threading.Event().wait(0.01)
        self.inside -= 1
        if self.fails:
            raise KeyboardInterrupt
        self.installed.append(wanted.read_text())


def test_what_is_there_is_not_installed_again_and_a_change_is(tmp_path: Path) -> None:
    venv, wanted, to = tmp_path / "venv", tmp_path / "list", Installer()
    wanted.write_text("a==1")
    assert ensure(venv, wanted, to.create, to.install)
    assert not ensure(venv, wanted, to.create, to.install)
    wanted.write_text("a==2")
    assert ensure(venv, wanted, to.create, to.install)
    assert (to.created, to.installed) == (1, ["a==1", "a==2"])
    assert (venv / STAMP).read_text() == "a==2"


def test_what_was_cut_short_is_made_anew(tmp_path: Path) -> None:
    venv, wanted, to = tmp_path / "venv", tmp_path / "list", Installer()
    wanted.write_text("a==1")
    to.fails = True
    with pytest.raises(KeyboardInterrupt):
        ensure(venv, wanted, to.create, to.install)
    assert not (venv / STAMP).exists()
    to.fails = False
    assert ensure(venv, wanted, to.create, to.install)
    assert to.created == 2


def test_several_at_once_wait_for_each_other_and_only_one_installs(tmp_path: Path) -> None:
    venv, wanted, to = tmp_path / "venv", tmp_path / "list", Installer()
    wanted.write_text("a==1")
    threads = [
        threading.Thread(target=ensure, args=(venv, wanted, to.create, to.install))
        for _ in range(8)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert (to.created, to.installed, to.most_inside) == (1, ["a==1"], 1)


def test_a_list_is_split_into_whole_packages() -> None:
    rest, built = split(ROOT.joinpath("requirements-dev.lock").read_text("utf-8"))
    assert "\npyspark==" not in rest
    assert built.startswith("pyspark==")
    assert "--hash=sha256:" in built
    assert built.count("==") == 1
    assert split("a==1 \\\n    --hash=sha256:0\n") == ("a==1 \\\n    --hash=sha256:0\n", "")
