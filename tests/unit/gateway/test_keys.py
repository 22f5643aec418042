"""Keys: only hashes are stored, only the right key opens, and a bad file opens nothing new."""

import os
import re
import resource
from pathlib import Path

import orjson
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from services.backbone.clock import ManualClock
from services.backbone.errors import Refused
from services.backbone.seldom import EVERY_SECONDS
from services.backbone.web.keys import (
    EMPTIED_SECONDS,
    Keys,
    KeysFile,
    KeysReloader,
    key_hash,
    load_keys,
    new_key,
)
from services.backbone.web.problems import Problem
from services.gateway.__main__ import main, open_door
from services.gateway.senders import SenderKey, Senders, entry
from services.gateway.settings import GatewaySettings
from tests.unit.gateway.surroundings import EVENT, EVENTS, MemoryWriter, gateway

SECRET = new_key()
FEED = SenderKey(name="feed", sha256=key_hash(SECRET), streams=("trades",))
LATER = FEED.model_copy(update={"sha256": key_hash(new_key())})
SENDERS = Senders(Keys([FEED], ManualClock()))


@given(st.text(max_size=300))
def test_no_other_text_is_taken_for_the_key(presented: str) -> None:
    with pytest.raises(Problem) as caught:
        SENDERS.caller(presented)
    assert caught.value.status == 401
    assert not presented or presented not in caught.value.headers.values()


def test_the_key_names_its_caller_and_opens_its_streams_only() -> None:
    caller = SENDERS.caller(SECRET)
    assert caller.name == "feed"
    assert caller.may_send_to("trades")
    assert not caller.may_send_to("metrics")


def test_a_key_ends_at_its_time() -> None:
    clock = ManualClock(now_ms=1_700_000_000_000)
    until = {"expires": "2023-11-14T22:13:21Z"}
    keys = Keys([SenderKey.model_validate(FEED.model_dump(exclude={"expires"}) | until)], clock)
    assert keys.of(SECRET).name == "feed"
    clock.move(1)
    with pytest.raises(Problem, match="expired"):
        keys.of(SECRET)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"authorization": f"Bearer {SECRET}"}, 200),
        ({"authorization": f"bearer  {SECRET}"}, 200),
        ({"x_api_key": SECRET}, 200),
        ({}, 401),
        ({"authorization": f"Basic {SECRET}"}, 401),
        ({"authorization": "Bearer "}, 401),
        ({"x_api_key": SECRET[:-1]}, 401),
        ({"x_api_key": "é"}, 401),
    ],
)
async def test_the_gateway_asks_for_the_key(headers: dict[str, str], status: int) -> None:

    writer = MemoryWriter()
    on = GatewaySettings()
    with gateway(writer, on, SENDERS) as it:
        spelled = {
            name.replace("_", "-").encode(): value.encode() for name, value in headers.items()
        }
        for path in (EVENTS, "/v1/streams/unknown/events"):
            response = await it.client.post(path, content=orjson.dumps(EVENT), headers=spelled)
            assert response.status_code == (status if path == EVENTS or status == 401 else 404)
        assert (await it.client.get("/v1/streams", headers=spelled)).status_code == status
    assert len(writer.written) == (status == 200)


async def test_a_key_for_another_stream_is_403() -> None:
    other = SenderKey(name="other", sha256=FEED.sha256, streams=("metrics",))
    with gateway(MemoryWriter(), GatewaySettings(), Senders(Keys([other], ManualClock()))) as it:
        response = await it.post(b"{}", x_api_key=SECRET)
    assert response.status_code == 403


@pytest.mark.parametrize("method", ["POST", "GET"])
async def test_strangers_write_a_line_a_minute_and_not_one_a_request(method: str) -> None:
    path = EVENTS if method == "POST" else "/v1/streams"
    with gateway(MemoryWriter(), GatewaySettings(), SENDERS) as it, capture_logs() as lines:
        for _ in range(100):
            assert (await it.client.request(method, path)).status_code == 401
        it.clock.move(EVERY_SECONDS)
        assert (await it.client.request(method, path)).status_code == 401
    told = [each for each in lines if each["log_level"] != "debug"]
    assert [(each["event"], each["left_out"]) for each in told] == [
        ("request_refused", 0),
        ("request_refused", 99),
    ]


