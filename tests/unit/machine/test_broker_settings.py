import re
from pathlib import Path

import pytest

from services.machine.problems import MachineProblem
from services.machine.servers.broker import BrokerNode, Voter, new_cluster_id, server_properties


def properties(node: BrokerNode) -> dict[str, str]:
    lines = server_properties(node).splitlines()
    return dict(line.split("=", 1) for line in lines)


def test_a_node_alone_is_its_own_quorum() -> None:
    found = properties(BrokerNode(Path("/state"), 19092, 19093))
    assert found["controller.quorum.voters"] == "1@127.0.0.1:19093"
    assert found["listeners"] == "CLIENTS://127.0.0.1:19092,CONTROLLERS://127.0.0.1:19093"
    assert found["offsets.topic.replication.factor"] == "1"
    assert found["min.insync.replicas"] == "1"
    assert found["auto.create.topics.enable"] == "false"
    assert found["message.max.bytes"] == str(8 * 1024 * 1024)


def test_three_nodes_keep_three_copies_and_answer_for_two() -> None:
    voters = tuple(Voter(number, f"host{number}", 9093) for number in (1, 2, 3))
    node = BrokerNode(Path("/state"), 9092, 9093, host="host2", node_id=2, voters=voters)
    found = properties(node)
    assert found["node.id"] == "2"
    assert found["controller.quorum.voters"] == "1@host1:9093,2@host2:9093,3@host3:9093"
    assert found["default.replication.factor"] == "3"
    assert found["offsets.topic.replication.factor"] == "3"
    assert found["min.insync.replicas"] == "2"


@pytest.mark.parametrize("name", ["josé", "größe", "Звезда", "back\\slash", "tab\t", "星🌟"])
def test_any_name_of_a_folder_is_written_as_java_reads_it(tmp_path: Path, name: str) -> None:
    written = server_properties(BrokerNode(tmp_path / name, 9092, 9093))
    assert written.isascii()
    value = properties(BrokerNode(tmp_path / name, 9092, 9093))["log.dirs"]
    units = re.sub(r"\\(?:u(....)|(.))", lambda found: unit(*found.groups()), value)
    read = units.encode("utf-16", "surrogatepass").decode("utf-16")
    assert read == str(tmp_path.resolve() / name / "data")


def unit(code: str | None, itself: str | None) -> str:
    return chr(int(code, 16)) if code else itself or ""


def test_a_folder_with_a_comma_is_refused_with_what_to_do() -> None:
    with pytest.raises(MachineProblem, match=r"/a,b/data .* ALDEBARAN_HOME"):
        server_properties(BrokerNode(Path("/a,b"), 9092, 9093))


def test_cluster_ids_differ_and_are_spelled_as_kafka_wants() -> None:
    first, second = new_cluster_id(), new_cluster_id()
    assert first != second
    assert len(first) == 22
