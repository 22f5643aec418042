"""Declared streams: wrong files are refused with a reason, right ones give both schemas."""

import json
import math
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from services.contracts.declarations import AS_IT_RAN, BadDeclaration
from services.contracts.events import EVENT_LIMIT_BYTES, Event, EventReader, Invalid
from services.contracts.streams import (
    StreamDeclaration,
    load_stream,
    load_streams,
    stream_topics,
)
from services.contracts.topics import Topic, core_topics

GOOD = {
    "stream": "readings",
    "version": 1,
    "description": "test",
    "key": "host",
    "fields": {"host": {"type": "string", "max_length": 8}, "load": {"type": "double"}},
}


def declared(folder: Path, **changes: object) -> Path:
    path = folder / "readings.yaml"
    path.write_text(yaml.safe_dump(GOOD | changes))
    return path


def field(**more: dict[str, object]) -> dict[str, object]:
    return {"fields": {"host": {"type": "string"}} | more}


def default(name: str, value: str) -> dict[str, object]:
    return {"defaults": [{"field": name, "value": value}]}


def copied(name: str, source: str) -> dict[str, object]:
    return {"defaults": [{"field": name, "copy": source}]}


def long(**bounds: float) -> dict[str, object]:
    return field(n={"type": "long", **bounds})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stream": "accounts"}, "stream: .*topic accounts is Aldebaran's own"),
        ({"key": "nobody"}, "not among the declared fields: nobody"),
        ({"key": "load"}, "the key load must be a required string"),
        ({"aliases": {"x": "y"}}, "not among the declared fields: y"),
        ({"aliases": {"load": "host"}}, "aliases: .*a field of its own: load; leave out the alias"),
        ({"partitions": 0}, "partitions: Input should be greater than"),
        ({"colour": "red"}, "colour: Extra inputs are not permitted"),
        ({"fields": {"host": {"type": "text"}}}, "fields.host.type"),
        (field(date={"type": "string"}), "fields.date.*: .*date is a column of Aldebaran's own"),
        (field(appended_at={"type": "timestamp"}), "appended_at is a column of Aldebaran's own"),
        ({"defaults": [{"field": "host"}]}, "either a value or a field to copy"),
        (
            {"fields": {"host": {"type": "string"}, "n": {"type": "long", "maximum": math.inf}}},
            "fields.n.maximum: Input should be a finite number",
        ),
        (
            field(region={"type": "string", "enum": ["eu", "us"]}) | default("region", "mars"),
            "defaults: .*region: Input should be 'eu' or 'us'",
        ),
        (long() | default("n", "5"), "defaults: .*n: Input should be a valid integer"),
        (
            long(required=False) | default("n", "5"),
            "defaults: .*n: Input should be a valid integer",
        ),
        (default("host", "too long a name"), "defaults: .*host: String should have at most 8"),
        (
            field(load={"type": "double"}) | copied("host", "load"),
            "defaults: .*host is a string, load a double: one cannot be copied into the other",
        ),
        (
            field(ok={"type": "boolean"}, n={"type": "long"}) | copied("ok", "n"),
            "defaults: .*ok is a boolean, n a long: one cannot be",
        ),
        (default("nobody", "x"), "not among the declared fields: nobody"),
        (long(minimum=0.5), "fields.n: .*a long are whole numbers of at most 64 bits"),
        (long(maximum=2**63), "fields.n: .*a long are whole numbers of at most 64 bits"),
        (long(minimum=-1e19), "fields.n: .*a long are whole numbers of at most 64 bits"),
        (long(minimum=5, maximum=1), "fields.n: .*no value is from minimum 5 to maximum 1"),
        (long(minimum=2**60), f"fields.n: .*no value is from minimum {2**60} to maximum {2**53}"),
    ],
)
def test_a_wrong_declaration_is_refused_with_file_and_reason(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(BadDeclaration, match=r"readings\.yaml, lines? [\d, ]+: .*" + message):
        load_stream(declared(tmp_path, **changes))


def test_an_alias_may_be_spelled_like_the_field_that_it_stands_for(tmp_path: Path) -> None:
    aliases = {"load": "load", "LOAD": "load"}
    reader = EventReader(load_stream(declared(tmp_path, aliases=aliases)))
    assert isinstance(reader.take({"host": "a", "LOAD": 1.5}), Event)
    assert isinstance(reader.take({"host": "a", "load": 1.5}), Event)


def test_what_its_field_takes_fills_it(tmp_path: Path) -> None:
    fields = field(at={"type": "timestamp"}, zone={"type": "string", "enum": ["eu"]})
    time = "2026-11-21T09:30:00Z"
    rules = [{"field": "at", "value": time}, {"field": "zone", "value": "eu"}]
    reader = EventReader(load_stream(declared(tmp_path, **fields, defaults=rules)))
    event = reader.take({"host": "a"})
    assert isinstance(event, Event)
    assert json.loads(event.value) == {"host": "a", "at": time, "zone": "eu"}


def test_what_may_fit_is_copied(tmp_path: Path) -> None:
    fields = field(at={"type": "timestamp"}, n={"type": "long"}, load={"type": "double"})
    rules = [{"field": "host", "copy": "at"}, {"field": "n", "copy": "load"}]
    reader = EventReader(load_stream(declared(tmp_path, **fields, defaults=rules)))
    assert isinstance(reader.take({"at": "2026-11-21T09:30:00Z", "load": 5}), Event)


def test_a_default_that_never_fits_ends_nothing_that_ran(tmp_path: Path) -> None:
    never = GOOD | {"defaults": [{"field": "host", "copy": "load"}]}
    assert StreamDeclaration.model_validate(never, context=AS_IT_RAN).defaults


@pytest.mark.parametrize(
    ("written", "is_read"),
    [
        ("2026-11-21T09:30:00+01:59", True),
        ("2026-11-21T09:30:00+18:00", True),
        ("2026-11-21T09:30:00-1800", True),
        ("2026-11-21T23:59:59Z", True),
        ("2026-11-21T09:30:00+01:75", False),
        ("2026-11-21T09:30:00+0199", False),
        ("2026-11-21T09:30:00+17:60", False),
        ("2026-11-21T09:30:00+18:01", False),
        ("2026-11-21T09:30:00+19:00", False),
        ("2026-11-21T24:00:00Z", False),
    ],
)
def test_a_time_is_taken_where_spark_reads_it(tmp_path: Path, written: str, is_read: bool) -> None:
    reader = EventReader(load_stream(declared(tmp_path, **field(at={"type": "timestamp"}))))
    answer = reader.take({"host": "a", "at": written})
    assert isinstance(answer, Event) is is_read
    assert isinstance(answer, Event) or "at: " in answer.detail


SURE = [{"field": "kind", "value": "plain", "when_all_declared": True}]


def test_beside_an_undeclared_field_nothing_is_guessed(tmp_path: Path) -> None:
    fields = field(kind={"type": "string"}, n={"type": "long"})
    reader = EventReader(load_stream(declared(tmp_path, **fields, defaults=SURE)))
    assert isinstance(reader.take({"host": "a", "n": 1}), Event)
    assert isinstance(reader.take({"host": "a", "n": 1, "zone": "eu", "kind": "odd"}), Event)
    answer = reader.take({"host": "a", "n": 1, "zone": "eu", "area": "x"})
    assert answer == Invalid(
        "invalid_field",
        "kind: not guessed beside what is not declared (zone, area): "
        "give kind, or use declared names; kind: Field required",
    )


def test_what_is_not_guessed_may_be_left_out_where_its_field_may(tmp_path: Path) -> None:
    fields = field(kind={"type": "string", "required": False})
    reader = EventReader(load_stream(declared(tmp_path, **fields, defaults=SURE)))
    event = reader.take({"host": "a", "zone": "eu"})
    assert isinstance(event, Event)
    assert json.loads(event.value) == {"host": "a", "zone": "eu"}


@pytest.mark.parametrize("name", ["orderId", "order id", "request_id", "parent", "x" * 9_000])
def test_a_purchase_under_an_unlisted_name_of_its_order_is_no_request(name: str) -> None:
    purchase = {"id": "P-1", name: "R-1", "shares": 120, "client": "c", "stock": "s"}
    answer = EventReader(load_streams()["trades"]).take(purchase)
    assert isinstance(answer, Invalid)
    assert f"({name[:64]}): give kind" in answer.detail
    assert len(answer.detail) < 1_000


def test_whole_numbers_have_the_bounds_that_are_written(tmp_path: Path) -> None:
    stream = load_stream(declared(tmp_path, **long(minimum=-(2.0**62), maximum=2**63 - 1)))
    assert f"`n` >= {-(2**62)} AND `n` <= {2**63 - 1}" in stream.spark_predicate()
    reader = EventReader(stream)
    assert isinstance(reader.take({"host": "a", "n": 2**63 - 1}), Event)
    assert isinstance(reader.take({"host": "a", "n": 2**63}), Invalid)


@pytest.mark.parametrize("name", ["model_dump", "model_config", "json", "field_0"])
def test_a_field_may_be_named_like_what_pydantic_has(tmp_path: Path, name: str) -> None:
    fields = {"host": {"type": "string"}, name: {"type": "long", "required": False}}
    reader = EventReader(load_stream(declared(tmp_path, fields=fields)))
    assert isinstance(reader.take({"host": "a"}), Event)
    assert isinstance(reader.take({"host": "a", name: 1}), Event)
    answer = reader.take({"host": "a", name: "x"})
    assert isinstance(answer, Invalid)
    assert answer.detail.startswith(f"{name}: ")


def test_a_large_bound_is_a_double_to_spark(tmp_path: Path) -> None:
    fields = {"host": {"type": "string"}, "n": {"type": "double", "maximum": 10**39}}
    assert "`n` <= 1e+39" in load_stream(declared(tmp_path, fields=fields)).spark_predicate()


def test_a_folder_without_streams_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadDeclaration, match="no stream is declared"):
        load_streams(tmp_path)


