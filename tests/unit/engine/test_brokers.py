"""Questions to brokers share one client, which is closed whatever comes of them."""

from typing import Any
from unittest.mock import MagicMock

import pytest

from engine.brokers import asking, kept_offsets
from services.backbone.errors import Refused


@pytest.fixture
def java() -> Any:
    """Java, with brokers that answer anything."""
    return MagicMock()


def clients(java: Any) -> tuple[int, int]:
    """Return how many clients were opened, and how many closed."""
    create = java.org.apache.kafka.clients.admin.AdminClient.create
    return create.call_count, create.return_value.close.call_count


def test_one_client_answers_all_questions_and_is_closed(java: Any) -> None:
    spark = MagicMock(_jvm=java)
    with asking(spark, {}) as brokers:
        brokers.partition_counts(["one", "other"])
        brokers.with_publishers_times(["one", "other"])
        assert clients(java) == (1, 0)
    assert clients(java) == (1, 1)


def test_a_client_is_closed_where_what_is_told_is_refused(java: Any) -> None:
    with pytest.raises(Refused, match="too few slots"), asking(MagicMock(_jvm=java), {}):
        raise Refused("too few slots")
    assert clients(java) == (1, 1)


def test_a_level_that_the_client_does_not_know_is_named_with_those_it_does(java: Any) -> None:
    mistyped = {"isolation.level": "read_commited"}
    with pytest.raises(Refused, match=r"read_commited.* may be read_uncommitted"):
        kept_offsets(MagicMock(_jvm=java), mistyped, ["one"])
