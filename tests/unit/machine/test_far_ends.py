"""Every channel has a far end that its deliverer takes, unless the user names another."""

import json
import os
import stat
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from services.backbone.clock import SystemClock
from services.backbone.web.links import LinkSettings, open_links
from services.contracts.recipients import complaint
from services.contracts.records import Severity
from services.deliverer.wiring import channel_names, opener
from services.lookout.routes.reading import read_routes
from services.lookout.routing import Target
from services.machine.plan.environment import environment
from services.machine.plan.everything import plan
from services.machine.plan.far_ends import Inbox, named_settings
from services.machine.plan.machine import Machine
from services.machine.plan.routes import RECIPIENTS, prepare, routes, routes_file, told_of_findings
from services.machine.problems import MachineProblem
from services.machine.servers.rabbitmq import find_server
from services.machine.settings import MachineSettings
from services.machine.supervision.programs import check_plan
from services.simulator.inbox.apns.account import kept

EVERY = tuple(sorted(channel_names()))


def using(machine: Machine, *channels: str, named: frozenset[str] = frozenset()) -> Machine:
    settings = machine.settings.model_copy(update={"channels": channels})
    return replace(machine, settings=settings, named=named)


def test_everybody_has_a_recipient_on_each_channel() -> None:
    assert set(RECIPIENTS) == set(EVERY)
    plain = {name: told for name, told in RECIPIENTS.items() if "$" not in told}
    assert [complaint(name, told) for name, told in plain.items()] == [None] * len(plain)


@pytest.mark.parametrize("name", EVERY)
async def test_each_deliverer_takes_the_settings_of_this_machine(
    machine: Machine, name: str
) -> None:
    used = using(machine, name)
    if name == "push":
        kept(Inbox(used.settings).apple, SystemClock().now_ms())
    with mock.patch.dict(os.environ, environment(used, {"PATH": "/bin"}), clear=True):
        open_channel = opener(name)
        assert open_channel is not None
        channel = open_channel(SystemClock())
    assert channel.traits.name == name
    await channel.close()


def test_a_channel_of_which_the_user_names_a_setting_is_the_users(machine: Machine) -> None:
    mine = environment(using(machine, "email", "slack"), {})
    assert mine["ALDEBARAN_EMAIL_PORT"] == str(machine.settings.port_inbox_smtp)
    assert "ALDEBARAN_SMS_API_URL" not in mine
    inherited = {"ALDEBARAN_EMAIL_HOST": "relay.example", "ALDEBARAN_ROUTES_VARIABLES": "{}"}
    theirs = environment(
        using(machine, "email", "slack", named=named_settings(inherited)), inherited
    )
    assert theirs["ALDEBARAN_EMAIL_HOST"] == "relay.example"
    assert "ALDEBARAN_EMAIL_PORT" not in theirs
    assert theirs["ALDEBARAN_ROUTES_VARIABLES"] == "{}"
    assert theirs["ALDEBARAN_SLACK_BOT_TOKEN"] == mine["ALDEBARAN_SLACK_BOT_TOKEN"]


def test_settings_are_named_in_the_environment_a_file_or_a_folder(tmp_path: Path) -> None:
    file, folder = tmp_path / "settings.yaml", tmp_path / "secrets"
    file.write_text("email_host: relay.example\n")
    folder.mkdir()
    (folder / "aldebaran_sms_auth_token").write_text("x")
    told = {"ALDEBARAN_SETTINGS_FILE": str(file), "ALDEBARAN_SECRETS_DIR": str(folder), "PATH": "/"}
    assert named_settings(told) == {
        *("ALDEBARAN_SETTINGS_FILE", "ALDEBARAN_SECRETS_DIR"),
        *("ALDEBARAN_EMAIL_HOST", "ALDEBARAN_SMS_AUTH_TOKEN"),
    }
    file.write_text("[not, settings]")
    with pytest.raises(MachineProblem, match="holds no settings"):
        named_settings(told)
    with pytest.raises(MachineProblem, match="cannot be read"):
        named_settings({"ALDEBARAN_SETTINGS_FILE": str(tmp_path / "none")})


def test_keys_and_pages_that_a_file_or_a_folder_of_secrets_names_are_the_users(
    machine: Machine, tmp_path: Path
) -> None:
    """What stood in the environment would win over either."""
    asked = ("api_keys_file", "operator_keys_file", "console_public_url", "lookout_url")
    secret = ("simulator_api_key", "operator_key", "console_first_password")
    file, folder = tmp_path / "settings.yaml", tmp_path / "secrets"
    file.write_text("".join(f"{name}: x\n" for name in asked))
    folder.mkdir()
    for name in secret:
        (folder / f"aldebaran_{name}").write_text("x")
    told = {"ALDEBARAN_SETTINGS_FILE": str(file), "ALDEBARAN_SECRETS_DIR": str(folder)}
    theirs = {f"ALDEBARAN_{name.upper()}" for name in (*asked, *secret)}
    assert theirs <= set(environment(machine, {}))
    assert not theirs & set(environment(replace(machine, named=named_settings(told)), told))


