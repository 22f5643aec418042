import hashlib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from services.machine.installation.jars import LOCK_FILE, Jar, install, parse_lock
from services.machine.problems import MachineProblem

CONTENT = b"a library"
JAR = Jar("org.example", "thing", "1.0", hashlib.sha256(CONTENT).hexdigest())


class Repository:
    """Fetches what it was given and remembers what it was asked for."""

    def __init__(self, content: bytes | None = CONTENT) -> None:
        self._content = content
        self.asked: list[Jar] = []

    def __call__(self, jars: Sequence[Jar], folder: Path) -> None:
        self.asked += jars
        for jar in jars:
            if self._content is not None:
                (folder / jar.file_name).write_bytes(self._content)


def shipped() -> dict[str, tuple[Jar, ...]]:
    return dict(parse_lock(LOCK_FILE.read_text("utf-8")))


def test_a_lock_file_is_read_by_sets() -> None:
    text = f"# note\n\n[one]\norg.example:thing:1.0 {JAR.sha256}\n[two]\n"
    assert parse_lock(text) == {"one": (JAR,), "two": ()}


def test_a_file_may_have_a_classifier() -> None:
    ((jar,),) = parse_lock(f"[one]\norg.example:thing:1.0:whole {JAR.sha256}").values()
    assert jar.file_name == "thing-1.0-whole.jar"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("org.example:thing:1.0 00", "line 1: a [set] must come first"),
        ("[one]\norg.example:thing 00", "line 2: expected"),
        (f"[one]\na:b:1:c:d {'0' * 64}", "line 2: expected"),
        ("[one]\norg.example:thing:1.0", "line 2: expected"),
        (f"[one]\norg.example:thing:1.0 {'g' * 64}", "line 2: expected"),
        (f"[one]\n\norg.example::1.0 {'0' * 64}", "line 3: expected"),
    ],
)
def test_a_bad_line_is_named(text: str, said: str) -> None:
    with pytest.raises(MachineProblem) as raised:
        parse_lock(text)
    assert said in str(raised.value)


def test_only_what_is_missing_is_fetched(tmp_path: Path) -> None:
    repository = Repository()
    assert install(tmp_path / "set", [JAR], repository) == 1
    assert install(tmp_path / "set", [JAR], repository) == 0
    assert repository.asked == [JAR]
    assert (tmp_path / "set" / "thing-1.0.jar").read_bytes() == CONTENT


def test_a_damaged_jar_is_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "thing-1.0.jar").write_bytes(CONTENT[:3])
    assert install(tmp_path / "set", [JAR], Repository()) == 1
    assert (tmp_path / "set" / "thing-1.0.jar").read_bytes() == CONTENT


def test_what_is_not_listed_is_removed(tmp_path: Path) -> None:
    (tmp_path / "set" / "folder").mkdir(parents=True)
    (tmp_path / "set" / "thing-0.9.jar").write_bytes(b"old")
    install(tmp_path / "set", [JAR], Repository())
    assert [path.name for path in (tmp_path / "set").iterdir()] == ["thing-1.0.jar"]


def test_another_checksum_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(MachineProblem, match="checksum") as raised:
        install(tmp_path / "set", [JAR], Repository(b"something else"))
    assert "thing-1.0.jar" in str(raised.value)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_jar_that_did_not_come_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(MachineProblem, match="was not fetched"):
        install(tmp_path / "set", [JAR], Repository(None))


def test_spark_gets_exactly_the_connector_that_was_decided() -> None:
    """design.md, decision 7: the day Spark 4.3.0's own connector is served, this changes."""
    assert {f"{jar.group}:{jar.artifact}:{jar.version}" for jar in shipped()["spark"]} == {
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
        "org.apache.kafka:kafka-clients:3.9.2",
        "org.apache.commons:commons-pool2:2.12.1",
    }


def brought() -> list[str]:
    """Return the names of the jars that pyspark brings."""
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    return [path.name for path in (Path(spec.origin).parent / "jars").glob("*.jar")]


@pytest.mark.parametrize("jars", ["spark", "s3"])
def test_spark_gets_nothing_that_pyspark_brings(jars: str) -> None:
    assert brought()
    for jar in shipped()[jars]:
        assert not [name for name in brought() if name.startswith(f"{jar.artifact}-")]


def test_the_s3_client_is_of_the_same_hadoop() -> None:
    (client,) = [jar for jar in shipped()["s3"] if jar.group == "org.apache.hadoop"]
    assert f"hadoop-client-api-{client.version}.jar" in brought()


def test_no_library_is_listed_twice() -> None:
    for jars in shipped().values():
        artifacts = [jar.artifact for jar in jars]
        assert len(artifacts) == len(set(artifacts))
