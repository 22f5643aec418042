"""What stands before a console is told from the console, and from a wrong address."""

import io

import httpx2
import pytest

from services.aldebaran.__main__ import carry_out, parser
from services.aldebaran.client import CommandSettings, console_client
from services.backbone.clock import ManualClock
from services.backbone.errors import Refused, Transient
from services.backbone.web.client import ApiClient, in_path

PAGE = "<html>try later</html>"


def answering(status: int, text: str = PAGE) -> ApiClient:
    transport = httpx2.MockTransport(lambda _: httpx2.Response(status, text=text))
    return console_client(CommandSettings(), transport)


def test_a_deed_whose_answer_is_lost_is_asked_for_again_by_its_key() -> None:
    keys = list[str]()

    def lost(request: httpx2.Request) -> httpx2.Response:
        keys.append(request.headers["idempotency-key"])
        raise httpx2.ReadTimeout("timed out", request=request)

    client = console_client(CommandSettings(), httpx2.MockTransport(lost))
    for command in ("send-test --person ann", "silence add --reason x", "say d absent --why x"):
        for more in ("", " --key mine"):
            chosen = parser().parse_args((command + more).split())
            with pytest.raises(Transient) as told:
                carry_out(chosen, client, ManualClock(), io.StringIO())
            assert f"the same command with --key {keys[-1]} does it once" in str(told.value)
    assert (keys[1::2], len(set(keys))) == (["mine"] * 3, 4)


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_an_ingress_that_reaches_nobody_now_is_asked_again(status: int) -> None:
    with pytest.raises(Transient, match=f"before the console answers {status}; try again"):
        answering(status).ask("GET", "/v1/alerts")


def test_bytes_of_another_alphabet_in_an_id_are_asked_for_as_any_other_id() -> None:
    assert in_path(" a/b\udcff ") == "a%2Fb%3F"


@pytest.mark.parametrize("status", [400, 404, 500])
def test_an_answer_that_is_no_problem_is_of_another_program(status: int) -> None:
    with pytest.raises(Refused, match=f"the answer was {status}; is this the console's address"):
        answering(status).ask("GET", "/v1/alerts")


def test_a_page_in_place_of_json_is_of_another_program() -> None:
    with pytest.raises(Refused, match="the answer was no JSON; is this the console's address"):
        answering(200).ask("GET", "/v1/alerts")


@pytest.mark.parametrize(("body", "key"), [(float("nan"), None), ("\udce9", None), (1, "ключ")])
def test_what_cannot_be_sent_is_said_of_the_body_and_of_the_key(
    body: float | str, key: str | None
) -> None:
    with pytest.raises(Refused, match="cannot be JSON, or its key is not ASCII"):
        answering(200, "{}").ask("POST", "/v1/silences", {"for": body}, key=key)
