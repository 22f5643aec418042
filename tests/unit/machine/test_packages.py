"""The environment is made once, by one process at a time, and anew after it was cut short."""

import os
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from services.machine.installation import packages
from services.machine.installation.packages import STAMP, ensure, pip_install, split, works

ROOT = Path(__file__).parents[3]


class Installer:
    """Counts what is done; `inside` is how many install at this moment."""

    def __init__(self) -> None:
        self.created = 0
        self.installed: list[str] = []
        self.inside = 0
        self.most_inside = 0
        self.fails = False
        self.is_cut_short = False

    def create(self, venv: Path) -> None:
        (venv / "bin").mkdir(parents=True, exist_ok=True)
        for each in venv.glob(".*"):
            each.unlink()
        python = venv / "bin" / "python"
        python.unlink(missing_ok=True)
        python.symlink_to("/bin/true")
        self.created += 1
        if self.is_cut_short:  # its Python finds pip by then, and pip's own program is not there
            raise KeyboardInterrupt

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


def test_what_does_not_work_any_more_is_made_anew(tmp_path: Path) -> None:
    venv, wanted, to = tmp_path / "venv", tmp_path / "list", Installer()
    wanted.write_text("a==1")
    assert ensure(venv, wanted, to.create, to.install)
    for other in ("/bin/false", "/no/python"):
        (venv / "bin" / "python").unlink()
        (venv / "bin" / "python").symlink_to(other)
        assert ensure(venv, wanted, to.create, to.install)
    assert not ensure(venv, wanted, to.create, to.install)
    assert (to.created, to.installed) == (3, ["a==1"] * 3)


def test_make_asks_whether_the_environment_works(tmp_path: Path) -> None:
    """A Python of another version than the packages beside it is what an upgrade leaves."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    (packages,) = venv.glob("lib/python*/site-packages")
    (packages / "pip").mkdir()
    (packages / "pip" / "__init__.py").touch()
    (venv / STAMP).touch()
    assert works(venv)
    assert not makes_anew(tmp_path)
    packages.parent.rename(packages.parent.with_name("python3.0"))
    assert not works(venv)
    assert makes_anew(tmp_path)


def makes_anew(tools: Path) -> bool:
    """Say whether make would call packages.py."""
    command = ["make", "-n", "format", f"ALDEBARAN_TOOLS={tools}"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return "services/machine/installation/packages.py" in said.stdout


def test_make_refuses_a_folder_of_tools_with_a_space(tmp_path: Path) -> None:
    """A list in make is parted at spaces."""
    command = ["make", "-n", "format", f"ALDEBARAN_TOOLS={tmp_path}/my tools"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 2
    assert "ALDEBARAN_TOOLS: name a folder without a space" in said.stderr


def test_make_leaves_a_home_of_the_settings_file(tmp_path: Path) -> None:
    """What make exports is in the environment, which wins over the file."""
    (tmp_path / "settings.yaml").write_text(f"home: {tmp_path}/elsewhere\n")
    reads = "from services.machine.settings import MachineSettings; print(MachineSettings().home)"
    rule = f"include Makefile\ntold:\n\t@{shlex.quote(sys.executable)} -c '{reads}'\n"
    told = {name: value for name, value in os.environ.items() if name != "ALDEBARAN_HOME"}
    command = ["make", "-s", "-f", "-", "told"]
    said = subprocess.run(
        command,
        input=rule,
        cwd=ROOT,
        env={**told, "ALDEBARAN_SETTINGS_FILE": str(tmp_path / "settings.yaml")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == f"{tmp_path}/elsewhere\n"


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


def test_one_whose_making_was_cut_short_is_made_anew(tmp_path: Path) -> None:
    venv, wanted, to = tmp_path / "venv", tmp_path / "list", Installer()
    wanted.write_text("a==1")
    to.is_cut_short = True
    with pytest.raises(KeyboardInterrupt):
        ensure(venv, wanted, to.create, to.install)
    assert works(venv)
    to.is_cut_short = False
    assert ensure(venv, wanted, to.create, to.install)
    assert (to.created, to.installed) == (2, ["a==1"])
    assert not ensure(venv, wanted, to.create, to.install)
    assert {each.name for each in tmp_path.iterdir()} == {"venv", "venv.lock", "list"}


def set_up(venv: Path, wanted: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, packages.__file__, str(venv), str(wanted)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def test_a_folder_that_refuses_files_is_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "tools").touch()
    with set_up(tmp_path / "tools" / "venv", ROOT / "requirements-dev.lock") as process:
        _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    (line,) = said.splitlines()
    assert line.startswith(f"setup: {tmp_path}/tools cannot be used (")
    assert line.endswith("another folder is named by ALDEBARAN_TOOLS")


def test_an_interruption_is_told_in_a_line(tmp_path: Path) -> None:
    wanted = tmp_path / "list"
    os.mkfifo(wanted)
    with set_up(tmp_path / "venv", wanted) as process, wanted.open("w"):  # it reads from now on
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == "setup: interrupted; what is half made is made anew the next time\n"


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
    rest, *apart = split(ROOT.joinpath("requirements-dev.lock").read_text("utf-8"))
    for name, one in zip(("setuptools", "pyspark"), apart, strict=True):
        assert f"\n{name}==" not in rest
        assert one.startswith(f"{name}==")
        assert "--hash=sha256:" in one
        assert one.count("==") == 1
    assert split("a==1 \\\n    --hash=sha256:0\n") == ("a==1 \\\n    --hash=sha256:0\n", "", "")


RECORDING = """#!/bin/sh
for list; do :; done
echo "$(grep -o '^[a-z]*' "$list"): $*" >> "${0%/*}/said"
test -d "$TMPDIR" && echo "$TMPDIR" >> "${0%/*}/temporary"
"""


def with_pip(venv: Path, script: str) -> Path:
    """Make an environment with this program as its pip; return a list of packages to install."""
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "pip").write_text(script)
    (venv / "bin" / "pip").chmod(0o755)
    wanted = venv.parent / "list"
    wanted.write_text("a==1\npyspark==2\nsetuptools==3\n")
    return wanted


def test_what_builds_pyspark_is_there_before_and_nothing_else_is_fetched_for_it(
    tmp_path: Path,
) -> None:
    venv = tmp_path / "venv"
    pip_install(venv, with_pip(venv, RECORDING))
    first, *others = (venv / "bin" / "said").read_text().splitlines()
    assert first.startswith("setuptools: install ")
    alone, built = sorted(others)
    assert alone.startswith("a: install ")
    assert built.startswith("pyspark: install --no-deps --no-build-isolation ")
    assert all(" --require-hashes " in each for each in (first, alone, built))


def test_what_pip_writes_for_a_while_lies_beside_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The /tmp of Debian 13 and Fedora is in memory, and building pyspark writes some 2 GiB."""
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.chdir(tmp_path)
    venv = Path("tools") / "venv"  # as make names it
    pip_install(venv, with_pip(venv, RECORDING))
    used = {Path(each) for each in (venv / "bin" / "temporary").read_text().splitlines()}
    assert {each.parent for each in used} == {tmp_path / "tools"}
    assert {each.name for each in venv.parent.iterdir()} == {"venv", "list"}


