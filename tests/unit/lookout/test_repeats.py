"""The bounded memory of settled alerts against a plain list."""

from hypothesis import given
from hypothesis import strategies as st

from services.lookout.intake.repeats import SettledAlerts


@given(st.integers(1, 5), st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=4)))
def test_it_remembers_exactly_the_most_recent(limit: int, batches: list[list[str]]) -> None:
    settled = SettledAlerts(limit)
    model: list[str] = []
    for batch in batches:
        settled.add(batch)
        for each in batch:
            model = [other for other in model if other != each] + [each]
        model = model[-limit:]
        assert len(settled) == len(model)
        assert {each for each in model if each in settled} == set(model)
        model = [each for each in model]
        assert not any(each in settled for each in set("abcdefgh") - set(model))


def test_what_is_asked_for_again_is_forgotten_last() -> None:
    settled = SettledAlerts(2)
    settled.add(["a", "b"])
    assert "a" in settled
    settled.add(["c"])
    assert "b" not in settled
    assert "a" in settled
