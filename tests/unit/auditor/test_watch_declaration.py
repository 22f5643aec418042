"""A watch's YAML file: what it may say, and how clearly a wrong one is refused."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from auditor.queries.guards import check_sql
from services.contracts.declarations import BadDeclaration
from services.contracts.durations import milliseconds, resolve
from services.contracts.streams import load_streams
from services.contracts.watches import SHIPPED_WATCHES, load_watch, load_watches
from tests.unit.auditor.batches import example_of_the_page

NIGHT = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)

GOOD: dict[str, Any] = {
    "watch": "hot",
    "version": 1,
    "description": "A machine is hot.",
    "streams": ["trades"],
    "durations": {"span": "10 minutes", "twice": "span + span"},
    "parameters": {"limit": 80},
    "sql": "SELECT client, max(appended_at) AS appended_at FROM trades GROUP BY client",
    "key": ["client"],
    "severity": "warning",
    "summary": "{client} is hot",
    "rule": "No machine is hot.",
}


def written(folder: Path, **changes: Any) -> Path:
    path = folder / "hot.yaml"
    path.write_text(yaml.safe_dump(GOOD | changes, sort_keys=False))
    return path


def test_shipped_watches_fit_the_shipped_streams() -> None:
    streams = load_streams()
    for watch in load_watches(SHIPPED_WATCHES).values():
        watch.check_streams(streams)
        for stream, event in watch.beat_events("~beat-1"):
            assert str(event[streams[stream].key]).startswith("~beat-1")


def test_the_documents_example_is_a_watch(tmp_path: Path) -> None:
    watch = load_watch(example_of_the_page(tmp_path))
    watch.check_streams(load_streams())
    check_sql(watch)


def test_durations_give_a_text_and_a_number(tmp_path: Path) -> None:
    arguments = load_watch(written(tmp_path)).arguments()
    assert arguments == {
        "span": "600000 milliseconds",
        "span_ms": 600_000,
        "twice": "1200000 milliseconds",
        "twice_ms": 1_200_000,
        "limit": 80,
    }


WRONG = [
    ({"unknown": 1}, "unknown"),
    ({"watch": "No Name"}, "watch"),
    ({"version": 2}, "version"),
    ({"streams": []}, "streams"),
    ({"streams": ["trades", "trades"]}, "named twice: trades"),
    ({"key": []}, "key"),
    ({"key": ["a b"]}, "key"),
    ({"severity": "loud"}, "severity"),
    ({"summary": "{client"}, "summary"),
    ({"summary": "{client.name}"}, "column's name only"),
    ({"summary": "{client:.1f}"}, "column's name only, not {client:.1f}: round it in the SQL"),
    ({"summary": "{client!r:>9}"}, "column's name only, not {client!r:>9}: round it in the SQL"),
    ({"key": "client"}, "key: write a list, as [a] or [a, b]"),
    ({"streams": "trades"}, "streams: write a list, as [a] or [a, b]"),
    ({"parameters": {"limit": date(2026, 11, 21)}}, "limit: Value error, put a date or time in"),
    ({"parameters": {"limit": [1, 2]}}, "limit: Value error, write a text, a number, true or"),
    (
        {"heartbeat": {"events": [{"stream": "trades", "event": {"a": NIGHT}}]}},
        "event.a: Value error, put a date or time in quotes",
    ),
    ({"summary": "{{ client }} is hot"}, "with single braces, not {{ client }}"),
    ({"summary": "hot: {{client}}"}, "with single braces, not {{client}}"),
    ({"summary": "{{ alert.key.client }}"}, "with single braces, not {{ alert.key.client }}"),
    ({"summary": "{{ client | upper }}"}, "with single braces, not {{ client | upper }}"),
    ({"sql": "x" * 70_000}, "sql"),
    ({"watermark": "soon"}, "not a span of time"),
    ({"durations": {"span": "10 fortnights"}}, "not a span of time"),
    ({"durations": {"span": "later + later"}}, "not a span of time"),
    ({"durations": {"a": "b", "b": "a + 1 day"}}, "a -> b -> a: a span cannot contain itself"),
    ({"durations": {"limit": "1 day"}}, "named by a duration and a parameter: limit"),
    ({"parameters": {"limit": 2**63}}, "parameters.limit: Value error, a whole number has at most"),
    ({"parameters": {"limit": -(2**63) - 1}}, "a whole number has at most 64 bits"),
    ({"heartbeat": {"events": [{"stream": "other", "event": {"a": 1}}]}}, "not among the watch's"),
]


@pytest.mark.parametrize(("changes", "said"), WRONG)
def test_wrong_file_is_refused_with_its_place(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadDeclaration, match=r"hot\.yaml, lines? [\d, ]+: ") as refused:
        load_watch(written(tmp_path, **changes))
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "summary", ["{{{client}}}", '{{"n": "{client}"}}', "{{}} {{{{ client }}}}"]
)
def test_a_summary_may_have_braces(tmp_path: Path, summary: str) -> None:
    assert load_watch(written(tmp_path, summary=summary)).summary == summary


@pytest.mark.parametrize("limit", [2**63 - 1, -(2**63), 1e20, True, "1"])
def test_parameters_are_what_is_written(tmp_path: Path, limit: object) -> None:
    found = load_watch(written(tmp_path, parameters={"limit": limit})).parameters["limit"]
    assert (found, type(found)) == (limit, type(limit))


def test_refusal_names_the_line(tmp_path: Path) -> None:
    path = written(tmp_path, severity="loud")
    line = path.read_text().splitlines().index("severity: loud") + 1
    with pytest.raises(BadDeclaration, match=f"line {line}: "):
        load_watch(path)


@pytest.mark.parametrize("text", ["", "[", "- 1", "\x00", "watch: &a [*a]", "a" * 300_000])
def test_text_that_is_no_watch_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "hot.yaml").write_text(text)
    with pytest.raises(BadDeclaration, match=r"hot\.yaml"):
        load_watch(tmp_path / "hot.yaml")


def test_same_name_twice_is_refused(tmp_path: Path) -> None:
    written(tmp_path).rename(tmp_path / "first.yaml")
    written(tmp_path)
    with pytest.raises(BadDeclaration, match="declared twice"):
        load_watches(tmp_path)


def test_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadDeclaration, match="no watch is declared"):
        load_watches(tmp_path)


BEAT = {"kind": "request", "order_id": "$beat", "shares": 1, "client": "x", "stock": "y"}


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (BEAT, "event_id: Field required"),
        (BEAT | {"event_id": "e", "order_id": "fixed"}, "need $beat at the start of their key"),
        (BEAT | {"event_id": "e", "order_id": "x-$beat"}, "need $beat at the start of their key"),
        (BEAT | {"event_id": "$beat" + "e" * 110}, "event_id: String should have at most"),
        (BEAT | {"event_id": "e", "shares": 0}, "shares"),
    ],
)
def test_heartbeat_must_be_an_event_of_its_stream(
    tmp_path: Path, event: dict[str, Any], said: str
) -> None:
    beat = {"events": [{"stream": "trades", "event": event}]}
    watch = load_watch(written(tmp_path, heartbeat=beat))
    with pytest.raises(BadDeclaration) as refused:
        watch.check_streams(load_streams())
    assert said in str(refused.value)


def test_undeclared_stream_is_refused(tmp_path: Path) -> None:
    watch = load_watch(written(tmp_path, streams=["quotes"]))
    with pytest.raises(BadDeclaration, match=r"not declared: quotes; declared are: .*trades"):
        watch.check_streams(load_streams())


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=5))
def test_sums_of_spans(parts: list[int]) -> None:
    text = " + ".join(f"{part} seconds" for part in parts)
    assert resolve({"whole": text}) == {"whole": sum(parts) * 1000}


def test_spans_may_stand_in_any_order() -> None:
    assert resolve({"a": "b + b", "b": "c + 1 second", "c": "1 second"})["a"] == 4000


def test_each_span_of_a_long_chain_of_sums_is_added_up_once() -> None:
    doubled = {f"d{i}": f"d{i + 1} + d{i + 1}" for i in range(38)}
    assert resolve(doubled | {"d38": "1 millisecond"})["d0"] == 2**38


@pytest.mark.parametrize("text", ["0 seconds", "4000 days", "1.5 hours", "-1 day", "day", "1day"])
def test_spans_out_of_range_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"span of time|is not between"):
        milliseconds(text)
