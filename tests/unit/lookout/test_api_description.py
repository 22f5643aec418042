"""The operators' API says that a key is needed, how it is sent, and what a problem holds."""

import re

import httpx2
import orjson
from structlog.testing import capture_logs

from services.backbone.clock import SystemClock
from services.backbone.health import Health
from services.backbone.web.keys import ApiKey, Keys, key_hash
from services.lookout.api.app import create_app
from services.lookout.api.desk import Office
from services.lookout.api.operators import Operators

KEYS = Keys([ApiKey(name="ann", sha256=key_hash("secret"))], SystemClock())
APP = create_app(Office(), Operators(KEYS), Health())


async def test_each_request_takes_a_key_as_described() -> None:
    whole, transport = APP.openapi(), httpx2.ASGITransport(APP)
    assert [set(way) for way in whole["security"]] == [{"bearer"}, {"header"}]
    assert whole["components"]["securitySchemes"]["header"]["name"] == "X-API-Key"
    async with httpx2.AsyncClient(transport=transport, base_url="http://lookout") as client:
        for path, operations in whole["paths"].items():
            for method in operations:
                with capture_logs():
                    without = await client.request(method, path)
                    known = await client.request(method, path, headers={"X-API-Key": "secret"})
                assert (without.status_code, known.status_code == 401) == (401, False), path


def test_the_description_resolves_and_tells_what_is_answered_instead() -> None:
    whole = APP.openapi()
    for reference in re.findall(r'"#/components/schemas/(\w+)"', orjson.dumps(whole).decode()):
        assert reference in whole["components"]["schemas"]
    assert whole["components"]["schemas"]["Problem"]["required"] == ["title", "status", "detail"]
    for operations in whole["paths"].values():
        for operation in operations.values():
            assert operation["responses"].keys() >= {"401", "408", "413", "500", "503"}
