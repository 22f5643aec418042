"""Changes are told once, and when they have settled: held against a plain model."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from services.backbone.clock import ManualClock
from services.backbone.settling import Settling
from services.contracts.declarations import digest_of

DELAY_SECONDS = 2.0
looks = st.lists(st.tuples(st.sampled_from("abc"), st.floats(0.01, 5)), max_size=30)


@given(looks)
@settings(deadline=None)
def test_what_settled_is_told_once(looks: list[tuple[str, float]]) -> None:
    """Before each look something is written, which may be the same, and time passes."""
    with TemporaryDirectory() as name:
        file = Path(name) / "one.yaml"
        file.write_text("a")
        clock = ManualClock()
        settling = Settling([file.parent], DELAY_SECONDS, clock, digest_of(file.parent))
        taken, seen, age = "a", "a", 0.0
        for text, seconds in looks:
            file.write_text(text)
            clock.move(seconds)
            age = 0.0 if text != seen else age + seconds
            seen = text
            expected = seen != taken and age >= DELAY_SECONDS
            assert settling.changed() == expected
            taken = seen if expected else taken


def test_a_change_taken_back_in_time_is_none(tmp_path: Path) -> None:
    clock = ManualClock()
    settling = Settling([tmp_path], DELAY_SECONDS, clock, digest_of(tmp_path))
    (tmp_path / "one.yaml").write_text("x")
    assert not settling.changed()
    (tmp_path / "one.yaml").unlink()
    for _ in range(3):
        clock.move(DELAY_SECONDS)
        assert not settling.changed()
