"""The pages: complete, true, and without anything from elsewhere."""

import re
import shlex
from typing import Any

import orjson
import pytest

from services.contracts.events import Event, EventReader
from services.contracts.fields import FieldDeclaration
from services.contracts.streams import StreamDeclaration, load_streams
from services.gateway.pages import example_event, stream_page
from services.gateway.settings import GatewaySettings
from tests.unit.gateway.surroundings import EVENTS, STREAM, MemoryWriter, gateway

ODD = StreamDeclaration(
    stream="odd",
    version=1,
    description="every type at its edges",
    key="id",
    fields={
        "id": FieldDeclaration(type="string", max_length=2),
        "low": FieldDeclaration(type="long", maximum=-5),
        "high": FieldDeclaration(type="double", minimum=7.5),
        "any": FieldDeclaration(type="double"),
        "yes": FieldDeclaration(type="boolean"),
        "at": FieldDeclaration(type="timestamp"),
        "one": FieldDeclaration(type="string", enum=("a", "b")),
    },
)


@pytest.mark.parametrize("stream", [*load_streams().values(), ODD], ids=lambda each: each.stream)
def test_the_example_is_a_valid_event(stream: StreamDeclaration) -> None:
    assert isinstance(EventReader(stream).take(example_event(stream)), Event)


@pytest.mark.parametrize("with_key", [True, False])
def test_the_curl_line_sends_the_example(with_key: bool) -> None:
    page = stream_page(load_streams()[STREAM], "http://host:1/", with_key=with_key)
    words = shlex.split(page.curl)
    assert words[:3] == ["curl", "-i", f"http://host:1{EVENTS}"]
    assert orjson.loads(words[-1]) == page.example
    assert ("Authorization: Bearer $KEY" in words) == with_key


async def test_streams_are_listed_and_described() -> None:
    with gateway(MemoryWriter()) as it:
        listed = (await it.client.get("/v1/streams")).json()["streams"]
        one = (await it.client.get(f"/v1/streams/{STREAM}")).json()
        missing = await it.client.get("/v1/streams/nothing")
    assert [each["stream"] for each in listed] == sorted(load_streams())
    assert one in listed
    assert missing.status_code == 404


async def test_where_a_proxy_ends_tls_the_pages_lead_to_its_address() -> None:
    behind = GatewaySettings(api_keys="off", gateway_public_url="https://events.example.com/")
    with gateway(MemoryWriter(), behind) as it:
        page = (await it.client.get(f"/v1/streams/{STREAM}")).json()
        docs = (await it.client.get("/docs")).text
    assert page["url"] == f"https://events.example.com{EVENTS}"
    assert page["url"] in page["curl"]
    assert page["url"] in docs
    assert "http://gateway" not in docs


async def test_the_documentation_loads_nothing_from_elsewhere() -> None:
    with gateway(MemoryWriter()) as it:
        page = (await it.client.get("/docs")).text
    assert "<script" not in page
    assert "stylesheet" not in page
    assert set(re.findall(r'(?:src|href)="([^"]+)"', page)) == {"openapi.json"}


async def test_the_description_covers_every_path_and_resolves() -> None:
    with gateway(MemoryWriter()) as it:
        whole = (await it.client.get("/openapi.json")).json()
    assert set(whole["paths"]) == {
        "/v1/streams",
        "/v1/streams/{stream}",
        "/v1/streams/{stream}/events",
    }
    for reference in re.findall(r'"#/components/schemas/(\w+)"', orjson.dumps(whole).decode()):
        assert reference in whole["components"]["schemas"]


async def described(**settings: Any) -> dict[str, Any]:
    with gateway(MemoryWriter(), GatewaySettings(**settings)) as it:
        whole: dict[str, Any] = (await it.client.get("/openapi.json")).json()
    return whole


async def test_the_description_says_that_a_key_is_needed_where_it_is() -> None:
    whole = await described()
    schemes = whole["components"]["securitySchemes"]
    assert [each.get("name", each.get("scheme")) for each in schemes.values()] == [
        "bearer",
        "X-API-Key",
    ]
    assert whole["security"] == [{name: []} for name in schemes]
    off = await described(api_keys="off")
    assert "security" not in off
    assert "securitySchemes" not in off["components"]


async def test_the_description_tells_what_is_answered_in_place_of_a_page() -> None:
    paths = (await described())["paths"]
    answers = {path: set(one["responses"]) for path, each in paths.items() for one in each.values()}
    assert answers["/v1/streams"] >= {"401", "500"}
    assert answers["/v1/streams/{stream}"] >= {"401", "404", "500"}
    events = paths["/v1/streams/{stream}/events"]["post"]["responses"]
    assert {status for status, each in events.items() if "headers" in each} == {"429", "503"}
    assert "500" in events


async def test_the_descriptions_examples_are_accepted() -> None:
    writer = MemoryWriter()
    with gateway(writer) as it:
        post = (await it.client.get("/openapi.json")).json()["paths"][
            "/v1/streams/{stream}/events"
        ]["post"]
        for kind, content in post["requestBody"]["content"].items():
            for example in content["examples"].values():
                value = example["value"]
                body = value.encode() if isinstance(value, str) else orjson.dumps(value)
                response = await it.post(body, content_type=kind)
                assert response.status_code == 200, response.text
    assert len(writer.written) == 5
