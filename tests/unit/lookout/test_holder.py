"""Routes are taken over while the lookout runs; a file that is wrong changes nothing."""

import threading
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from services.backbone.clock import ManualClock
from services.backbone.service import Life
from services.contracts.watches import SHIPPED_WATCHES
from services.lookout.routes.holder import RoutesHolder
from services.lookout.routes.problems import BadRoutes
from services.lookout.routes.reading import Reading
from services.lookout.routes.source import RoutesSource
from services.lookout.routes.watches_folder import WatchesFolder
from services.machine.waiting import wait_until

READING = Reading(("bus",), {})
FAILED = "aldebaran_lookout_routes_reload_failed"
LOADED = "aldebaran_lookout_routes_loaded_timestamp_seconds"
TEXT = """\
version: 1
templates: {page: {file: page.j2}}
default: {send: [{channel: bus, to: TO, template: page}]}
"""


ROUTED = """\
version: 1
routes:
  - name: hot
    match: {watch: WATCH, labels: {zone: north}}
    send: [{channel: bus, to: hot}]
default: {send: [{channel: bus, to: rest}]}
"""


def write(folder: Path, to: str, page: str = "{{ alert.watch }}") -> None:
    (folder / "page.j2").write_text(page)
    (folder / "routes.yaml").write_text(TEXT.replace("TO", to))


def held(folder: Path, clock: ManualClock | None = None) -> RoutesHolder:
    return RoutesHolder(RoutesSource(folder / "routes.yaml"), READING, clock or ManualClock())


def write_routed(folder: Path, watch: str) -> None:
    """Write routes of which one is for alerts of a watch that have label `zone`."""
    (folder / "routes.yaml").write_text(ROUTED.replace("WATCH", watch))


def write_watch(folder: Path, name: str, label: str) -> None:
    folder.mkdir(exist_ok=True)
    text = (SHIPPED_WATCHES / "over-purchase.yaml").read_text()
    text = text.replace("watch: over-purchase", f"watch: {name}")
    text = text.replace("labels: [client, stock]", f"labels: [{label}]")
    (folder / f"{name}.yaml").write_text(text)


def warned(holder: RoutesHolder) -> list[str]:
    return [each.reason for each in holder.warnings]


def told(holder: RoutesHolder) -> str:
    return holder.current().default[0].target.recipient


def test_a_change_is_taken_over_and_what_did_not_change_is_kept(tmp_path: Path) -> None:
    write(tmp_path, "one")
    holder = held(tmp_path)
    before = holder.current()
    holder.look()
    assert holder.current() is before
    write(tmp_path, "two")
    holder.look()
    assert told(holder) == "two"
    assert before.default[0].target.recipient == "one"
    write(tmp_path, "two", "new words")
    holder.look()
    assert holder.current().templates["page"].text == "new words"


def test_a_wrong_file_keeps_the_old_routes_and_is_told_of(tmp_path: Path) -> None:
    write(tmp_path, "one")
    clock = ManualClock()
    holder = held(tmp_path, clock)
    began = REGISTRY.get_sample_value(LOADED)
    clock.move(5)
    write(tmp_path, "alerts")
    holder.look()
    assert told(holder) == "one"
    assert "routes.yaml:3: topic alerts is Aldebaran's own" in (holder.note() or "")
    assert REGISTRY.get_sample_value(FAILED) == 1
    assert REGISTRY.get_sample_value(LOADED) == began
    with pytest.raises(BadRoutes):
        holder.reload()
    write(tmp_path, "two")
    holder.look()
    assert (told(holder), holder.note(), holder.problem) == ("two", None, None)
    assert REGISTRY.get_sample_value(FAILED) == 0
    assert REGISTRY.get_sample_value(LOADED) == clock.now_ms() / 1000