async def test_strangers_hide_no_key_that_is_for_another_stream() -> None:
    keys = [
        SenderKey(name=name, sha256=key_hash(name), streams=("metrics",)) for name in ("ann", "bob")
    ]
    with (
        gateway(MemoryWriter(), GatewaySettings(), Senders(Keys(keys, ManualClock()))) as it,
        capture_logs() as lines,
    ):
        for presented in ("", "ann", "bob", "ann", "bob"):
            await it.post(b"{}", x_api_key=presented)
    told = [each for each in lines if each["log_level"] != "debug"]
    assert [each.get("caller") for each in told] == [None, "ann", "bob"]


def write(path: Path, *keys: SenderKey) -> None:
    path.write_text(yaml.safe_dump(KeysFile[SenderKey](keys=keys).model_dump(mode="json")))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("keys: [{name: a, sha256: short, streams: [t]}]", "sha256"),
        ("keys: [{name: a, key: plain, streams: [t]}]", "key"),
        ("nothing", "keys.yaml"),
        ("a: b: c", "keys.yaml"),
        ("keys: !!bool maybe", "keys.yaml is no YAML at line 1, column 7"),
        ("\x00", "keys.yaml"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "keys.yaml"
    path.write_text(text)
    with pytest.raises(Refused, match=re.escape(said)):
        load_keys(path, SenderKey)


@pytest.mark.parametrize("text", ["keys: []", "keys:\n", "# none\n", ""])
def test_without_any_key_a_program_starts_and_lets_nobody_in(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys.yaml"
    path.write_text(text)
    assert load_keys(path, SenderKey) == ()
    reloader = KeysReloader(path, SenderKey, ManualClock())
    assert reloader.note() == "keys.yaml: no key stands under `keys:`: nobody is let in"
    with pytest.raises(Problem):
        reloader.keys.of(SECRET)
    write(path, FEED)
    reloader.look()
    assert reloader.keys.of(SECRET).name == "feed"
    assert reloader.note() is None


def test_what_is_wrong_with_a_file_shows_none_of_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "keys.yaml"
    write(path, FEED)
    reloader = KeysReloader(path, SenderKey, ManualClock())
    path.write_text(f"{path.read_text()}{SECRET}\nkeys: [oops\n")
    reloader.look()
    assert "is no YAML at line " in str(reloader.note())
    assert SECRET[:20] not in str(reloader.note())


@pytest.mark.parametrize("text", ["keys: []", "keys:\n", "# none\n"])
async def test_the_only_key_is_withdrawn_at_once(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys.yaml"
    write(path, FEED)
    reloader = KeysReloader(path, SenderKey, ManualClock())
    with gateway(MemoryWriter(), GatewaySettings(), Senders(reloader.keys)) as it:
        assert (await it.post(orjson.dumps(EVENT), x_api_key=SECRET)).status_code == 200
        path.write_text(text)
        reloader.look()
        assert (await it.post(orjson.dumps(EVENT), x_api_key=SECRET)).status_code == 401
    assert "nobody is let in" in str(reloader.note())


@pytest.mark.parametrize("text", ["", "keys:\n", "# entries follow\n"])
def test_a_file_without_keys_counts_once_nobody_writes_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys.yaml"
    write(path, FEED)
    clock = ManualClock()
    reloader = KeysReloader(path, SenderKey, clock)
    path.write_text(text)
    clock.move(path.stat().st_ctime_ns / 1e9 - clock.now_ms() / 1000 + 1)
    reloader.look()
    assert reloader.keys.of(SECRET).name == "feed"
    clock.move(EMPTIED_SECONDS)
    reloader.look()
    with pytest.raises(Problem):
        reloader.keys.of(SECRET)


def test_a_note_stands_while_the_newest_file_is_not_in_use(tmp_path: Path) -> None:
    path = tmp_path / "keys.yaml"
    write(path, FEED)
    reloader = KeysReloader(path, SenderKey, ManualClock())
    assert reloader.note() is None
    for spoil in (lambda: path.write_text("keys: [oops"), path.unlink):
        spoil()
        reloader.look()
        assert "keys.yaml" in str(reloader.note())
        assert "the keys of before are in use" in str(reloader.note())
    write(path, LATER)
    reloader.look()
    assert reloader.note() is None


def test_two_keys_of_one_name_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "keys.yaml", FEED, FEED)
    with pytest.raises(Refused, match="same name"):
        load_keys(tmp_path / "keys.yaml", SenderKey)


def test_a_changed_file_is_taken_over_and_a_bad_one_changes_nothing(tmp_path: Path) -> None:
    path, later = tmp_path / "keys.yaml", new_key()
    write(path, FEED)
    reloader = KeysReloader(path, SenderKey, ManualClock())
    keys = reloader.keys
    path.write_text("keys: [oops")
    reloader.look()
    assert keys.of(SECRET).name == "feed"
    write(path, SenderKey(name="later", sha256=key_hash(later), streams=("*",)))
    os.utime(path, (1, 1))
    reloader.look()
    assert keys.of(later).opens("anything")
    with pytest.raises(Problem):
        keys.of(SECRET)
    path.unlink()
    reloader.look()
    assert keys.of(later).name == "later"


def test_a_changed_file_with_the_size_and_the_time_of_before_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "keys.yaml"
    write(path, FEED)
    before = path.stat()
    reloader = KeysReloader(path, SenderKey, ManualClock())
    while path.stat().st_ctime_ns == before.st_ctime_ns:
        write(path, LATER)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    reloader.look()
    with pytest.raises(Problem):
        reloader.keys.of(SECRET)


def test_a_file_that_could_not_be_read_is_taken_over_once_it_can(tmp_path: Path) -> None:
    path = tmp_path / "keys.yaml"
    write(path, FEED)
    reloader = KeysReloader(path, SenderKey, ManualClock())
    os.utime(path, (1, 1))
    write(path, LATER)
    files, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limit))  # bars also who is root
    try:
        reloader.look()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, limit))
    assert reloader.keys.of(SECRET).name == "feed"
    reloader.look()
    with pytest.raises(Problem):
        reloader.keys.of(SECRET)


