import io
import os
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from pydantic import ValidationError

from services.machine.installation.setup import ROOT
from services.machine.plan.environment import environment
from services.machine.plan.everything import plan
from services.machine.plan.machine import Machine
from services.machine.servers import cluster
from services.machine.settings import MachineSettings
from services.machine.supervision.programs import Program, check_plan


def test_the_plan_holds_together(machine: Machine) -> None:
    programs = plan(machine)
    check_plan(programs)
    assert {"postgres", "kafka", "topics", "terminal"} <= {program.name for program in programs}


def test_the_archivist_can_be_left_out(machine: Machine) -> None:
    less = replace(machine, settings=machine.settings.model_copy(update={"archivist": False}))
    left_out = {program.name for program in plan(machine)} - {each.name for each in plan(less)}
    assert left_out == {"archivist"}


def test_the_accountant_and_the_door_for_callbacks_can_be_left_out(machine: Machine) -> None:
    asked = machine.settings.model_copy(update={"accountant": False, "callbacks": False})
    less = plan(replace(machine, settings=asked))
    check_plan(less)
    left_out = {program.name for program in plan(machine)} - {each.name for each in less}
    assert left_out == {"accountant", "callbacks"}


def test_with_three_nodes_the_topics_wait_for_all_and_have_three_copies(machine: Machine) -> None:
    asked = machine.settings.model_copy(update={"kafka_nodes": 3})
    brokers = cluster.of_settings(asked, machine.home)
    more = plan(replace(machine, settings=asked, brokers=brokers))
    check_plan(more)
    added = {each.name for each in more} - {program.name for program in plan(machine)}
    assert added == {"kafka-2", "kafka-3"}
    (topics,) = (each for each in more if each.name == "topics")
    assert topics.after == ("kafka", "kafka-2", "kafka-3")
    assert topics.environment == {"ALDEBARAN_TOPIC_COPIES": "3"}


def two_and_one(machine: Machine, what: str) -> list[tuple[Program, ...]]:
    """Return the plans with two of something that may run side by side, and with one."""
    return [
        plan(replace(machine, settings=machine.settings.model_copy(update={what: count})))
        for count in (2, 1)
    ]


def test_two_auditors_share_nothing_but_the_folder_above_their_checkpoints(
    machine: Machine,
) -> None:
    two, one = two_and_one(machine, "auditors")
    check_plan(two)
    assert {each.name for each in two} - {each.name for each in one} == {"auditor-b"}
    a, b = (each.environment for each in two if each.name.startswith("auditor-"))
    same = {name for name in a if a[name] == b[name]}
    jars = {"ALDEBARAN_AUDITOR_JARS", "ALDEBARAN_S3_JARS"}
    assert same == jars | {"ALDEBARAN_AUDITOR_CHECKPOINTS"}
    assert (a["ALDEBARAN_AUDITOR_PHASE"], b["ALDEBARAN_AUDITOR_PHASE"]) == ("0.0", "0.5")
    for programs, expected in ((two, '["a", "b"]'), (one, '["a"]')):
        (heartbeat,) = (each for each in programs if each.name == "heartbeat")
        assert heartbeat.environment["ALDEBARAN_HEARTBEAT_AUDITORS"] == expected


@pytest.mark.parametrize(
    ("what", "which"),
    [("lookouts", ["lookout"]), ("deliverers", ["deliverer-bus", "deliverer-webhook"])],
)
def test_a_mirror_differs_from_the_first_in_its_number_and_page_only(
    machine: Machine, what: str, which: list[str]
) -> None:
    asked = machine.settings.model_copy(update={"channels": ("bus", "webhook")})
    two, one = two_and_one(replace(machine, settings=asked), what)
    check_plan(two)
    told = {each.name: each.environment for each in two}
    assert told.keys() - {each.name for each in one} == {f"{each}-mirror" for each in which}
    own = {"ALDEBARAN_HTTP_PORT", "ALDEBARAN_KAFKA_GROUP_INSTANCE_ID", "ALDEBARAN_ORDINAL"}
    for name in which:
        first, mirror = told[name], told[f"{name}-mirror"]
        assert {each for each in mirror if first[each] != mirror[each]} == own
        assert (first["ALDEBARAN_ORDINAL"], mirror["ALDEBARAN_ORDINAL"]) == ("0", "1")


def test_no_two_deliverers_have_one_name() -> None:
    with pytest.raises(ValidationError, match=r"named twice: email"):
        MachineSettings(channels=("bus", "email", "email"))
    mirror = ("email", "email-mirror")
    with pytest.raises(ValidationError, match=r"deliverers\n.*named email-mirror"):
        MachineSettings(channels=mirror, deliverers=2)
    assert MachineSettings(channels=mirror, deliverers=1).channels == mirror


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({}, [{0, 4}, {1, 5}]),
        ({"auditors_apart": False}, [set(), set()]),
        ({"auditors": 1}, [set()]),
    ],
)
def test_each_of_two_auditors_keeps_to_its_half_of_the_processors(
    machine: Machine, told: dict[str, object], expected: list[set[int]]
) -> None:
    asked = machine.settings.model_copy(update={"auditors": 2, **told})
    programs = plan(replace(machine, settings=asked, cores=(0, 4, 1, 5)))
    auditors = [each for each in programs if each.name.startswith("auditor-")]
    assert [each.cores for each in auditors] == expected
    assert {each.name for each in programs if each.cores} <= {each.name for each in auditors}
    assert ("auditor-a" in auditors[-1].after) == (len(auditors) == 2 and not auditors[-1].cores)


