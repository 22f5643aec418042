"""Groups that have settled nothing of a topic since it was made again."""

from services.backbone.kafka.made_again import MadeAgain

SETTLED = {("lookout", "alerts"), ("lookout", "other")}
FIRST = {"alerts": "a1", "other": "o1"}
AGAIN = {"alerts": "a2", "other": "o1"}


def heard() -> MadeAgain:
    """Return one that knows of both topics, and of nothing amiss."""
    made = MadeAgain()
    assert made.forgotten(SETTLED, FIRST) == set()
    assert made.topics() == {"alerts", "other"}
    return made


def test_what_brokers_forget_with_a_topic_is_told_until_something_is_settled_anew() -> None:
    made, left = heard(), {("lookout", "other")}
    assert made.forgotten(left, {"other": "o1"}) == set(), "it is gone, and has no records"
    assert "alerts" in made.topics()
    for _ in range(2):
        assert made.forgotten(left, AGAIN) == {("lookout", "alerts")}
    assert made.forgotten(SETTLED, AGAIN) == set()
    assert made.forgotten(left, AGAIN) == set(), "a group's own doing"


def test_what_is_still_told_of_the_topic_before_hides_it_for_one_look_only() -> None:
    made = heard()
    assert made.forgotten(SETTLED, AGAIN) == set()
    assert made.forgotten({("lookout", "other")}, AGAIN) == {("lookout", "alerts")}


def test_a_group_that_is_gone_while_its_topic_stays_is_not_told() -> None:
    made = heard()
    assert made.forgotten({("lookout", "other")}, FIRST) == set()
    assert made.topics() == {"other"}
