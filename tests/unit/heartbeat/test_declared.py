"""Which watches beat, whatever the files say, and from when on their answers are expected."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import REGISTRY

from services.backbone.clock import ManualClock
from services.backbone.kafka.producer import Outgoing
from services.contracts.watches import SHIPPED_WATCHES
from services.heartbeat.declared import Following
from services.heartbeat.pulse import beat_records
from services.heartbeat.settings import HeartbeatSettings
from services.heartbeat.watched import NEW_WATCH_SECONDS, Watched
from tests.unit.declarations import NEVER_FITS, copied

DELAY_SECONDS = 2.0


class Scene:
    """Two folders with the shipped declarations, and a clock moved by hand."""

    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock()
        self.streams, self.watches = copied(folder, SHIPPED_WATCHES)
        self.shipped = set(self.following().now.watches)

    def following(self) -> Following:
        settings = HeartbeatSettings(
            streams_dir=self.streams,
            watches_dir=self.watches,
            heartbeat_reload_delay_seconds=DELAY_SECONDS,
        )
        return Following(settings, self.clock)

    def settled(self, following: Following) -> bool:
        """Let a change settle; tell whether it was taken."""
        assert not following.changed()
        self.clock.move(DELAY_SECONDS)
        return following.changed()

    def copy(self, watch: str, name: str) -> None:
        text = (self.watches / f"{watch}.yaml").read_text()
        (self.watches / f"{name}.yaml").write_text(
            text.replace(f"watch: {watch}", f"watch: {name}")
        )


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_added_paused_and_removed_watches_are_followed(scene: Scene) -> None:
    following = scene.following()
    scene.copy("over-purchase", "another")
    assert scene.settled(following)
    assert set(following.now.watches) == {*scene.shipped, "another"}
    path = scene.watches / "another.yaml"
    path.write_text(path.read_text() + "\npaused: true\n")
    assert scene.settled(following)
    assert set(following.now.watches) == scene.shipped
    (scene.watches / "over-purchase.yaml").unlink()
    assert scene.settled(following)
    assert set(following.now.watches) == scene.shipped - {"over-purchase"}
    assert following.note() is None


def test_a_bad_file_is_told_and_spoils_no_other(scene: Scene) -> None:
    following = scene.following()
    (scene.watches / "over-purchase.yaml").write_text("watch: [")
    scene.copy("unusual-volume", "another")
    assert scene.settled(following)
    assert set(following.now.watches) == {*scene.shipped, "another"}
    assert "over-purchase.yaml" in (following.note() or "")


def test_a_watch_that_was_renamed_to_what_nobody_reads_beats_on(scene: Scene) -> None:
    following = scene.following()
    (scene.watches / "over-purchase.yaml").rename(scene.watches / "over-purchase.yml")
    assert scene.settled(following)
    assert "over-purchase" in following.now.watches
    assert "over-purchase.yml: only *.yaml files are read" in str(following.note())


def test_a_bad_stream_changes_nothing(scene: Scene) -> None:
    following = scene.following()
    before = following.now
    next(scene.streams.glob("*.yaml")).write_text("stream: [")
    assert scene.settled(following)
    assert (following.now.watches, following.now.streams) == (before.watches, before.streams)
    assert following.note() is not None


def test_what_reads_a_stream_that_is_gone_beats_on_with_what_it_had(scene: Scene) -> None:
    following = scene.following()
    before = beats(following)
    gone = scene.streams / "trades.yaml"
    other = gone.read_text().replace("stream: trades", "stream: deals")
    (scene.streams / "deals.yaml").write_text(other)
    gone.unlink()
    assert scene.settled(following)
    assert beats(following) == before
    assert "trades" in (following.note() or "")
    scene.copy("over-purchase", "another")
    assert scene.settled(following)
    assert beats(following) == before


def beats(following: Following) -> dict[str, list[Outgoing]]:
    """Return what one beat of each watch writes."""
    now = following.now
    return {
        name: beat_records(watch, now.streams[name], "beat") for name, watch in now.watches.items()
    }


def test_at_the_start_a_bad_file_is_told_and_the_others_beat(scene: Scene) -> None:
    (scene.watches / "bad.yaml").write_text("watch: [")
    following = scene.following()
    assert set(following.now.watches) == scene.shipped
    assert "bad.yaml" in (following.note() or "")


def test_a_default_that_never_fits_ends_no_beat(scene: Scene) -> None:
    (scene.streams / "odd.yaml").write_text(NEVER_FITS)
    assert set(scene.following().now.watches) == scene.shipped


def test_at_the_start_bad_files_alone_are_told_and_nothing_beats(scene: Scene) -> None:
    for path in scene.watches.glob("*.yaml"):
        path.write_text("watch: [")
    following = scene.following()
    assert not following.now.watches
    assert ".yaml" in (following.note() or "")


def test_that_nothing_beats_is_told_until_a_watch_does(scene: Scene) -> None:
    for path in scene.watches.glob("*.yaml"):
        path.write_text(path.read_text() + "\npaused: true\n")
    following = scene.following()
    assert "declares a heartbeat" in (following.note() or "")
    assert beating() == 0
    path = scene.watches / "over-purchase.yaml"
    path.write_text(path.read_text().removesuffix("\npaused: true\n"))
    assert scene.settled(following)
    assert following.note() is None
    assert beating() == 1


def beating() -> float | None:
    return REGISTRY.get_sample_value("aldebaran_heartbeat_watches")


def test_the_same_watch_twice_is_told(scene: Scene) -> None:
    text = (scene.watches / "over-purchase.yaml").read_text()
    (scene.watches / "a-copy.yaml").write_text(text)
    assert "declared twice: a-copy.yaml, over-purchase" in (scene.following().note() or "")


def test_a_copy_of_the_same_name_takes_nothing_over(scene: Scene) -> None:
    following = scene.following()
    before = following.now.watches["over-purchase"]
    text = (scene.watches / "over-purchase.yaml").read_text()
    (scene.watches / "a-copy.yaml").write_text(text.replace("severity: critical", "severity: info"))
    assert scene.settled(following)
    assert following.now.watches["over-purchase"] == before


names = st.sets(st.sampled_from("abc"))


@given(names, st.lists(st.tuples(names, st.floats(0, 200)), max_size=20))
def test_new_watches_are_expected_after_their_time(
    first: set[str], changes: list[tuple[set[str], float]]
) -> None:
    watched, now, there = Watched(first), 0.0, dict.fromkeys(first, -NEW_WATCH_SECONDS)
    assert set(watched.expected(now)) == first
    for wanted, seconds in changes:
        now += seconds
        assert watched.take(wanted, now) == set(there) - wanted
        there = {name: there.get(name, now) for name in wanted}
        assert set(watched.names()) == wanted
        old = {name for name, since in there.items() if now - since >= NEW_WATCH_SECONDS}
        assert set(watched.expected(now)) == old
