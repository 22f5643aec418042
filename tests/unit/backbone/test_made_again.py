"""Groups that have settled nothing of a topic since it was made again."""

from services.backbone.kafka.made_again import NOTHING, MadeAgain

SETTLED = {("lookout", "alerts"), ("lookout", "other")}
FIRST = {"alerts": "a1", "other": "o1"}
AGAIN = {"alerts": "a2", "other": "o1"}


LEFT = {("lookout", "other")}
FORGOTTEN = {("lookout", "alerts")}


def heard() -> MadeAgain:
    """Return one that knows of both topics, and of nothing amiss."""
    made = NOTHING.heard(SETTLED, FIRST)
    assert made.forgotten == set()
    assert made.topics() == {"alerts", "other"}
    return made


def test_what_brokers_forget_with_a_topic_is_told_until_something_is_settled_anew() -> None:
    made = heard().heard(LEFT, {"other": "o1"})
    assert made.forgotten == set(), "it is gone, and has no records"
    assert "alerts" in made.topics()
    for _ in range(2):
        made = made.heard(LEFT, AGAIN)
        assert made.forgotten == FORGOTTEN
    made = made.heard(SETTLED, AGAIN)
    assert made.forgotten == set()
    assert made.heard(LEFT, AGAIN).forgotten == set(), "a group's own doing"


def test_what_is_still_told_of_the_topic_before_hides_it_for_one_look_only() -> None:
    made = heard().heard(SETTLED, AGAIN)
    assert made.forgotten - SETTLED == set()
    assert made.heard(LEFT, AGAIN).forgotten == FORGOTTEN


def test_a_group_that_is_gone_while_its_topic_stays_is_not_told() -> None:
    made = heard().heard(LEFT, FIRST)
    assert made.forgotten == set()
    assert made.topics() == {"other"}
