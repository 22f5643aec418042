"""`python -m services.machine`: clear refusals before anything is started."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from services.machine.home import occupied
from services.machine.installation import setup
from services.machine.ports import free_ports
from services.machine.settings import MachineSettings

ROOT = Path(__file__).parents[3]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A machine of the test's own: free ports, an empty state folder."""
    settings = MachineSettings().ports()
    ports = dict(zip(settings, map(str, free_ports(len(settings))), strict=True))
    return {**os.environ, **ports, "ALDEBARAN_HOME": str(tmp_path / "home")}


def machine(command: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "services.machine", *command.split()],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def test_a_taken_port_is_named_before_anything_starts(environment: dict[str, str]) -> None:
    port = int(environment["ALDEBARAN_PORT_GATEWAY"])
    with socket.create_server(("127.0.0.1", port)):
        finished = machine("run", environment)
    assert finished.returncode == 1
    assert f"port {port} is taken" in finished.stderr
    assert "ALDEBARAN_PORT_GATEWAY" in finished.stderr
    assert not Path(environment["ALDEBARAN_HOME"], "log").exists()


def test_a_second_run_in_the_same_folder_is_refused(environment: dict[str, str]) -> None:
    home = Path(environment["ALDEBARAN_HOME"])
    with occupied(home):
        second = machine("run", environment)
        cleaning = machine("clean-state", environment)
    for refused in (second, cleaning):
        assert refused.returncode == 1
        assert f"a run (process {os.getpid()}) is using {home}" in refused.stderr
    assert machine("clean-state", environment).returncode == 0
    assert not home.exists()


def test_a_bad_port_is_named_as_the_user_spells_it(environment: dict[str, str]) -> None:
    finished = machine("run", {**environment, "ALDEBARAN_PORT_KAFKA": "99999"})
    assert finished.returncode == 78
    assert "ALDEBARAN_PORT_KAFKA" in finished.stderr


def test_an_open_quote_is_told_as_a_bad_setting(environment: dict[str, str]) -> None:
    finished = machine("run", {**environment, "ALDEBARAN_SIMULATOR_DIALS": "--run-id 'a"})
    assert finished.returncode == 78
    assert "ALDEBARAN_SIMULATOR_DIALS: Value error, No closing quotation" in finished.stderr


@pytest.mark.parametrize("command", ["run", "jars"])
def test_a_place_where_no_folder_can_be_made_is_told_in_a_line(
    command: str, environment: dict[str, str], tmp_path: Path
) -> None:
    setting = {"run": "ALDEBARAN_HOME", "jars": "ALDEBARAN_TOOLS"}[command]
    (tmp_path / "file").touch()
    finished = machine(command, {**environment, setting: str(tmp_path / "file" / "folder")})
    assert finished.returncode == 1
    (line,) = finished.stderr.splitlines()
    assert str(tmp_path / "file" / "folder") in line
    assert line.endswith(f"or name another folder by {setting}")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_is_told_in_a_line(environment: dict[str, str]) -> None:
    home = Path(environment["ALDEBARAN_HOME"])
    with occupied(home):
        (home / "api-keys.yaml").symlink_to("/dev/full")
    finished = machine("run", environment)
    assert finished.returncode == 1
    (line,) = finished.stderr.splitlines()
    assert f"{home} cannot be written (No space left on device): make room" in line


def test_of_a_home_that_is_a_link_the_folder_stays(
    environment: dict[str, str], tmp_path: Path
) -> None:
    larger = tmp_path / "larger"
    with occupied(larger):
        (larger / "state").touch()
    home = Path(environment["ALDEBARAN_HOME"])
    home.symlink_to(larger)
    cleaned = machine("clean-state", environment)
    assert (cleaned.returncode, cleaned.stderr) == (0, "")
    assert cleaned.stdout.startswith(f"{home} emptied; the folder itself stays")
    assert home.is_symlink()
    assert list(larger.iterdir()) == []


def test_a_misspelt_setting_is_told_first(environment: dict[str, str]) -> None:
    with occupied(Path(environment["ALDEBARAN_HOME"])):
        finished = machine("run", {**environment, "ALDEBARAN_CHANELS": "[]"})
    assert "ALDEBARAN_CHANELS (is it ALDEBARAN_CHANNELS?)" in finished.stdout


def test_an_unknown_command_shows_the_usage(environment: dict[str, str]) -> None:
    finished = machine("fly", environment)
    assert finished.returncode == 2
    assert "usage:" in finished.stderr


def test_a_terminal_that_lacks_a_letter_ends_nothing(
    environment: dict[str, str], tmp_path: Path
) -> None:
    home = tmp_path / "josé"
    with occupied(home):
        pass
    poor = {**environment, "ALDEBARAN_HOME": str(home), "PYTHONIOENCODING": "ascii"}
    cleaned = machine("clean-state", poor)
    assert cleaned.stdout == f"{tmp_path}/jos? removed\n"


@pytest.mark.parametrize("command", ["run", "jars", "classes"])
def test_an_interruption_is_told_in_a_line(
    command: str, environment: dict[str, str], tmp_path: Path
) -> None:
    settings = tmp_path / "settings.yaml"
    os.mkfifo(settings)
    told = {**environment, "ALDEBARAN_SETTINGS_FILE": str(settings)}
    asked = [sys.executable, "-m", "services.machine", command]
    with (
        subprocess.Popen(asked, cwd=ROOT, env=told, stderr=subprocess.PIPE, text=True) as process,
        settings.open("w"),  # it reads from now on
    ):
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "aldebaran: interrupted\n")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Java reads names as UTF-8")
@pytest.mark.parametrize("locale", [{"LC_ALL": "C"}, {"LC_ALL": "", "LANG": "xx_XX.UTF-8"}])
def test_java_reads_letters_beyond_ascii_in_any_locale(
    environment: dict[str, str], tmp_path: Path, aldebaran_tools: Path, locale: dict[str, str]
) -> None:
    tools = tmp_path / "josé"
    for jar in aldebaran_tools.glob("jars/*/*.jar"):
        link = tools / jar.relative_to(aldebaran_tools)
        link.parent.mkdir(parents=True, exist_ok=True)
        if not jar.name.startswith(setup.OWN.name):
            link.symlink_to(jar.resolve())
    finished = machine("jars", environment | locale | {"ALDEBARAN_TOOLS": str(tools)})
    assert (finished.returncode, finished.stderr) == (0, "")
    assert list(tools.glob(f"jars/spark/{setup.OWN.name}-*.jar"))
