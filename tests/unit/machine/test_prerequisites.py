import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from services.machine.installation import prerequisites
from services.machine.installation.prerequisites import (
    JAVA_FOLDERS,
    PYTHON_MAXIMUM,
    PYTHON_MINIMUM,
    Java,
    Missing,
    advice,
    family,
    find_java,
    java_major,
    python_version_problem,
)
from services.machine.installation.setup import ROOT, required_java


@pytest.mark.parametrize(
    ("output", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('java version "1.8.0_402"', 8),
        ("The operation couldn't be completed.", None),
        ("", None),
    ],
)
def test_javas_answer_is_read(output: str, major: int | None) -> None:
    assert java_major(output) == major


def make_java(folder: Path) -> Path:
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\n", "utf-8")
    java.chmod(0o755)
    return java


def of_version(majors: dict[Path, int]) -> Callable[[Path], Java]:
    return lambda java: Java(majors[java], java.parents[1])


def test_what_a_version_manager_puts_on_the_path_is_asked_where_java_is(tmp_path: Path) -> None:
    """The links of asdf, jenv and mise lead to a script in a folder that is nobody's home."""
    real = required_java(os.environ)
    shim = make_java(tmp_path)
    shim.write_text(f'#!/bin/sh\nexec {real} "$@"\n', "utf-8")
    found = find_java({"PATH": str(shim.parent)}, ())
    assert found == real
    command = [sys.executable, prerequisites.__file__, "java-home"]
    environment = {"PATH": f"{shim.parent}:{os.environ['PATH']}"}
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert said.stdout == f"{real.parents[1]}\n"


def test_a_home_without_a_java_is_not_believed(tmp_path: Path) -> None:
    java = make_java(tmp_path / "jdk")
    link = tmp_path / "bin" / "java"
    link.parent.mkdir()
    link.symlink_to(java)
    said = Java(17, tmp_path / "nowhere")
    assert find_java({"PATH": str(link.parent)}, (), lambda _: said) == java


def test_a_java_of_another_version_on_the_path_is_passed_over(tmp_path: Path) -> None:
    on_path = make_java(tmp_path / "new")
    fitting = make_java(tmp_path / "jvm" / "java-17")
    majors = {on_path: 25, fitting: 17}
    environment = {"PATH": str(on_path.parent)}
    assert find_java(environment, (tmp_path / "jvm",), of_version(majors)) == fitting


def test_what_homebrew_installs_is_found_though_it_is_not_on_the_path(tmp_path: Path) -> None:
    assert {Path("/opt/homebrew/opt"), Path("/usr/local/opt")} <= set(JAVA_FOLDERS)
    home = tmp_path / "Cellar" / "openjdk@21" / "21.0.9" / "libexec" / "openjdk.jdk/Contents/Home"
    java = make_java(home)
    linked = tmp_path / "opt" / "openjdk@21" / "bin" / "java"
    linked.parent.mkdir(parents=True)
    linked.symlink_to(java)
    assert find_java({}, (tmp_path / "opt",), lambda _: Java(21, home)) == java


def test_java_home_comes_first(tmp_path: Path) -> None:
    home = make_java(tmp_path / "home")
    on_path = make_java(tmp_path / "path")
    environment = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(on_path.parent)}
    assert find_java(environment, (), of_version({home: 21, on_path: 21})) == home


def test_what_was_found_instead_is_named(tmp_path: Path) -> None:
    on_path = make_java(tmp_path)
    found = find_java({"PATH": str(on_path.parent)}, (), of_version({on_path: 11}))
    assert found == Missing("java", f"Java 17 or 21 is needed, {on_path} is 11")
    assert find_java({}, ()) == Missing("java", "Java 17 or 21 is needed, none was found")


@pytest.mark.parametrize("minor", range(11, 15))
def test_a_python_of_the_range_will_do(minor: int) -> None:
    assert python_version_problem((3, minor, 0)) is None
    assert python_version_problem((3, minor, 7)) is None


@pytest.mark.parametrize(
    ("version", "key"),
    [
        ((2, 7, 18), "python"),
        ((3, 9, 2), "python"),
        ((3, 10, 99), "python"),
        ((3, 15, 0), "older_python"),
        ((4, 0, 0), "older_python"),
    ],
)
def test_a_python_that_is_too_old_or_too_new_is_named(
    version: tuple[int, int, int], key: str
) -> None:
    actual = ".".join(str(part) for part in version)
    told = f"Python 3.11 to 3.14 is needed, this is {actual}"
    assert python_version_problem(version) == Missing(key, told)


PRETENDING = """#!/bin/sh
exec '{python}' -c 'import runpy, sys
sys.version_info, sys.argv = {version}, sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")' "$@"
"""


