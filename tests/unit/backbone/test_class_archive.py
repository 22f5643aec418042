"""Java's archive of classes is found only beside the Java and the jars that it was made with."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from services.backbone.class_archive import NotMade, keep, options, place


@pytest.fixture
def jars(tmp_path: Path) -> Path:
    """A folder with two jars."""
    folder = tmp_path / "program" / "jars"
    folder.mkdir(parents=True)
    for name in ("a.jar", "b.jar"):
        (folder / name).write_text(name)
    return folder


@pytest.fixture
def java(tmp_path: Path) -> Path:
    """What stands for a Java."""
    program = tmp_path / "java"
    program.write_text("java")
    return program


def changed(file: Path) -> None:
    told = file.stat()
    os.utime(file, ns=(told.st_atime_ns, told.st_mtime_ns + 1))


def written(option: str) -> None:
    """Do what Java does when it ends."""
    Path(option.partition("=")[2]).touch()


@pytest.mark.parametrize(
    "happens",
    [
        lambda jars, java: changed(jars / "b.jar"),
        lambda jars, java: (jars / "c.jar").write_text("c"),
        lambda jars, java: (jars / "a.jar").unlink(),
        lambda jars, java: changed(java),
    ],
)
def test_what_no_longer_fits_is_not_found(
    jars: Path, java: Path, happens: Callable[[Path, Path], object]
) -> None:
    before = place(java, jars)
    assert place(java, jars) == before
    happens(jars, java)
    assert place(java, jars) != before


def test_java_is_told_of_an_archive_that_is_there(jars: Path, java: Path) -> None:
    archive = place(java, jars)
    assert options(java, jars) == ()
    keep(archive, written)
    assert options(java, jars) == (f"-XX:SharedArchiveFile={archive}",)
    assert options(java, jars / "none") == ()
    assert options(java.with_name("none"), jars) == ()


def test_an_archive_replaces_those_that_do_not_fit(jars: Path, java: Path) -> None:
    old = jars.parent / "classes-0123456789abcdef.jsa"
    old.write_text("of another Java")
    keep(place(java, jars), written)
    assert {each.name for each in jars.parent.iterdir()} == {place(java, jars).name, "jars"}


def test_where_java_writes_none_nothing_is_left(jars: Path, java: Path) -> None:
    with pytest.raises(NotMade, match="Java wrote none"):
        keep(place(java, jars), lambda _: None)

    def fail(option: str) -> None:
        written(option)
        raise NotMade("no luck")

    with pytest.raises(NotMade, match="no luck"):
        keep(place(java, jars), fail)
    assert [each.name for each in jars.parent.iterdir()] == ["jars"]
