"""Our Java classes become a jar, the same each time, or it is said why not."""

import os
import zipfile
from pathlib import Path

import pytest

from services.machine.installation import setup
from services.machine.installation.jars import LOCK_FILE, parse_lock
from services.machine.installation.java_sources import Compiler, Sources, build
from services.machine.problems import MachineProblem

SHUFFLE = "aldebaran/shuffle/LocalShuffleManager"
GOOD = """package a;

public final class Said {
    public static String word() {
        return "%s";
    }
}
"""


@pytest.fixture
def compiler(aldebaran_tools: Path) -> Compiler:
    (listed,) = parse_lock(LOCK_FILE.read_text("utf-8"))["compiler"]
    jar = setup.jars_folder(aldebaran_tools, "compiler") / listed.file_name
    return Compiler(setup.required_java(os.environ), jar, ())


def sources(folder: Path, word: str = "one", text: str = GOOD) -> Sources:
    file = folder / "java" / "a" / "Said.java"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text.replace("%s", word))
    return Sources(folder / "java", "said")


def test_equal_sources_make_an_equal_jar(compiler: Compiler, tmp_path: Path) -> None:
    made = []
    for name in ("first", "second"):
        folder = tmp_path / name / "jars"
        folder.mkdir(parents=True)
        made.append(build(sources(tmp_path / name), compiler, folder))
    assert made[0].name == made[1].name
    assert made[0].read_bytes() == made[1].read_bytes()
    with zipfile.ZipFile(made[0]) as jar:
        assert jar.namelist() == ["a/Said.class"]


def test_what_is_there_is_not_compiled_again(compiler: Compiler, tmp_path: Path) -> None:
    folder = tmp_path / "jars"
    folder.mkdir()
    made = build(sources(tmp_path), compiler, folder)
    made.write_bytes(b"kept")
    assert build(sources(tmp_path), compiler, folder).read_bytes() == b"kept"


def test_another_source_or_compiler_makes_another_jar(tmp_path: Path) -> None:
    first = sources(tmp_path, "one").jar_name(Path("ecj-1.jar"))
    assert sources(tmp_path, "one").jar_name(Path("ecj-2.jar")) != first
    assert sources(tmp_path, "two").jar_name(Path("ecj-1.jar")) != first


def test_what_does_not_compile_is_told_with_the_line(compiler: Compiler, tmp_path: Path) -> None:
    folder = tmp_path / "jars"
    folder.mkdir()
    broken = sources(tmp_path, text=GOOD.replace("String word", "Strong word"))
    with pytest.raises(MachineProblem, match=r"does not compile:[\s\S]*line 4[\s\S]*Strong"):
        build(broken, compiler, folder)
    assert list(folder.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("compile-")] == []


def test_the_shipped_sources_are_beside_sparks_connector(aldebaran_tools: Path) -> None:
    (jar,) = setup.jars_folder(aldebaran_tools, "spark").glob("aldebaran-spark-apps-*.jar")
    with zipfile.ZipFile(jar) as classes:
        assert {"aldebaran/books/Books.class", f"{SHUFFLE}.class"} <= set(classes.namelist())