def test_the_same_stream_twice_is_refused(tmp_path: Path) -> None:
    declared(tmp_path).rename(tmp_path / "copy.yaml")
    declared(tmp_path)
    with pytest.raises(BadDeclaration, match="declared twice"):
        load_streams(tmp_path)


def test_topics_follow_from_the_declaration(tmp_path: Path) -> None:
    stream = load_stream(declared(tmp_path, partitions=3, replication=3))
    events, heartbeat, rejected = stream_topics(stream)
    assert (events.name, events.partitions) == ("readings", 3)
    assert events.config()["message.timestamp.type"] == "LogAppendTime"
    assert events.config()["min.insync.replicas"] == "2"
    assert (heartbeat.name, rejected.name) == ("readings.heartbeat", "readings.rejected")


@pytest.mark.parametrize(
    "name",
    [
        *(topic.name for topic in core_topics(["email"])),
        "deliveries.pigeon",
        "readings.rejected",
        "readings.heartbeat",
    ],
)
def test_a_stream_has_no_topic_of_ours(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadDeclaration, match=f"topic {name} is Aldebaran's own"):
        load_stream(declared(tmp_path, stream=name))


@pytest.mark.parametrize("name", ["alert", "deliveries", "my.alerts", "rejected.readings"])
def test_a_name_that_only_resembles_ours_is_free(tmp_path: Path, name: str) -> None:
    assert load_stream(declared(tmp_path, stream=name)).stream == name


