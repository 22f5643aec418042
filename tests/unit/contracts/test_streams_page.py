"""docs/streams.md shows the example's files as they are, and says what the code says."""

import re
import shutil
from pathlib import Path

import pytest

from services.contracts.declarations import BadDeclaration
from services.contracts.events import Event, EventReader, Invalid
from services.contracts.streams import SHIPPED_STREAMS, load_stream, load_streams, stream_topics
from services.contracts.watches import load_watch
from services.topics.__main__ import TopicsSettings, declared_topics
from tests.unit.servers import PAGE, SENT, STREAM_FILE, STREAMS, WATCH_FILE

STREAM = STREAM_FILE.read_text("utf-8")
WRONG = [
    ("stream: server_metrics", "stream: alerts"),
    ("key: host", "key: hostname"),
    ("key: host", "key: cpu"),
    ("cpu:         {type: double", "cpu:         {type: number"),
    ("cpu:         {type: double", "cpu:         {type: double, enum: [low, high]"),
    ("enum: [eu, us, unknown]", "minimum: 1"),
    ("partitions: 2", "partitions: 0"),
    ("version: 1\n", "version: 1\ncolour: red\n"),
    ("region, value: unknown", "region"),
    ("partitions: 2\n", "partitions: 2\npartitions: 4\n"),
    ('"hostname": host', "region: host"),
    ("  measured_at:", "  date:"),
    ("region, value: unknown", "region, value: mars"),
    ("service, copy: host", "service, copy: cpu"),
]


def is_on_the_page(said: object) -> bool:
    return f"\n{said}\n" in PAGE


def test_the_files_stand_there_as_they_are() -> None:
    shown = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert shown == [STREAM, WATCH_FILE.read_text("utf-8")]


def test_what_is_sent_is_taken_and_the_wrong_one_is_answered_as_shown() -> None:
    reader = EventReader(STREAMS["server_metrics"])
    *good, bad = [reader.read(each) for each in SENT]
    assert all(isinstance(each, Event) and each.key == "web-1" for each in good)
    assert isinstance(bad, Invalid)
    assert f'"reason":"{bad.reason}","detail":"{bad.detail}"' in PAGE


def test_numbers_that_are_not_declared_become_what_is_shown() -> None:
    shown = re.findall(r"`([\d.]+)` becomes `([\d.e+]+)`", PAGE)
    assert len(shown) == 2
    for sent, kept in shown:
        event = b'{"id": "r", "hostname": "web-1", "cpu.percent": 9, "x": %b}' % sent.encode()
        answer = EventReader(STREAMS["server_metrics"]).read(event)
        assert isinstance(answer, Event)
        assert f'"x":{kept}' in answer.value.decode()


def test_what_is_not_guessed_is_refused_as_shown() -> None:
    purchase = {"id": "P-1", "orderId": "R-1", "shares": 120, "client": "c", "stock": "s"}
    answer = EventReader(load_streams()["trades"]).take(purchase)
    assert isinstance(answer, Invalid)
    assert is_on_the_page(answer.detail), answer.detail


@pytest.mark.parametrize(("before", "after"), WRONG)
def test_a_wrong_file_says_what_is_shown(tmp_path: Path, before: str, after: str) -> None:
    assert STREAM.count(before) == 1
    path = tmp_path / STREAM_FILE.name
    path.write_text(STREAM.replace(before, after))
    with pytest.raises(BadDeclaration) as refused:
        load_stream(path)
    assert is_on_the_page(refused.value), refused.value


def test_a_wrong_folder_says_what_is_shown(tmp_path: Path) -> None:
    with pytest.raises(BadDeclaration) as none:
        load_streams(tmp_path)
    assert is_on_the_page(str(none.value).replace(str(tmp_path), "mine/streams"))
    for name in ("copy.yaml", STREAM_FILE.name):
        (tmp_path / name).write_text(STREAM)
    with pytest.raises(BadDeclaration) as twice:
        load_streams(tmp_path)
    assert is_on_the_page(twice.value), twice.value


def test_what_does_not_fit_says_what_is_shown() -> None:
    with pytest.raises(BadDeclaration) as unknown:
        load_watch(WATCH_FILE).check_streams(load_streams())
    assert is_on_the_page(unknown.value), unknown.value


def test_topics_are_counted_as_shown(tmp_path: Path) -> None:
    for folder in (SHIPPED_STREAMS, STREAM_FILE.parent):
        shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    topics = declared_topics(TopicsSettings(streams_dir=tmp_path))
    own = [topic.name for topic in stream_topics(STREAMS["server_metrics"])]
    assert is_on_the_page(f"{len(topics)} topics declared, changed: {', '.join(own)}")
