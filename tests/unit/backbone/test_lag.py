"""How far groups are behind, from what the brokers say."""

from hypothesis import given
from hypothesis import strategies as st

from services.backbone.kafka.lag import (
    GROUPS_LIMIT,
    Group,
    Lag,
    Place,
    beyond,
    lags,
    shown,
    with_forgotten,
)

PLACES = st.tuples(st.sampled_from(["one", "two"]), st.integers(0, 3))
OFFSETS = st.dictionaries(PLACES, st.integers(0, 1000))


@given(OFFSETS, OFFSETS, st.booleans())
def test_lag_is_what_lies_between_settled_and_end(
    settled: dict[Place, int], ends: dict[Place, int], has_members: bool
) -> None:
    group = Group("g", has_members, settled)
    begins = {place: ends[place] // 2 for place in beyond([group], ends)}
    expected: dict[str, Lag] = {}
    for place, offset in settled.items():
        if place in ends:
            of = expected.get(place[0], Lag("g", place[0], 0, has_members))
            behind = ends[place] - min(offset, begins.get(place, offset))
            made_again = of.made_again or offset > ends[place]
            expected[place[0]] = Lag(
                "g", place[0], of.records + behind, has_members, made_again=made_again
            )
    assert lags([group], ends, begins) == tuple(expected[topic] for topic in sorted(expected))


def test_of_a_topic_made_again_all_that_is_there_counts() -> None:
    """A member of before may settle what it read of the other one, once more."""
    settled = Group("deliverer-sms", True, {("deliveries.sms", 0): 20})
    ends, begins = {("deliveries.sms", 0): 5}, {("deliveries.sms", 0): 2}
    assert lags([settled], ends, begins) == (
        Lag("deliverer-sms", "deliveries.sms", 3, has_members=True, made_again=True),
    )


def test_a_topic_that_is_gone_has_no_lag_and_hides_no_other() -> None:
    group = Group("g", True, {("gone", 0): 20, ("t", 0): 1})
    assert lags([group], {("t", 0): 3}, {}) == (Lag("g", "t", 2, has_members=True),)


def test_what_was_settled_before_a_topic_was_made_again_is_added() -> None:
    forgotten = {("lookout", "alerts"), ("gone", "alerts")}
    known = [Group("lookout", True, {("other", 0): 4})]
    found = with_forgotten(known, forgotten, {"alerts": 2})
    told = lags(found, {("alerts", 0): 3, ("alerts", 1): 4, ("other", 0): 4}, {("alerts", 0): 1})
    assert told == (
        Lag("gone", "alerts", 2, has_members=False, made_again=True),
        Lag("lookout", "alerts", 2, has_members=True, made_again=True),
        Lag("lookout", "other", 0, has_members=True),
    )


def test_groups_stand_by_name() -> None:
    groups = [Group(name, True, {("t", 0): 1}) for name in "cab"]
    assert [each.group for each in lags(groups, {("t", 0): 3}, {})] == ["a", "b", "c"]


def test_strangers_take_no_place_and_what_is_left_out_is_counted() -> None:
    ours = [Group(f"own-{n:03}", True, {("t", 0): n, ("x", 0): 1}) for n in range(GROUPS_LIMIT + 3)]
    strangers = [Group(f"any-{n:03}", False, {("x", 0): 1}) for n in range(GROUPS_LIMIT)]
    found, left_out = shown([*reversed(ours), *strangers], lambda topic: topic == "t")
    assert found == [Group(each.name, True, {("t", 0): n}) for n, each in enumerate(ours)][:-3]
    assert left_out == 3
