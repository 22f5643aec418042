"""What the chart names must exist: modules, files, channels, and metrics in rules and boards."""

import importlib.util
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from services.machine.servers.broker import (
    OLD_AFTER_ONE_PAUSE,
    BrokerNode,
    Voter,
    server_properties,
)
from services.topics.__main__ import TopicsSettings
from tests.alarms import rules

ROOT = Path(__file__).parents[2]
CHART = ROOT / "charts" / "aldebaran"
METRIC = re.compile(r"\baldebaran_[a-z_]+")
IN_THE_IMAGE = re.compile(r"/opt/aldebaran/((?:spark-apps|services)/[\w./-]+)")
PROPERTY = re.compile(r"^    ([a-z]+(?:\.[a-z]+)+)=([\w,:/.-]+)$", re.MULTILINE)
STRIMZI = re.compile(r"^      ([a-z]+(?:\.[a-z]+)+): (\w+)$", re.MULTILINE)
PLACES = {"log.dirs"}
RISEN = re.compile(r"increase\((aldebaran_\w+(?:\{[^}]+\})?)\[15m\]\)\)* > 0(?![\d.])")
"""A counter of which a rule tells the first."""
SUFFIXES = ("_bucket", "_count", "_sum")
BEGINNING = re.compile("_created$")
"""Ends the name of the time at which a counter began, which each of ours tells."""


def values() -> dict[str, Any]:
    """Return the chart's default values."""
    read: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    return read


@cache
def metrics_in_code() -> frozenset[str]:
    """Return every metric's name as it stands in the programs."""
    sources = [*ROOT.glob("services/**/*.py"), *ROOT.glob("spark-apps/**/*.py")]
    return frozenset(name for path in sources for name in METRIC.findall(path.read_text("utf-8")))


def metrics_named(text: str) -> set[str]:
    """Return the metrics that an expression's text names, without a histogram's endings."""
    return {_without_suffix(name) for name in METRIC.findall(text)}


def _without_suffix(name: str) -> str:
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return BEGINNING.sub("_total", name)


def board_files() -> list[Path]:
    """Return the boards."""
    return sorted((CHART / "files" / "dashboards").glob("*.json"))


def test_files_of_ours_in_the_image_exist() -> None:
    templates = (path.read_text("utf-8") for path in CHART.glob("templates/**/*.*"))
    named = {path for text in templates for path in IN_THE_IMAGE.findall(text)}
    assert "spark-apps/engine/java-options" in named
    assert {path for path in named if not (ROOT / path).exists()} == set()


def test_brokers_remember_addresses_no_longer_than_those_who_call_them() -> None:
    ours = (ROOT / "spark-apps" / "engine" / "java-security").read_text("utf-8").splitlines()
    brokers = (CHART / "templates" / "kafka" / "broker.yaml").read_text("utf-8")
    told = [line for line in ours if not line.startswith("#")]
    assert told
    assert all(f"\n    {line}\n" in brokers for line in told)


def test_brokers_of_the_chart_pause_as_shortly_as_those_of_one_machine() -> None:
    option, value = OLD_AFTER_ONE_PAUSE.removeprefix("-XX:").split("=")
    templates = CHART / "templates" / "kafka"
    assert OLD_AFTER_ONE_PAUSE in (templates / "broker.yaml").read_text("utf-8")
    assert f'{option}: "{value}"' in (templates / "strimzi.yaml").read_text("utf-8")


def test_what_the_charts_brokers_are_told_is_what_those_of_one_machine_are() -> None:
    three = tuple(Voter(number, f"host{number}", 9093) for number in (1, 2, 3))
    ours = server_properties(BrokerNode(Path("/state"), 9092, 9093, voters=three))
    told = dict(line.split("=", 1) for line in ours.splitlines())
    brokers = (CHART / "templates" / "kafka" / "broker.yaml").read_text("utf-8")
    found = dict(PROPERTY.findall(brokers))
    same = {name: found[name] for name in found.keys() & told.keys() - PLACES}
    assert "broker.session.timeout.ms" in same
    assert same == {name: told[name] for name in same}
    strimzi = dict(
        STRIMZI.findall((CHART / "templates" / "kafka" / "strimzi.yaml").read_text("utf-8"))
    )
    assert "replica.lag.time.max.ms" in strimzi
    assert strimzi == {name: told[name] for name in strimzi}


