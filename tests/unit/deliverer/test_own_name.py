"""A user without a name in the system's list, as a pod may have: deliverers start all the same."""

import getpass
import os
from collections.abc import Callable

import pytest

from services.backbone.user import own_name
from services.deliverer.command_line import parse


def nameless(kind: type[Exception]) -> Callable[[], str]:
    def ask() -> str:
        raise kind("uid not found")

    return ask


@pytest.mark.parametrize("kind", [KeyError, OSError])
def test_who_has_no_name_is_told_by_number(
    kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(getpass, "getuser", nameless(kind))
    assert own_name() == f"uid {os.getuid()}"


def test_a_start_asks_for_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", nameless(KeyError))
    assert parse([]).command is None
    assert parse(["close", "d", "--why", "seen"]).who is None
