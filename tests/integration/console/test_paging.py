"""Every list of the API is walked by its cursor: each row once, newest first, also equal times."""

import psycopg
import pytest
from httpx2 import Client

from tests.integration.console.conftest import Console

pytestmark = pytest.mark.postgres

COUNT = 7
_IDS = "md5(n::text) FROM generate_series(1, %s) AS n"
_AT = "now() - (n / 3) * interval '1 hour'"
"""Three each have one time."""
INSERTS = {
    "silences": (
        "INSERT INTO silences (match, starts_at, ends_at, author, reason, source, created_at,"
        " silence_id) SELECT '{}', now(), now() + interval '1 hour', 'ann', 'r', 'api',"
        f" {_AT}, {_IDS}"
    ),
    "traces": (
        "INSERT INTO traces (key, person, why, begun_at, ends_at, trace_id)"
        f" SELECT 'k', 'ann', 'w', {_AT}, now(), {_IDS}"
    ),
    "rehearsals": (
        "INSERT INTO rehearsals (asked_by, watch, question, asked_at, rehearsal_id)"
        f" SELECT 'ann', 'w', '{{}}', {_AT}, {_IDS}"
    ),
}


def walked(browser: Client, path: str) -> list[dict[str, str]]:
    rows, query = [], {"limit": "2"}
    while True:
        page = browser.get(path, params=query).raise_for_status().json()
        assert len(page["rows"]) <= 2
        rows += page["rows"]
        if page["next_cursor"] is None:
            return rows
        query["cursor"] = page["next_cursor"]


@pytest.mark.parametrize("name", INSERTS)
def test_a_list_is_walked_whole(console: Console, browser: Client, name: str) -> None:
    with psycopg.connect(console.ledger_url) as connection:
        connection.execute(INSERTS[name].encode(), (COUNT,))
    rows = walked(browser, f"/v1/{name}")
    time, row_id = {
        "silences": ("created_at", "silence_id"),
        "traces": ("begun_at_ms", "trace_id"),
        "rehearsals": ("asked_at", "rehearsal_id"),
    }[name]
    places = [(row[time], row[row_id]) for row in rows]
    assert places == sorted(places, reverse=True)
    assert len({row[row_id] for row in rows}) == COUNT
    assert browser.get(f"/v1/{name}", params={"cursor": "nonsense"}).status_code == 422
