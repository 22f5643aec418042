"""The far ends of the channels: each has one, and what comes is noted once, when it does."""

import argparse
import asyncio
import ssl
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from services.deliverer.channels.push.notification import headers
from services.deliverer.wiring import channel_names
from services.machine.ports import free_ports
from services.machine.problems import MachineProblem
from services.machine.servers import rabbitmq
from tests.bench.delivering.far_ends import FAR_ENDS
from tests.bench.delivering.first_byte import FirstByteRow
from tests.bench.delivering.receivers import Seen, Site
from tests.bench.delivering.receivers.__main__ import TAKING
from tests.bench.delivering.receivers.push import taking_pushes
from tests.bench.percentiles import summary
from tests.bench.report import Report
from tests.bench.sections import delivering
from tests.bench.sections.course import Course
from tests.unit.deliverer.builders import delivery


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(free_ports(1)[0], tmp_path, "127.0.0.1:1")


def test_each_channel_has_a_far_end() -> None:
    assert set(FAR_ENDS) == set(TAKING) == set(channel_names())


def deliverer(site: Site) -> httpx2.AsyncClient:
    told = FAR_ENDS["push"](site).settings
    trusting = ssl.create_default_context(cafile=told["ALDEBARAN_PUSH_CA_FILE"])
    url = told["ALDEBARAN_PUSH_URL"]
    return httpx2.AsyncClient(http1=False, http2=True, verify=trusting, base_url=url)


async def test_pushes_beside_each_other_on_a_connection_are_noted_once_each(site: Site) -> None:
    sent = [delivery(number, "push") for number in range(20)]
    seen: Seen = {}
    async with taking_pushes(site, seen), deliverer(site) as client:
        begun = time.monotonic_ns()
        pushes = [client.post("/3/device/x", headers=headers(each, "topic", 0)) for each in sent]
        answers = await asyncio.gather(*pushes)
    assert {each.status_code for each in answers} == {200}
    assert set(seen) == {each.delivery_id for each in sent}
    (times,) = zip(*seen.values(), strict=True)
    assert begun < min(times)
    assert max(times) < time.monotonic_ns()


async def test_a_push_is_noted_before_it_is_whole_and_answered_when_it_is(site: Site) -> None:
    one = delivery(1, "push")
    seen: Seen = {}
    body_ns = []

    async def slowly() -> AsyncIterator[bytes]:
        while one.delivery_id not in seen:
            await asyncio.sleep(0.001)
        body_ns.append(time.monotonic_ns())
        yield b"{}"

    async with taking_pushes(site, seen), deliverer(site) as client:
        told = headers(one, "topic", 0)
        answer = await client.post("/3/device/x", headers=told, content=slowly())
    assert answer.status_code == 200
    assert len(seen[one.delivery_id]) == len(body_ns) == 1
    assert seen[one.delivery_id] < body_ns


def test_a_row_without_its_server_is_left_out_and_told(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> Path:
        raise MachineProblem(rabbitmq.MISSING)

    def measured(channel: str, *_: object) -> FirstByteRow:
        FAR_ENDS[channel](site)
        return FirstByteRow(channel, 100, 1, 0, 0, summary([1]))

    monkeypatch.setattr(rabbitmq, "find_server", missing)
    monkeypatch.setattr(delivering, "measure_first_byte", measured)
    report, folder = Report(), site.folder / "report"
    told = argparse.Namespace(
        channels=["webhook", "rabbitmq", "bus"],
        programs_each=[1],
        first_byte_seconds=1.0,
        report=folder,
    )
    for _ in range(2):
        delivering.first_bytes(report, Course(told, resumes=False, until_seconds=1e12))
    assert [each.channel for each in report.first_bytes] == ["webhook", "bus"]
    (skipped,) = report.skipped["first_bytes"]
    assert skipped.engine == "rabbitmq"
    assert "apt-get install rabbitmq-server" in skipped.reason
    assert f"Not measured: rabbitmq: {skipped.reason}" in (folder / "bench.md").read_text()
