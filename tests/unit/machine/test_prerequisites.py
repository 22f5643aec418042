from pathlib import Path

import pytest

from services.machine.prerequisites import (
    INSTALL_COMMANDS,
    Missing,
    advice,
    family,
    find_java,
    java_major,
    python_version_problem,
)


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


def test_a_java_of_another_version_on_the_path_is_passed_over(tmp_path: Path) -> None:
    on_path = make_java(tmp_path / "new")
    fitting = make_java(tmp_path / "jvm" / "java-17")
    majors = {on_path: 25, fitting: 17}
    environment = {"PATH": str(on_path.parent)}
    assert find_java(environment, (tmp_path / "jvm",), majors.get) == fitting


def test_java_home_comes_first(tmp_path: Path) -> None:
    home = make_java(tmp_path / "home")
    on_path = make_java(tmp_path / "path")
    environment = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(on_path.parent)}
    assert find_java(environment, (), lambda _: 21) == home


def test_what_was_found_instead_is_named(tmp_path: Path) -> None:
    on_path = make_java(tmp_path)
    found = find_java({"PATH": str(on_path.parent)}, (), lambda _: 11)
    assert found == Missing("java", f"Java 17 or 21 is needed, {on_path} is 11")
    assert find_java({}, ()) == Missing("java", "Java 17 or 21 is needed, none was found")


def test_an_old_python_is_named() -> None:
    assert python_version_problem((3, 11, 0)) is None
    found = python_version_problem((3, 9, 2))
    assert found == Missing("python", "Python 3.11 or newer is needed, this is 3.9.2")


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


@pytest.mark.parametrize("key", ["python", "venv", "java", "make"])
@pytest.mark.parametrize("machine", [*INSTALL_COMMANDS, None])
def test_each_missing_thing_comes_with_its_command(key: str, machine: str | None) -> None:
    said = advice(Missing(key, "It is needed"), machine)
    named = [machine] if machine else list(INSTALL_COMMANDS)
    assert all(INSTALL_COMMANDS[name][key] in said for name in named)