def test_a_file_changed_while_it_is_first_read_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "keys.yaml"

    class Slow(SenderKey):
        def model_post_init(self, _: object) -> None:
            if self.sha256 == FEED.sha256:
                write(path, LATER, LATER.model_copy(update={"name": "third"}))

    write(path, FEED)
    reloader = KeysReloader(path, Slow, ManualClock())
    assert reloader.keys.of(SECRET).name == "feed"
    reloader.look()
    with pytest.raises(Problem):
        reloader.keys.of(SECRET)


def test_keys_are_off_only_when_told() -> None:
    with pytest.raises(Refused, match=r"keygen NAME.*ALDEBARAN_API_KEYS=off"):
        open_door(GatewaySettings(), ManualClock())
    open_door(GatewaySettings(api_keys="off"), ManualClock())


def test_off_in_a_yaml_file_is_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text("api_keys: off\n")
    monkeypatch.setenv("ALDEBARAN_SETTINGS_FILE", str(path))
    assert GatewaySettings().api_keys == "off"


def test_keygen_shows_a_key_and_an_entry_that_opens(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["keygen", "feed", "--stream", "trades", "--days", "30"]) == 0
    printed = capsys.readouterr().out
    key = next(line for line in printed.splitlines() if line.startswith("aldebaran_"))
    lines = printed[printed.index("- ") :]
    assert key not in lines
    path = tmp_path / "keys.yaml"
    path.write_text("keys:\n" + lines)
    assert Keys(load_keys(path, SenderKey), ManualClock()).of(key).opens("trades")


def test_keygen_refuses_a_name_that_the_file_would_refuse(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["keygen", "Not A Name"]) == 2
    assert "name" in capsys.readouterr().err


@pytest.mark.parametrize("days", ["0", "-1", "9999999"])
def test_keygen_refuses_an_end_that_is_over_or_in_no_year(
    capsys: pytest.CaptureFixture[str], days: str
) -> None:
    assert main(["keygen", "feed", "--days", days]) == 2
    assert f"no key was made: --days {days}: a key lasts 1 to 36500" in capsys.readouterr().err


def test_an_entry_without_an_end_has_none() -> None:
    assert "expires" not in entry("feed", SECRET, ["trades"])
