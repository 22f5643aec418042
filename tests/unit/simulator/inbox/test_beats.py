"""The dead man's switch of the inbox, and the account that it keeps for Apple's stand-in."""

import random
import stat
from pathlib import Path
from typing import Any

import orjson

from services.backbone.clock import SystemClock
from services.simulator.inbox.apns.account import kept
from services.simulator.inbox.faults import Faults
from services.simulator.inbox.provider import Desk, ProviderAnswer, ProviderRequest, open_provider
from services.simulator.inbox.providers.beats import NAMES_LIMIT


def asked(switch: Any, method: str, path: str) -> ProviderAnswer:
    answer = switch.read(ProviderRequest(method, path, {}, {}, b""))
    assert isinstance(answer, ProviderAnswer)
    return answer


def test_beats_are_counted_by_name_and_never_without_bound() -> None:
    desk = Desk(SystemClock(), Faults, lambda *_: None, lambda *_: None)
    switch = open_provider("beats", desk)
    order = ["accountant"] * 3 + [f"n{number}" for number in range(NAMES_LIMIT)]
    random.Random(1).shuffle(order)
    answers = [asked(switch, "POST", f"/{name}").status for name in order]
    assert sorted(set(answers)) == [204, 429]
    shown = orjson.loads(asked(switch, "GET", "").body)
    assert len(shown) == NAMES_LIMIT
    assert shown["accountant"]["count"] == 3
    assert shown["accountant"]["seconds_ago"] >= 0
    assert asked(switch, "POST", "").status == 404


def test_the_account_is_made_once_and_kept(tmp_path: Path) -> None:
    folder = tmp_path / "apns"
    first = kept(folder, 1_800_000_000_000)
    assert kept(folder, 1_900_000_000_000) == first
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (folder / "certificate.pem").unlink()
    assert kept(folder, 1_800_000_000_000).certificate != first.certificate