def test_core_topics_have_one_of_each_per_channel() -> None:
    names = [topic.name for topic in core_topics(["bus", "email"])]
    assert len(names) == len(set(names))
    assert {"deliveries.bus", "deliveries.email", "alerts.rejected"} <= set(names)


def test_a_shared_topic_has_the_partitions_that_are_asked_for_and_may_grow() -> None:
    made = {each.name: each for each in core_topics(["bus", "email"], {"deliveries.bus": 6})}
    assert (made["deliveries.bus"].partitions, made["deliveries.email"].partitions) == (6, 1)
    assert made["deliveries.bus.rejected"].partitions == 1
    assert [name for name, each in made.items() if each.grows] == [
        "alerts",
        "deliveries.bus",
        "deliveries.email",
    ]


def test_a_topic_has_as_many_copies_as_it_or_the_machine_asks_for() -> None:
    topic = Topic("readings", replication=2)
    assert [topic.with_copies(least).replication for least in (1, 3)] == [2, 3]
    assert topic.with_copies(3).config()["min.insync.replicas"] == "2"


@given(st.binary(max_size=200))
def test_any_bytes_get_an_answer(content: bytes) -> None:
    reader = EventReader(load_streams()["trades"])
    assert isinstance(reader.read(content), Event | Invalid)


def test_an_event_over_the_limit_is_invalid() -> None:
    reader = EventReader(load_streams()["trades"])
    answer = reader.read(b'"' + b"x" * EVENT_LIMIT_BYTES + b'"')
    assert isinstance(answer, Invalid)
    assert answer.reason == "too_large"


def test_an_object_of_too_many_fields_is_refused_before_any_is_looked_at() -> None:
    reader = EventReader(load_streams()["trades"])
    answer = reader.take({str(number): 0 for number in range(20_000)})
    assert isinstance(answer, Invalid)
    assert answer.reason == "too_large"


@pytest.mark.parametrize("host", ["~beat-1", "~BEAT-1", " ~beat-", "x~beat-"])
def test_no_text_has_what_tells_heartbeats_from_events(tmp_path: Path, host: str) -> None:
    reader = EventReader(load_stream(declared(tmp_path)))
    answer = reader.take({"host": host, "load": 1.0})
    assert isinstance(answer, Invalid)
    assert "reserved for heartbeats" in answer.detail
