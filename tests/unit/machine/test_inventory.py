"""Every jar of an image is listed, with the name by which others know it."""

import json
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from services.machine.installation.inventory import Library, library, listing, main
from services.machine.installation.jars import Jar, sha256_of


def jar(folder: Path, name: str, *told: str) -> Path:
    """Make a jar that tells of these groups and artifacts."""
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        for each in told:
            archive.writestr(f"META-INF/maven/{each}/pom.properties", "")
    return path


@pytest.mark.parametrize(
    ("file", "told", "known"),
    [
        ("thing-1.0.jar", (), ("", "thing", "1.0")),
        ("thing-1.0.jar", ("org.own/thing",), ("org.own", "thing", "1.0")),
        ("thing-1.0.jar", ("org.other/part", "org.own/thing"), ("org.own", "thing", "1.0")),
        ("thing-1.0.jar", ("org.other/part",), ("", "thing", "1.0")),
        ("thing_2.13-4.2.0-SNAPSHOT.jar", (), ("", "thing_2.13", "4.2.0-SNAPSHOT")),
        ("two-words-2.jar", (), ("", "two-words", "2")),
        ("bare.jar", (), ("", "bare", "")),
    ],
)
def test_a_jar_is_known(
    tmp_path: Path, file: str, told: tuple[str, ...], known: tuple[str, str, str]
) -> None:
    path = jar(tmp_path, file, *told)
    assert library(path, []) == Library(*known, sha256_of(path))


def test_the_lock_file_knows_better(tmp_path: Path) -> None:
    path = jar(tmp_path, "thing-1.0.jar", "org.own/thing")
    assert library(path, [Jar("org.locked", "thing", "1.0", "0" * 64)]).group == "org.locked"


def test_a_library_is_named_as_maven_does() -> None:
    component = Library("org.own", "thing", "1.0", "ab").component()
    assert component["purl"] == component["bom-ref"] == "pkg:maven/org.own/thing@1.0"
    assert component["hashes"] == [{"alg": "SHA-256", "content": "ab"}]
    assert "purl" not in Library("", "thing", "1.0", "ab").component()


def test_what_is_listed_already_stays() -> None:
    listed = {"bomFormat": "CycloneDX", "components": [{"name": "pyspark"}]}
    both = listing(listed, [Library("", "thing", "1.0", "ab")])
    assert both["bomFormat"] == "CycloneDX"
    assert [each["name"] for each in both["components"]] == ["pyspark", "thing"]


def test_sparks_own_jars_are_all_listed(tmp_path: Path) -> None:
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    folder, file = Path(spec.origin).parent / "jars", tmp_path / "sbom.json"
    file.write_text("{}")
    main([str(file), "--jars", str(folder)])
    components = json.loads(file.read_text())["components"]
    references = [each["bom-ref"] for each in components]
    assert len(references) == len(set(references)) == len(list(folder.glob("*.jar")))
    assert all(each["version"] for each in components)
    assert "pkg:maven/org.apache.spark/spark-sql_2.13@4.3.0" in references
