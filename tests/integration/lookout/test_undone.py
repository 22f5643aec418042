"""A crash of Postgres undoes what no disk was waited for: never what is secured, or claimed."""

import asyncio
from collections.abc import Iterator

import psycopg
import pytest
from pydantic import SecretStr

from services.backbone.errors import Transient
from services.backbone.ledger.database import async_pool, open_pool
from services.backbone.ledger.deliveries.claims import Claims
from services.backbone.ledger.schema import migrate
from services.backbone.settings import LedgerSettings
from services.contracts.ids import delivery_id
from services.lookout.intake.pipeline import Lookout
from services.lookout.routing import Routes, Target
from tests.integration.lookout.crashing import Topics, arrivals, started
from tests.postgres import OwnPostgres
from tests.unit.lookout.samples import sample, told

pytestmark = pytest.mark.postgres

DESK = Target("bus", "desk")
ROUTES = Routes((), told("default", DESK))
FIRST, SECOND, THIRD = sample(1), sample(2), sample(3)


@pytest.fixture
def settings(own_postgres: OwnPostgres) -> LedgerSettings:
    settings = LedgerSettings(postgres_url=SecretStr(own_postgres.url))
    migrate(settings)
    own_postgres.hold_back_the_log()
    return settings


@pytest.fixture
def lookout(settings: LedgerSettings) -> Iterator[Lookout]:
    with open_pool(settings) as pool:
        yield started(pool, ROUTES, Topics())


def crash(own: OwnPostgres) -> None:
    own.kill()
    own.start()


def recorded(own: OwnPostgres) -> set[str]:
    with psycopg.connect(own.url) as connection:
        return {row[0] for row in connection.execute("SELECT alert_id FROM alerts")}


def not_secured(lookout: Lookout) -> str:
    """Secure until something other than a cut connection stands against it; return what."""
    while True:
        with pytest.raises(Transient) as found:
            lookout.secure()
        if "undone" in str(found.value):
            return str(found.value)


def test_what_is_undone_is_noticed_and_can_be_recorded_again(
    lookout: Lookout, own_postgres: OwnPostgres
) -> None:
    lookout(arrivals([FIRST]))
    lookout.secure()
    lookout(arrivals([SECOND, THIRD]))
    crash(own_postgres)
    assert recorded(own_postgres) == {FIRST.alert_id}, "this crash was to undo something"

    assert "the recording of 2 alerts" in not_secured(lookout)
    lookout(arrivals([SECOND, THIRD]))
    lookout.secure()
    own_postgres.hold_back_the_log()
    crash(own_postgres)
    assert recorded(own_postgres) == {each.alert_id for each in (FIRST, SECOND, THIRD)}


def test_a_claim_takes_along_to_the_disk_what_was_recorded_before(
    lookout: Lookout, settings: LedgerSettings, own_postgres: OwnPostgres
) -> None:
    lookout(arrivals([FIRST, SECOND]))
    asyncio.run(claim(settings, delivery_id(SECOND.alert_id, DESK.channel, DESK.recipient)))
    crash(own_postgres)
    assert recorded(own_postgres) == {FIRST.alert_id, SECOND.alert_id}
    with psycopg.connect(own_postgres.url) as connection:
        found = connection.execute("SELECT alert_id, state FROM deliveries").fetchall()
    assert dict(found) == {FIRST.alert_id: "PENDING", SECOND.alert_id: "CLAIMED"}


async def claim(settings: LedgerSettings, wanted: str) -> None:
    async with async_pool(settings) as pool:
        claims = Claims(
            pool, channel=DESK.channel, owner="d", lease_seconds=60.0, age_limit_seconds=9e9
        )
        assert [each.delivery_id for each in await claims.by_id([wanted], 1)] == [wanted]