def test_pip_writes_where_the_user_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs, venv = tmp_path / "theirs", tmp_path / "venv"
    theirs.mkdir()
    monkeypatch.setenv("TMPDIR", str(theirs))
    pip_install(venv, with_pip(venv, RECORDING))
    assert set((venv / "bin" / "temporary").read_text().splitlines()) == {str(theirs)}


def test_nothing_is_left_of_a_pip_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    venv = tmp_path / "venv"
    wanted = with_pip(venv, '#!/bin/sh\ntouch "$TMPDIR/half"\nexit 3\n')
    with pytest.raises(subprocess.CalledProcessError):
        pip_install(venv, wanted)
    assert {each.name for each in tmp_path.iterdir()} == {"venv", "list"}


ENDLESS = """#!/bin/sh
for list; do :; done
grep -q setuptools "$list" && exit
trap 'sleep 0.3; mkdir -p "$TMPDIR/late"; exit 2' INT
echo > "${0%/*}/told"
while :; do sleep 0.1; done
"""


def test_nothing_is_left_of_a_pip_that_is_interrupted(tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    wanted = with_pip(venv, ENDLESS)
    os.mkfifo(venv / "bin" / "told")
    code = "import sys, pathlib as p"
    code += "; from services.machine.installation.packages import pip_install as i"
    code += "; i(*map(p.Path, sys.argv[1:]))"
    command = [sys.executable, "-c", code, str(venv), str(wanted)]
    told = {name: value for name, value in os.environ.items() if name != "TMPDIR"}
    with subprocess.Popen(
        command, cwd=ROOT, env=told, start_new_session=True, stderr=subprocess.PIPE, text=True
    ) as process:
        with (venv / "bin" / "told").open("rb+", buffering=0) as opened:
            assert opened.read(1) + opened.read(1) == b"\n\n"  # of a's pip and of pyspark's
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does on Ctrl-C
        _, said = process.communicate(timeout=60)
    assert said.endswith("KeyboardInterrupt\n")
    assert {each.name for each in tmp_path.iterdir()} == {"venv", "list"}
