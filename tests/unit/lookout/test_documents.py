"""What the documents show is what the programs say."""

import re
from pathlib import Path

import pytest

from services.contracts.records import Alert
from services.contracts.watches import SHIPPED_WATCHES, load_watches
from services.lookout.__main__ import main
from services.lookout.routes.reading import read_routes

ROOT = Path(__file__).parents[3]
DESK = ROOT / "docs" / "examples" / "desk"
CHANNELS = ("bus", "webhook", "email", "sms", "push")
VERSION = re.compile(r"routes [0-9a-f]{16}")


@pytest.fixture(autouse=True)
def _channels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALDEBARAN_CHANNELS", '["bus", "email", "sms", "push"]')


def blocks(name: str, language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / "docs" / name).read_text(), re.S | re.M)
    return [block for its, block in found if its == language]


def test_the_desk_is_good_without_a_warning() -> None:
    assert main(["check", "--strict", str(DESK / "routes.yaml")]) == 0


def test_the_desk_is_explained_as_it_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = [each for each in blocks("routing.md", "") if "$ python" in each]
    command, shown = block.split("\n", 2)[1:]
    arguments = command.removeprefix("$ python -m services.lookout ").split()
    assert main([str(ROOT / each) if "/" in each else each for each in arguments]) == 0
    said = VERSION.sub("routes", capsys.readouterr().out)
    assert said.startswith(VERSION.sub("routes", shown))


def test_the_desks_alert_carries_the_rule_of_the_watch_that_raised_it() -> None:
    alert = Alert.decode((DESK / "alert.json").read_bytes())
    assert alert.values["rule"] == load_watches(SHIPPED_WATCHES)[alert.watch].rule


def test_the_examples_in_the_documents_are_read() -> None:
    (whole,) = blocks("routing.md", "yaml")
    assert read_routes(whole, CHANNELS, {}).roots[0].name == "hot"
    (words,) = blocks("templates.md", "yaml")
    words = words.replace("mail: {file: mail.j2}", "mail: {text: x}")
    default = "default: {send: [{channel: bus, to: x}]}\n"
    assert set(read_routes(f"version: 1\n{words}{default}", CHANNELS, {}).templates) == {
        "page",
        "mail",
    }
