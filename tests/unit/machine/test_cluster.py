"""Which nodes the settings ask for, and which states they refuse."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from services.machine.problems import MachineProblem
from services.machine.servers import cluster
from services.machine.servers.broker import server_properties
from services.machine.settings import MachineSettings


def test_one_node_is_where_it_always_was(tmp_path: Path) -> None:
    brokers = cluster.of_settings(MachineSettings(), tmp_path)
    assert brokers.bootstrap == "127.0.0.1:19092"
    assert [node.folder for node in brokers.nodes] == [tmp_path / "kafka"]
    assert (brokers.names, brokers.copies) == (("kafka",), 1)


def test_three_nodes_know_each_other_and_share_nothing(tmp_path: Path) -> None:
    brokers = cluster.of_settings(MachineSettings(kafka_nodes=3), tmp_path)
    assert brokers.bootstrap == "127.0.0.1:19092,127.0.0.1:19094,127.0.0.1:19096"
    assert (brokers.names, brokers.copies) == (("kafka", "kafka-2", "kafka-3"), 3)
    assert len({node.folder for node in brokers.nodes}) == 3
    voters = "controller.quorum.voters=1@127.0.0.1:19093,2@127.0.0.1:19095,3@127.0.0.1:19097\n"
    assert all(voters in server_properties(node) for node in brokers.nodes)


def test_two_nodes_are_refused() -> None:
    with pytest.raises(ValidationError, match="one or three nodes"):
        MachineSettings(kafka_nodes=2)


@pytest.mark.parametrize(("made_by", "asked"), [(1, 3), (3, 1)])
def test_state_of_another_number_of_nodes_is_refused(
    tmp_path: Path, made_by: int, asked: int
) -> None:
    (tmp_path / "kafka").mkdir()
    stamp = {"cluster_id": "abc"} | ({"nodes": made_by} if made_by > 1 else {})
    (tmp_path / "kafka" / "formatted.json").write_text(json.dumps(stamp))
    brokers = cluster.of_settings(MachineSettings(kafka_nodes=asked), tmp_path)
    with pytest.raises(MachineProblem, match=f"set ALDEBARAN_KAFKA_NODES={made_by}"):
        cluster.prepare(brokers, tmp_path, tmp_path)