@pytest.mark.parametrize("channels", [EVERY, ("log",), ("webhook", "email")])
def test_routes_are_made_for_the_channels_in_use(
    machine: Machine, channels: tuple[str, ...]
) -> None:
    settings = using(machine, *channels).settings
    prepare(settings)
    file = routes_file(settings)
    assert file is not None
    read = read_routes(file.read_text(), channels, {})
    critical = {each.target.channel for each in read.roots[0].instructions}
    assert critical == set(channels)
    assert environment(using(machine, *channels), {})["ALDEBARAN_ROUTES_FILE"] == str(file)
    with_variables = read_routes(routes(channels), channels, {"inbox_url": "http://127.0.0.1/hook"})
    targets = {each.target for each in with_variables.roots[0].instructions}
    assert ("webhook" in channels) == (Target("webhook", "http://127.0.0.1/hook") in targets)
    assert read.roots[0].match.severity == frozenset({Severity.CRITICAL})


def test_the_shipped_routes_are_used_for_the_shipped_channels(machine: Machine) -> None:
    assert routes_file(machine.settings) is None
    assert "ALDEBARAN_ROUTES_FILE" not in environment(machine, {})
    named = using(machine, "log", named=frozenset({"ALDEBARAN_ROUTES_FILE"}))
    assert "ALDEBARAN_ROUTES_FILE" not in environment(named, {})


def test_findings_are_told_on_two_channels(machine: Machine) -> None:
    def told(*channels: str) -> list[str]:
        return [each["channel"] for each in told_of_findings(using(machine, *channels).settings)]

    assert told("bus", "webhook", "email") == ["email", "bus"]
    assert told("webhook", "slack") == ["webhook", "slack"]
    assert told("log") == ["log"]
    (hook,) = told_of_findings(using(machine, "webhook").settings)
    assert hook["recipient"] == f"{Inbox(machine.settings).web}/hook"


def test_the_accountant_beats_at_the_inbox_unless_the_user_names_another_place(
    machine: Machine,
) -> None:
    name = "ALDEBARAN_ACCOUNTANT_HEARTBEAT_URL"

    def told(one: Machine) -> str | None:
        return {each.name: each for each in plan(one)}["accountant"].environment.get(name)

    assert told(machine) == f"{Inbox(machine.settings).web}/beats/accountant"
    assert told(replace(machine, named=frozenset({name}))) is None


def test_links_are_signed_with_a_secret_that_is_made_once_and_kept(machine: Machine) -> None:
    found = environment(machine, {})
    assert environment(machine, {})["ALDEBARAN_LINK_SECRETS"] == found["ALDEBARAN_LINK_SECRETS"]
    assert stat.S_IMODE((machine.home / "link-secret").stat().st_mode) == 0o600
    with mock.patch.dict(os.environ, found, clear=True):
        assert open_links(LinkSettings()) is not None
    named = replace(machine, named=frozenset({"ALDEBARAN_LINK_SECRETS"}))
    assert "ALDEBARAN_LINK_SECRETS" not in environment(named, {})
    closed = machine.settings.model_copy(update={"callbacks": False})
    assert "ALDEBARAN_LINK_SECRETS" not in environment(replace(machine, settings=closed), {})


def test_rabbitmq_runs_where_it_is_used_and_installed(machine: Machine, tmp_path: Path) -> None:
    server = tmp_path / "rabbitmq-server"
    with pytest.raises(MachineProblem, match="apt-get install rabbitmq-server"):
        find_server([tmp_path])
    server.touch()
    assert find_server([tmp_path]) == server
    programs = plan(replace(using(machine, "rabbitmq"), rabbitmq_server=server))
    check_plan(programs)
    after = {each.name: each.after for each in programs}
    assert after["rabbitmq"] == ("rabbitmq-names",)
    assert after["inbox"] == ("rabbitmq",)
    assert "rabbitmq" not in {each.name for each in plan(machine)}
    own = {name for name in using(machine, "rabbitmq").settings.ports() if "RABBITMQ" in name}
    assert len(own) == 4
    assert not [name for name in machine.settings.ports() if "RABBITMQ" in name]


def test_the_inbox_is_told_only_of_what_it_plays(machine: Machine) -> None:
    played = Inbox(using(machine, "nagios", "push", "email").settings).told(())
    assert played.keys() == {
        *("ALDEBARAN_INBOX_NAGIOS_SPOOL", "ALDEBARAN_INBOX_APNS_PORT"),
        "ALDEBARAN_INBOX_APNS_FOLDER",
    }
    assert Inbox(using(machine, "nagios").settings).told(["nagios"]) == {}
    assert json.loads(environment(using(machine, "push"), {})["ALDEBARAN_PUSH_DEVICES"])
    assert MachineSettings().channels == ("bus", "webhook", "email")
