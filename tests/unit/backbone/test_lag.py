"""How far groups are behind, from what the brokers say."""

from hypothesis import given
from hypothesis import strategies as st

from services.backbone.kafka.lag import GROUPS_LIMIT, Group, Lag, Place, lags, shown

PLACES = st.tuples(st.sampled_from(["one", "two"]), st.integers(0, 3))
OFFSETS = st.dictionaries(PLACES, st.integers(0, 1000))


@given(OFFSETS, OFFSETS, st.booleans())
def test_lag_is_what_lies_between_settled_and_end(
    settled: dict[Place, int], ends: dict[Place, int], has_members: bool
) -> None:
    told = lags([Group("g", has_members, settled)], ends)
    expected: dict[str, int] = {}
    for place, offset in settled.items():
        behind = max(0, ends.get(place, 0) - offset)
        expected[place[0]] = expected.get(place[0], 0) + behind
    assert told == tuple(
        Lag("g", topic, records, has_members) for topic, records in sorted(expected.items())
    )


def test_groups_stand_by_name() -> None:
    groups = [Group(name, True, {("t", 0): 1}) for name in "cab"]
    assert [each.group for each in lags(groups, {("t", 0): 3})] == ["a", "b", "c"]


def test_strangers_take_no_place_and_what_is_left_out_is_counted() -> None:
    ours = [Group(f"own-{n:03}", True, {("t", 0): n, ("x", 0): 1}) for n in range(GROUPS_LIMIT + 3)]
    strangers = [Group(f"any-{n:03}", False, {("x", 0): 1}) for n in range(GROUPS_LIMIT)]
    found, left_out = shown([*reversed(ours), *strangers], lambda topic: topic == "t")
    assert found == [Group(each.name, True, {("t", 0): n}) for n, each in enumerate(ours)][:-3]
    assert left_out == 3