def test_every_component_is_a_module_of_ours() -> None:
    components = {**values()["components"], "channels": values()["channelDefault"]}
    missing = {
        name: entry["module"]
        for name, entry in components.items()
        if importlib.util.find_spec(entry["module"]) is None
    }
    assert not missing


def test_every_channel_has_an_entry_and_every_entry_a_channel() -> None:
    found = {
        path.stem
        for path in (ROOT / "services" / "deliverer" / "channels").iterdir()
        if not path.stem.startswith("_")
    }
    assert set(values()["channels"]) == found


def test_the_schema_takes_no_more_copies_and_partitions_than_the_job_does() -> None:
    told = TopicsSettings.model_json_schema()["properties"]
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))
    (copies,) = schema["properties"]["topics"]["properties"]["replication"]["anyOf"][1:]
    assert copies["maximum"] == told["topic_copies"]["maximum"]
    partitions = schema["definitions"]["component"]["properties"]["partitions"]
    assert partitions["maximum"] == told["topic_partitions"]["additionalProperties"]["maximum"]


def test_there_are_rules_and_boards() -> None:
    assert len(rules()) >= 10
    assert len(board_files()) >= 5


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_a_rule_names_metrics_that_exist_and_says_what_to_do(rule: dict[str, Any]) -> None:
    assert metrics_named(rule["expr"])
    assert metrics_named(rule["expr"]) <= metrics_in_code()
    assert rule["annotations"]["summary"]
    assert rule["annotations"]["do"]


def test_rules_serve_any_prometheus_as_they_stand() -> None:
    assert not [rule["alert"] for rule in rules() if re.search("[A-Z]+_SECONDS", rule["expr"])]


def test_the_first_is_told_that_came_before_its_counter_was_ever_read() -> None:
    counters = {name: rule["expr"] for rule in rules() for name in RISEN.findall(rule["expr"])}
    assert "aldebaran_lookout_fallback_exhausted_total" in counters
    for name, expression in counters.items():
        unread = f"({name} > 0 unless {name} == last_over_time({name}[6h] offset 15m))"
        assert f"increase({name}[15m]) > 0 or {unread}" in expression


@pytest.mark.parametrize(
    ("metric", "of"),
    [
        ("auditor_lost_records", ""),
        ("auditor_spared_records", ""),
        ("lookout_fallback_exhausted", ""),
        ("lookout_alerts", '{result="rejected"}'),
        ("deliverer_failed", ""),
        ("archivist_accounted", ""),
    ],
)
def test_the_first_since_a_start_is_told_where_as_many_stood_before_it(
    metric: str, of: str
) -> None:
    counted, began = (f"aldebaran_{metric}_{end}{of}" for end in ("total", "created"))
    (told,) = (rule["expr"] for rule in rules() if counted in RISEN.findall(rule["expr"]))
    by_what = told.removesuffix(") > 0")
    assert by_what.endswith(f" or ({counted} > 0 and {began} > time() - 900)")


def test_one_event_that_rabbitmq_brought_and_was_refused_is_told() -> None:
    (told,) = (rule for rule in rules() if rule["alert"] == "AldebaranAmqpEventsRejected")
    assert "aldebaran_gateway_rejected_total" in RISEN.findall(told["expr"])
    assert "and on (job, instance) last_over_time(aldebaran_amqp_flowing[15m])" in told["expr"]
    assert "for" not in told


def test_one_event_refused_since_a_start_is_told_where_its_counter_stood_at_as_many_before() -> (
    None
):
    (told,) = (rule for rule in rules() if rule["alert"] == "AldebaranAmqpEventsRejected")
    new = "aldebaran_gateway_rejected_created > time() - 900"
    counted = "aldebaran_gateway_rejected_total > 0 and on (job, instance, stream, reason)"
    assert f"or ({counted} {new})" in told["expr"]


@pytest.mark.parametrize("path", board_files(), ids=lambda path: path.stem)
def test_a_board_names_metrics_that_exist(path: Path) -> None:
    board = json.loads(path.read_text("utf-8"))
    named = metrics_named(
        " ".join(target["expr"] for panel in board["panels"] for target in panel["targets"])
    )
    assert named
    assert named <= metrics_in_code()