def make_in_front_of(folder: Path, pythons: dict[str, tuple[int, int, int]], target: str) -> str:
    """Return what `make` says where only these Pythons are on the PATH, with these versions."""
    for name in ("bash", "make"):
        (folder / name).symlink_to(shutil.which(name) or name)
    for name, version in pythons.items():
        (folder / name).write_text(PRETENDING.format(python=sys.executable, version=version))
        (folder / name).chmod(0o755)
    shown = folder / "shown.mk"
    shown.write_text("shown:\n\t@echo $(BASE_PYTHON)\n", "utf-8")
    command = [str(folder / "make"), "-s", "-f", "Makefile", "-f", str(shown), target]
    others = os.environ.keys() - {"BASE_PYTHON", "MAKEFLAGS"}
    told = {name: os.environ[name] for name in others} | {"PATH": str(folder)}
    said = subprocess.run(command, cwd=ROOT, env=told, capture_output=True, text=True, check=False)
    return said.stdout + said.stderr


@pytest.mark.parametrize(
    ("pythons", "chosen"),
    [
        ({"python3": (3, 14, 1), "python3.12": (3, 12, 0)}, "python3"),
        ({"python3": (3, 15, 0), "python3.14": (3, 14, 1), "python3.11": (3, 11, 0)}, "python3.14"),
        ({"python3": (3, 9, 2), "python3.11": (3, 11, 0)}, "python3.11"),
        ({"python3.13": (3, 13, 0)}, "python3.13"),
        ({"python3": (3, 15, 0)}, "python3"),
        ({}, "python3"),
    ],
)
def test_make_takes_the_first_python_that_will_do(
    tmp_path: Path, pythons: dict[str, tuple[int, int, int]], chosen: str
) -> None:
    assert make_in_front_of(tmp_path, pythons, "shown") == f"{chosen}\n"


def test_make_tries_every_version_of_the_range_by_its_name(tmp_path: Path) -> None:
    for minor in range(PYTHON_MINIMUM[1], PYTHON_MAXIMUM[1] + 1):
        folder = tmp_path / str(minor)
        folder.mkdir()
        name = f"python3.{minor}"
        assert make_in_front_of(folder, {name: (3, minor, 0)}, "shown") == f"{name}\n"


def test_make_says_why_the_only_python_will_not_do(tmp_path: Path) -> None:
    said = make_in_front_of(tmp_path, {"python3": (3, 15, 0)}, "prerequisites")
    assert "setup: Python 3.11 to 3.14 is needed, this is 3.15.0. Install it" in said


@pytest.mark.parametrize(
    ("system", "release", "name"),
    [
        ("Linux", 'NAME="Debian"\nID=debian\n', "debian"),
        ("Linux", 'ID=linuxmint\nID_LIKE="ubuntu debian"\n', "debian"),
        ("Linux", "ID=fedora\n", "fedora"),
        ("Linux", 'ID="rocky"\nID_LIKE="rhel centos fedora"\n', "fedora"),
        ("Darwin", "", "macos"),
        ("Linux", "ID=arch\n", None),
        ("Linux", "", None),
    ],
)
def test_the_family_of_the_machine(system: str, release: str, name: str | None) -> None:
    assert family(system, release) == name


APT, DNF, BREW = "sudo apt-get install", "sudo dnf install", "brew install"


@pytest.mark.parametrize(
    ("machine", "key", "command"),
    [
        ("debian", "python", f"{APT} python3.11-venv"),
        ("debian", "older_python", f"{APT} python3.14-venv"),
        ("debian", "venv", f"{APT} python3.13-venv"),
        ("debian", "java", f"{APT} openjdk-21-jre-headless || {APT} openjdk-17-jre-headless"),
        ("debian", "make", f"{APT} make"),
        ("fedora", "python", f"{DNF} python3.11"),
        ("fedora", "older_python", f"{DNF} python3.14"),
        ("fedora", "java", f"{DNF} java-21-openjdk-headless"),
        ("macos", "python", f"{BREW} python@3.12"),
        ("macos", "older_python", f"{BREW} python@3.14"),
        ("macos", "java", f"{BREW} openjdk@21"),
    ],
)
def test_each_missing_thing_comes_with_its_command(machine: str, key: str, command: str) -> None:
    missing = Missing(key, "It is needed")
    assert advice(missing, machine, "python3.13") == f"It is needed. Install it: {command}"
    assert f"{machine}: {command}" in advice(missing, None, "python3.13")


@pytest.mark.parametrize("key", ["python", "older_python", "venv", "java", "make"])
@pytest.mark.parametrize("machine", ["debian", "fedora", "macos"])
def test_nothing_that_may_be_missing_is_without_a_command(machine: str, key: str) -> None:
    assert "install" in advice(Missing(key, "It is needed"), machine)


def test_the_venv_that_is_missing_is_that_of_the_python_that_asks(tmp_path: Path) -> None:
    """The system's python3 may be an older one than the Python that `make` has chosen."""
    without = "import sys; sys.modules['ensurepip'] = None; sys.path.insert(0, sys.argv[1])"
    asking = f"{without}; import prerequisites as p; print(p.advice(p.venv_problem(), 'debian'))"
    folder = str(Path(prerequisites.__file__).parent)
    command = [sys.executable, "-I", "-c", asking, folder]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    major, minor = sys.version_info[:2]
    assert said.endswith(f"Install it: sudo apt-get install python{major}.{minor}-venv\n")
