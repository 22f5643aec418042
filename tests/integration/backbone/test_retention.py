"""A stream's changed retention reaches its topics when a person says so, and not before."""

import math
from pathlib import Path

import pytest

from services.backbone.errors import NoTopic
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.producer import ProducerSettings
from services.contracts.topics import heartbeat, rejected
from services.machine.waiting import wait_until
from services.topics.__main__ import main
from tests.streams import declare
from tests.topic import configure, until_listed

pytestmark = pytest.mark.kafka


def test_a_changed_retention_is_set_where_a_person_says_so(
    kafka_bootstrap: str,
    stream: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    admin = TopicAdmin(ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap), "test")
    names = [stream, heartbeat(stream), rejected(stream)]

    declare(tmp_path, stream, 100)
    assert main(["--set-retention"]) == 1
    assert f"there is no topic {', '.join(names)}: make them first" in capsys.readouterr().err
    with pytest.raises(NoTopic, match=stream):
        admin.readable_hours(stream)
    assert main([]) == 0
    until_listed(admin, *names)
    declare(tmp_path, stream, 2)
    assert main([]) == 0
    assert [admin.retention_hours(name) for name in names] == [100.0] * 3
    assert admin.readable_hours(stream) == 100 + 168, "and as long as a segment may fill"
    configure(kafka_bootstrap, stream, "cleanup.policy", "compact")
    wait_until(lambda: admin.readable_hours(stream) == math.inf, 30, "it is compacted")
    configure(kafka_bootstrap, stream, "cleanup.policy", "delete")

    capsys.readouterr()
    assert main(["--set-retention"]) == 0
    # A broker answers for a moment with what it knew before.
    wait_until(
        lambda: [admin.retention_hours(name) for name in names] == [2.0] * 3, 30, "it is not set"
    )
    said = capsys.readouterr().out
    last = f"every topic of {stream} ({tmp_path}) is kept for as long as declared"
    changed = [f"{name}: kept for 2 h, was kept for 100 h" for name in names]
    assert said.splitlines() == [*changed, last]
    assert main(["--set-retention"]) == 0
    assert capsys.readouterr().out == f"{last}\n"
