"""What can be found or read again once the ledger has forgotten it keeps the ledger as it is."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from unittest.mock import Mock, create_autospec

import pytest
from structlog.testing import capture_logs

from services.accountant.accounts import SHORT_RETENTION
from services.accountant.aside import REJECTED
from services.accountant.retention import SEGMENT_HOURS, Retention
from services.accountant.settings import AccountantSettings
from services.backbone.errors import NoTopic, Refused, Transient
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.ledger.accounting.findings import Finding
from services.contracts.topics import ALERTS
from tests.streams import declare
from tests.unit.accountant.empty_ledger import EmptyLedger

DAYS: Final = 400.0
HOURS: Final = DAYS * 24
"""Of the ledger, as it is set where nobody says otherwise."""
FORBIDDEN: Final = Refused("topic trades: Kafka: not authorized")
Answer = float | Exception


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    declare(tmp_path, "trades", 168)
    return tmp_path


def brokers(kept: Mapping[str, Answer] | None = None, alerts: float = 168.0) -> Mock:
    """Return brokers that say for how long records of streams' topics may be read."""
    made: Mock = create_autospec(TopicAdmin, instance=True)
    made.partitions.return_value = {ALERTS: 1, REJECTED: 1}
    made.retention_hours.return_value = alerts
    answers = {} if kept is None else kept

    def readable(topic: str) -> float:
        answer = answers.get(topic, NoTopic(f"topic {topic}: Kafka: unknown"))
        if isinstance(answer, Exception):
            raise answer
        return answer

    made.readable_hours.side_effect = readable
    return made


def short(folder: Path, admin: Mock) -> list[Finding]:
    settings = AccountantSettings(streams_dir=folder, ledger_retention_days=DAYS)
    return Retention(settings, admin).short()


@pytest.mark.parametrize(
    ("kept_hours", "said"),
    [
        (HOURS - 0.1, None),
        (HOURS, "for up to 9600 h"),
        (10_000.0, "for up to 10000 h"),
        (math.inf, "without limit"),
    ],
)
def test_a_stream_that_is_kept_for_as_long_as_the_ledger_is_found(
    folder: Path, kept_hours: float, said: str | None
) -> None:
    declare(folder, "orders", 168)
    found = short(folder, brokers({"trades": 24.0, "orders": kept_hours}))
    assert [(each.kind, each.subject) for each in found] == (
        [] if said is None else [(SHORT_RETENTION, "orders")]
    )
    assert said is None or f"keep this stream {said}, and a watch" in found[0].detail


@pytest.mark.parametrize("answer", [FORBIDDEN, NoTopic("topic trades: Kafka: unknown")])
@pytest.mark.parametrize("declared", [int(HOURS - SEGMENT_HOURS) - 1, int(HOURS - SEGMENT_HOURS)])
def test_what_the_brokers_do_not_tell_counts_as_declared(
    folder: Path, answer: Exception, declared: int
) -> None:
    declare(folder, "trades", declared)
    found = short(folder, brokers({"trades": answer}))
    assert len(found) == (declared + SEGMENT_HOURS >= HOURS)


def test_a_stream_is_seen_when_it_is_declared_and_no_more_once_it_is_not(folder: Path) -> None:
    admin = brokers({"trades": 24.0, "orders": math.inf})
    retention = Retention(AccountantSettings(streams_dir=folder), admin)
    assert retention.short() == []
    declare(folder, "orders", 168)
    assert [each.subject for each in retention.short()] == ["orders"]
    (folder / "orders.yaml").unlink()
    assert retention.short() == []


def test_streams_that_cannot_be_read_are_found_and_alerts_asked_for_all_the_same(
    folder: Path,
) -> None:
    (folder / "trades.yaml").write_text("stream: [")
    alerts, streams = short(folder, brokers(alerts=math.inf))
    assert (alerts.subject, streams.subject) == (ALERTS, "streams")
    assert "the streams' files cannot be read: trades.yaml" in streams.detail


def test_brokers_that_are_away_tell_nothing(folder: Path) -> None:
    with pytest.raises(Transient, match="away"):
        short(folder, brokers({"trades": Transient("Kafka: away")}))
    without = brokers()
    without.partitions.return_value = {ALERTS: 1}
    with pytest.raises(Transient, match=r"topics are missing: alerts\.rejected"):
        short(folder, without)


def test_what_is_not_told_is_logged_once_until_it_is_told(folder: Path) -> None:
    answers: dict[str, Answer] = {}
    retention = Retention(AccountantSettings(streams_dir=folder), brokers(answers))
    said = []
    for answer in (FORBIDDEN, FORBIDDEN, 24.0, FORBIDDEN):
        answers["trades"] = answer
        with capture_logs() as lines:
            retention.short()
        said.append([each["reason"] for each in lines])
    told = f"{FORBIDDEN}: allow DESCRIBE_CONFIGS of topic trades to this program"
    assert said == [[told], [], [], [told]]


@pytest.mark.parametrize("is_short", [False, True])
def test_a_turn_removes_nothing_while_something_is_kept_for_too_long(is_short: bool) -> None:
    ledger = EmptyLedger()
    found = [Finding(SHORT_RETENTION, "trades", "", "kept without limit")] if is_short else []
    ledger.turns(AccountantSettings()).turn(found)
    assert ledger.pruning.prune.call_count == (not is_short)
    assert ledger.findings.keep.call_args_list[0].args[0] == tuple(found)
