"""What can be found or read again once the ledger has forgotten it keeps the ledger as it is; and
whose times a stream is kept with.
"""

import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final
from unittest.mock import Mock, create_autospec

import pytest
from structlog.testing import capture_logs

from services.accountant.accounts import PUBLISHERS_TIMES, SHORT_RETENTION
from services.accountant.aside import REJECTED
from services.accountant.retention import SEGMENT_HOURS, Retention
from services.accountant.settings import AccountantSettings
from services.backbone.errors import NoTopic, Refused, Transient
from services.backbone.kafka.admin import Kept, TopicAdmin
from services.backbone.ledger.accounting.findings import Finding
from services.contracts.topics import ALERTS
from tests.streams import declare
from tests.unit.accountant.empty_ledger import EmptyLedger

DAYS: Final = 400.0
HOURS: Final = DAYS * 24
"""Of the ledger, as it is set where nobody says otherwise."""
FORBIDDEN: Final = Refused("topic trades: Kafka: not authorized")
UNKNOWN: Final = NoTopic("topic trades: Kafka: unknown")
Answer = float | Exception


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    declare(tmp_path, "trades", 168)
    return tmp_path


def brokers(
    kept: Mapping[str, Answer] | None = None, alerts: float = 168.0, times: Collection[str] = ()
) -> Mock:
    """Return brokers that say for how long records of streams' topics may be read, of which those
    in `times` have their publishers' times.
    """
    made: Mock = create_autospec(TopicAdmin, instance=True)
    made.partitions.return_value = {ALERTS: 1, REJECTED: 1}
    made.retention_hours.return_value = alerts
    answers = {} if kept is None else kept

    def readable(topic: str) -> float:
        answer = answers.get(topic, NoTopic(f"topic {topic}: Kafka: unknown"))
        if isinstance(answer, Exception):
            raise answer
        return answer

    def told(topic: str) -> Kept:
        readable(topic)
        return Kept(with_publishers_times=topic in times, message_limit_bytes=1)

    made.readable_hours.side_effect = readable
    made.kept.side_effect = told
    return made


def found_in(folder: Path, admin: Mock) -> list[Finding]:
    settings = AccountantSettings(streams_dir=folder, ledger_retention_days=DAYS)
    return Retention(settings, admin).found()


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
    found = found_in(folder, brokers({"trades": 24.0, "orders": kept_hours}))
    assert [(each.kind, each.subject) for each in found] == (
        [] if said is None else [(SHORT_RETENTION, "orders")]
    )
    assert said is None or f"keep this stream {said}, and a watch" in found[0].detail


def test_topics_with_their_publishers_times_are_found_until_the_brokers_stamp_them(
    folder: Path,
) -> None:
    kept = dict.fromkeys(["trades", "trades.heartbeat", "trades.rejected"], 24.0)
    found = found_in(folder, brokers(kept, times=kept))
    assert [(each.kind, each.subject) for each in found] == [
        (PUBLISHERS_TIMES, "trades"),
        (PUBLISHERS_TIMES, "trades.heartbeat"),
    ]
    assert "message.timestamp.type" in found[0].detail
    assert found_in(folder, brokers(kept)) == []


@pytest.mark.parametrize("untold", [FORBIDDEN, UNKNOWN])
def test_whose_times_a_topic_has_is_as_it_was_told_last(folder: Path, untold: Exception) -> None:
    answers: dict[str, Answer] = {"trades": untold}
    times = {"trades"}
    settings = AccountantSettings(streams_dir=folder)
    retention = Retention(settings, brokers(answers, times=times))
    found = [retention.found()]
    for answer in (24.0, untold):
        answers["trades"] = answer
        found.append(retention.found())
    times.clear()
    for answer in (24.0, untold):
        answers["trades"] = answer
        found.append(retention.found())
    assert [bool(each) for each in found] == [False, True, True, False, False]


@pytest.mark.parametrize("answer", [FORBIDDEN, UNKNOWN])
@pytest.mark.parametrize("declared", [int(HOURS - SEGMENT_HOURS) - 1, int(HOURS - SEGMENT_HOURS)])
def test_what_the_brokers_do_not_tell_counts_as_declared(
    folder: Path, answer: Exception, declared: int
) -> None:
    declare(folder, "trades", declared)
    found = found_in(folder, brokers({"trades": answer}))
    assert len(found) == (declared + SEGMENT_HOURS >= HOURS)


def test_a_stream_is_seen_when_it_is_declared_and_no_more_once_it_is_not(folder: Path) -> None:
    admin = brokers({"trades": 24.0, "orders": math.inf})
    retention = Retention(AccountantSettings(streams_dir=folder), admin)
    assert retention.found() == []
    declare(folder, "orders", 168)
    assert [each.subject for each in retention.found()] == ["orders"]
    (folder / "orders.yaml").unlink()
    assert retention.found() == []


def test_streams_that_cannot_be_read_are_found_and_alerts_asked_for_all_the_same(
    folder: Path,
) -> None:
    (folder / "trades.yaml").write_text("stream: [")
    alerts, streams = found_in(folder, brokers(alerts=math.inf))
    assert (alerts.subject, streams.subject) == (ALERTS, "streams")
    assert "the streams' files cannot be read: trades.yaml" in streams.detail


def test_brokers_that_are_away_tell_nothing(folder: Path) -> None:
    with pytest.raises(Transient, match="away"):
        found_in(folder, brokers({"trades": Transient("Kafka: away")}))
    without = brokers()
    without.partitions.return_value = {ALERTS: 1}
    with pytest.raises(Transient, match=r"topics are missing: alerts\.rejected"):
        found_in(folder, without)


@pytest.mark.parametrize("topic", ["trades", "trades.heartbeat"])
def test_what_is_not_told_is_logged_once_until_it_is_told(folder: Path, topic: str) -> None:
    answers: dict[str, Answer] = {}
    retention = Retention(AccountantSettings(streams_dir=folder), brokers(answers))
    said = []
    for answer in (FORBIDDEN, FORBIDDEN, 24.0, FORBIDDEN):
        answers[topic] = answer
        with capture_logs() as lines:
            retention.found()
        said.append([each["reason"] for each in lines])
    told = f"{FORBIDDEN}: allow DESCRIBE_CONFIGS of topic {topic} to this program"
    assert said == [[told], [], [], [told]]


@pytest.mark.parametrize("kinds", [[], [PUBLISHERS_TIMES], [PUBLISHERS_TIMES, SHORT_RETENTION]])
def test_a_turn_removes_nothing_while_something_is_kept_for_too_long(kinds: list[str]) -> None:
    ledger = EmptyLedger()
    found = [Finding(kind, "trades", "", "as it is kept") for kind in kinds]
    ledger.turns(AccountantSettings()).turn(found)
    assert ledger.pruning.prune.call_count == (SHORT_RETENTION not in kinds)
    assert ledger.findings.keep.call_args_list[0].args[0] == tuple(found)