def test_services_may_stop_for_longer_than_they_drain_and_stores_as_long_as_they_need(
    machine: Machine,
) -> None:
    asked = machine.settings.model_copy(update={"drain_timeout_seconds": 60.0})
    before, after = (
        {each.name: each.stop_timeout_seconds for each in plan(replace(machine, settings=told))}
        for told in (machine.settings, asked)
    )
    others = {"postgres", "kafka", "topics", "terminal"}
    assert {name for name, seconds in after.items() if seconds != 62.0} == others
    assert all(after[name] == before[name] for name in others)


def test_all_that_a_killed_spark_program_leaves_lies_in_its_own_scratch(machine: Machine) -> None:
    started = {each.name: each for each in plan(machine) if each.scratch}
    assert {"auditor-a", "archivist", "rehearsal"} <= set(started)
    for name, program in started.items():
        assert program.scratch == machine.home / "scratch" / name
        assert program.environment["TMPDIR"] == str(program.scratch)
        assert program.environment["SPARK_LOCAL_DIRS"] == str(program.scratch)


def test_what_the_user_names_is_set_by_no_program_of_the_plan(machine: Machine) -> None:
    theirs = {
        "ALDEBARAN_CONSOLE_PARTS": "console",
        "ALDEBARAN_ARCHIVIST_ARCHIVE": "archivist",
        "ALDEBARAN_ARCHIVIST_STATE": "archivist",
    }
    for named, expected in ((frozenset[str](), True), (frozenset(theirs), False)):
        told = {each.name: each.environment for each in plan(replace(machine, named=named))}
        assert {setting in told[name] for setting, name in theirs.items()} == {expected}


def test_every_planned_module_is_there(machine: Machine) -> None:
    commands = [program.command for program in plan(machine) if program.command[1] == "-m"]
    assert len(commands) > 10
    assert [command[2] for command in commands if find_spec(command[2]) is None] == []


def test_no_two_services_share_a_port(machine: Machine) -> None:
    name = "ALDEBARAN_HTTP_PORT"
    ports = [program.environment[name] for program in plan(machine) if name in program.environment]
    assert len(set(ports)) == len(ports)


def test_the_simulator_gets_its_dials_as_the_user_wrote_them(machine: Machine) -> None:
    commands = {program.name: program.command for program in plan(machine)}
    assert commands["simulator"][-4:] == ("--rate", "max", "--run-id", "a b")


def test_the_environment_names_absolute_places_and_escapes_the_password(machine: Machine) -> None:
    found = environment(machine, {"PATH": "/bin", "ALDEBARAN_HOME": "relative"})
    assert found["PATH"] == "/bin"
    assert found["PYTHONUTF8"] == "1"
    assert found["ALDEBARAN_HOME"] == str(machine.home)
    assert found["ALDEBARAN_POSTGRES_URL"] == (
        "postgresql://aldebaran:p%40ss%2Fword@127.0.0.1:15432/aldebaran"
    )


OTHER_SERVERS = {
    "SPARK_HOME": "/opt/spark",
    "SPARK_CONF_DIR": "/opt/spark/conf",
    "PYSPARK_SUBMIT_ARGS": "--master yarn pyspark-shell",
    "SPARK_REMOTE": "sc://spark.example",
    "SPARK_API_MODE": "connect",
    "SPARK_CONNECT_MODE_ENABLED": "1",
    "SPARK_DIST_CLASSPATH": "/opt/hadoop/lib/*",
    "HADOOP_CONF_DIR": "/etc/hadoop",
    "YARN_CONF_DIR": "/etc/hadoop",
    "PGSSLMODE": "require",
    "PGHOSTADDR": "192.0.2.1",
    "PGCONNECT_TIMEOUT": "1",
}


def test_programs_are_not_led_to_other_servers_of_the_users(machine: Machine) -> None:
    kept = {"SPARK_SUBMIT_OPTS": "-Xss4m", "PAGER": "less"}
    found = environment(machine, OTHER_SERVERS | kept)
    assert found.keys() - environment(machine, {}).keys() == kept.keys()
    assert kept.items() <= found.items()
    told = (ROOT / "docs" / "one-machine.md").read_text("utf-8")
    assert [name for name in OTHER_SERVERS if f"`{name}`" not in told] == ["PGCONNECT_TIMEOUT"]


def test_make_leads_nobody_to_other_servers_of_the_users(tmp_path: Path) -> None:
    shown = tmp_path / "shown.mk"
    shown.write_text("shown:\n\t@env\n", "utf-8")
    command = ["make", "-s", "-f", "Makefile", "-f", str(shown), "shown"]
    told = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | OTHER_SERVERS,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "ALDEBARAN_TOOLS=" in told
    assert not [name for name in OTHER_SERVERS if f"{name}=" in told]


def test_the_terminals_program_writes_in_the_terminals_letters(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "iso-8859-1"))
    (shown,) = (each for each in plan(machine) if each.on_terminal)
    found = environment(machine, os.environ) | dict(shown.environment)
    command = [sys.executable, "-c", "print('\\u00dcnal \\u2260')"]
    said = subprocess.run(command, env=found, capture_output=True, check=True).stdout
    assert said == "Ünal ?\n".encode("iso-8859-1")