def test_a_file_that_is_nested_without_end_keeps_the_old_routes(tmp_path: Path) -> None:
    write(tmp_path, "one")
    holder = held(tmp_path)
    (tmp_path / "routes.yaml").write_text(TEXT + "times: " + "[" * 5000 + "]" * 5000)
    holder.look()
    assert told(holder) == "one"
    assert "nested over 32 deep" in (holder.note() or "")


def test_a_template_that_was_missing_is_found_when_it_comes(tmp_path: Path) -> None:
    write(tmp_path, "one")
    holder = held(tmp_path)
    (tmp_path / "page.j2").unlink()
    holder.look()
    assert "page.j2 cannot be read" in (holder.note() or "")
    (tmp_path / "page.j2").write_text("back")
    holder.look()
    assert holder.current().templates["page"].text == "back"


def test_a_folder_that_is_turned_like_a_config_map_is_taken_over(tmp_path: Path) -> None:
    """Kubernetes writes a new folder and turns one link; times and sizes of files say nothing."""
    for name in ("one", "two"):
        (tmp_path / f"..{name}").mkdir()
        write(tmp_path / f"..{name}", name)
    data = tmp_path / "..data"
    data.symlink_to("..one")
    for file in ("routes.yaml", "page.j2"):
        (tmp_path / file).symlink_to(f"..data/{file}")
    holder = held(tmp_path)
    assert told(holder) == "one"
    (tmp_path / "..new").symlink_to("..two")
    (tmp_path / "..new").rename(data)
    holder.look()
    assert told(holder) == "two"


def test_a_wrong_file_at_the_start_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRoutes, match="cannot be read"):
        held(tmp_path)


def test_it_looks_by_itself_until_the_end_of_the_life(tmp_path: Path) -> None:
    write(tmp_path, "one")
    holder = held(tmp_path)
    ticks = threading.Event()

    class TickingClock(ManualClock):
        def wait(self, stop: threading.Event, seconds: float) -> bool:
            ticks.wait(0.01)
            return super().wait(stop, seconds)

    life = Life(clock=TickingClock())
    holder.start(life)
    write(tmp_path, "two")
    wait_until(lambda: told(holder) == "two", 30, "the change is not taken over")
    life.stop.set()
    holder.close(30)


def test_a_route_for_a_watch_that_nobody_declares_is_among_the_warnings(tmp_path: Path) -> None:
    """Also when the watches change afterwards: on Kubernetes they may come after the routes."""
    write_routed(tmp_path, "over-heat")
    write_watch(tmp_path / "watches", "cpu-high", "zone")
    folder = WatchesFolder(tmp_path / "watches", are_all=True)
    source = RoutesSource(tmp_path / "routes.yaml")
    holder = RoutesHolder(source, READING, ManualClock(), folder)
    assert warned(holder) == ["no declared watch is over-heat"]
    write_watch(tmp_path / "watches", "over-heat", "hall")
    holder.look()
    assert warned(holder) == ["no alert of over-heat has label zone; known are hall"]
    write_watch(tmp_path / "watches", "over-heat", "zone")
    holder.look()
    assert warned(holder) == []
    write_routed(tmp_path, "over-haet")
    holder.look()
    assert warned(holder) == ["no declared watch is over-haet, did you mean 'over-heat'?"]


def test_watches_that_cannot_be_read_are_not_known_and_stop_nothing(tmp_path: Path) -> None:
    write_routed(tmp_path, "over-heat")
    folder = WatchesFolder(tmp_path / "watches", are_all=True)
    source = RoutesSource(tmp_path / "routes.yaml")
    holder = RoutesHolder(source, READING, ManualClock(), folder)
    assert warned(holder) == []
    write_watch(tmp_path / "watches", "cpu-high", "zone")
    holder.look()
    assert warned(holder) == ["no declared watch is over-heat"]
    (tmp_path / "watches" / "other.yaml").write_text("watch: [")
    holder.look()
    assert (warned(holder), holder.problem) == ([], None)
