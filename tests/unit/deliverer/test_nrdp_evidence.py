"""What Nagios' pages say of a doubt, on answers that a real Nagios 4.4.6 gave (nagios_pages/)."""

import contextlib
import copy
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web
from aiohttp.test_utils import RawTestServer
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.clock import ManualClock
from services.deliverer.channel import Absent, Doubt, Finding, Taken, Unclear
from services.deliverer.channels.nagios.wording import Place
from services.deliverer.channels.nrdp.settings import NrdpSettings
from services.deliverer.channels.nrdp.status_pages import NoAnswer, read_alerts, read_status
from services.deliverer.channels.nrdp.witness import NrdpWitness
from tests.unit.deliverer.builders import delivery

FOLDER = Path(__file__).with_name("nagios_pages")
PLACE = Place("aldebaran", "over-purchase")
ONE = delivery(1, "nrdp", str(PLACE)).model_copy(update={"delivery_id": "0123456789abcdef" * 2})
OTHER = delivery(2, "nrdp", str(PLACE))
ABSENCE_SECONDS = 300.0


def page(name: str) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads((FOLDER / f"{name}.json").read_bytes())
    return found


LAST_CHECK_MS: int = page("service")["data"]["service"]["last_check"]
Json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["result", "data", "service", "alertlist", "x"]), inner)
    ),
    max_leaves=8,
)


async def looked_up(
    doubt: Doubt, status: dict[str, Any], alerts: dict[str, Any], absence: float | None
) -> Finding:
    pages = {"/cgi-bin/statusjson.cgi": status, "/cgi-bin/archivejson.cgi": alerts}

    async def answer(request: web.BaseRequest) -> web.Response:
        return web.Response(body=orjson.dumps(pages[request.path]))

    settings = NrdpSettings(nrdp_absence_seconds=absence)
    async with RawTestServer(answer) as nagios:
        witness = NrdpWitness(settings, str(nagios.make_url("/cgi-bin/")), ManualClock())
        finding = await witness.look_up(doubt)
        await witness.close()
    return finding


def doubt(of: Any = OTHER, claimed_ms: int = LAST_CHECK_MS + 60_000) -> Doubt:
    return Doubt(of, 1, claimed_ms, claimed_ms + 30_000)


def later(seconds: int, text: str | None = None) -> dict[str, Any]:
    """Return the service's page as Nagios would show it later."""
    said = copy.deepcopy(page("service"))
    said["result"]["last_data_update"] += seconds * 1000
    if text is not None:
        said["data"]["service"]["plugin_output"] = text
    return said


NO_ALERTS = {"result": {"type_code": 0}, "data": {"alertlist": []}}


@pytest.mark.promise("evidence", "nrdp")
async def test_the_id_in_the_last_result_or_among_alerts_is_proof() -> None:
    assert isinstance(await looked_up(doubt(ONE), page("service"), NO_ALERTS, None), Taken)
    newer = later(10, "CRITICAL: another")
    assert isinstance(await looked_up(doubt(ONE), newer, page("alerts"), None), Taken)
    assert isinstance(await looked_up(doubt(ONE), newer, NO_ALERTS, None), Unclear)


@pytest.mark.promise("evidence", "nrdp")
async def test_absence_is_proven_when_nagios_has_read_everything_since() -> None:
    async def asked(seconds: int, absence: float | None, text: str | None = None) -> Finding:
        return await looked_up(doubt(), later(seconds, text), page("alerts"), absence)

    assert isinstance(await asked(1000, ABSENCE_SECONDS), Absent)
    assert isinstance(await asked(300, ABSENCE_SECONDS), Unclear)
    assert isinstance(await asked(1000, None), Unclear)
    assert isinstance(await asked(1000, ABSENCE_SECONDS, "OK - of somebody else"), Unclear)


async def test_an_unknown_service_or_another_page_proves_nothing() -> None:
    for said in (page("unknown"), {}, {"result": {"type_code": 3, "message": "no rights"}}):
        finding = await looked_up(doubt(), said, NO_ALERTS, ABSENCE_SECONDS)
        assert isinstance(finding, Unclear)


def test_a_host_is_read_too() -> None:
    status = read_status(page("host"), Place("aldebaran"))
    assert status.shown[Place("aldebaran")].text.startswith("Host is not scheduled")


@given(Json)
def test_any_answer_is_read_or_refused(said: object) -> None:
    whole = said if isinstance(said, dict) else {"result": said, "data": said}
    for reading in (lambda: read_status(whole, PLACE), lambda: read_alerts(whole)):
        with contextlib.suppress(NoAnswer):
            reading()
