"""Every page and every form, asked by what nobody would send: words, never a fault of ours."""

from collections.abc import Iterator

import pytest
from httpx2 import Client, Response
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from services.backbone.ledger.database import Pool
from services.console.envelope import SAFE_HEADERS
from services.console.people.roles import Role
from tests.integration.console.conftest import Console, running
from tests.integration.console.ledger_rows import add_alert, add_delivery
from tests.integration.console.test_people import word
from tests.unit.console.declared import api_routes

pytestmark = pytest.mark.postgres

EXAMPLES = 40
"""Of all pages together, and as many of all forms; each takes some milliseconds."""
LASTING = frozenset({"/live"})
ENDING = frozenset({"/logout", "/me"})
"""Forms that end the session the others are asked with."""
FIELDS = (
    "name", "password", "old", "new", "what", "role", "why", "watch", "severity", "lasts",
    "labels", "match", "reason", "person", "route", "channel", "to", "text", "of", "minutes",
    "note", "action", "key", "next", "starts_at", "summary", "state", "code", "iss", "error",
    "limit", "cursor", "q", "label", "since", "until", "before",
)  # fmt: skip

texts = (
    st.text(max_size=40)
    | st.sampled_from(
        ["add", "role", "close", "pause", "resume", "5", "2h", "'", '"><script>', "\0"]
    )
    | st.text(st.characters(codec="latin-1"), min_size=300, max_size=600)
)
fields = st.dictionaries(st.sampled_from(FIELDS), texts, max_size=6)


@pytest.fixture
def boss(pool: Pool, ledger_url: str) -> Iterator[tuple[Console, Client]]:
    with running(pool, ledger_url) as console, console.client("boss", Role.ADMIN) as client:
        client.follow_redirects = False
        yield console, client


def routes(console: Console, method: str) -> list[str]:
    """Return the paths of pages or forms."""
    found = (each for each in api_routes(console.app) if method in (each.methods or ()))
    paths = (each.path for each in found if not each.include_in_schema)
    return sorted(set(paths) - LASTING - ENDING)


def check(answer: Response, path: str) -> None:
    assert answer.status_code < 500 or answer.status_code in (502, 503), f"{path}: {answer.text}"
    for name in SAFE_HEADERS:
        assert name in answer.headers, path
    assert "<script>" not in answer.text, path


def filled(path: str, known: list[str], at: int, text: str) -> str:
    """Put an id that exists, or anything else, where a path has a place for it."""
    given_id = known[at] if at < len(known) else text.encode().hex() or "x"
    while "{" in path:
        path = path[: path.index("{")] + given_id + path[path.index("}") + 1 :]
    return path


FUZZED = settings(
    max_examples=EXAMPLES,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def test_pages(boss: tuple[Console, Client], ledger_url: str) -> None:
    console, client = boss
    alert = add_alert(ledger_url, "one")
    known = [alert, add_delivery(ledger_url, alert), "over-purchase"]
    paths = routes(console, "GET")
    assert {"/", "/login/oidc/callback", "/traces/{trace_id}"} <= set(paths)

    @FUZZED
    @given(st.sampled_from(paths), st.integers(0, 4), texts, fields, st.text(max_size=60))
    def ask(path: str, at: int, text: str, query: dict[str, str], cookie: str) -> None:
        raw = cookie.encode("utf-8", "replace").hex()
        headers = {"Cookie": f"aldebaran={client.cookies['aldebaran']}; aldebaran-login={raw}"}
        answer = client.get(filled(path, known, at, text), params=query, headers=headers)
        check(answer, path)

    ask()


def test_forms(boss: tuple[Console, Client], ledger_url: str) -> None:
    console, client = boss
    alert = add_alert(ledger_url, "one")
    known = [alert, add_delivery(ledger_url, alert), "email"]
    own, paths = word(client.get("/")), routes(console, "POST")
    assert {"/login", "/traces", "/users"} <= set(paths)

    @FUZZED
    @given(st.sampled_from(paths), st.integers(0, 4), texts, fields, st.booleans())
    def send(path: str, at: int, text: str, form: dict[str, str], is_ours: bool) -> None:
        answer = client.post(
            filled(path, known, at, text), data=form | ({"word": own} if is_ours else {})
        )
        check(answer, path)
        if not is_ours and path != "/login":
            assert answer.status_code in (403, 404, 422), path

    send()
    assert client.get("/audit").status_code == 200
