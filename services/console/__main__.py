"""`python -m services.console`: the page of alerts and deliveries, and its JSON API."""

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from starlette.types import ASGIApp

from services.backbone import service
from services.backbone.backoff import Backoff
from services.backbone.errors import Transient
from services.backbone.ledger.database import migrate, open_pool
from services.backbone.ledger.reading import LedgerReader
from services.backbone.log import logger
from services.backbone.service import Life
from services.backbone.settings import read_settings
from services.console.app import create_app
from services.console.settings import ConsoleSettings

log = logger(__name__)

PING_SECONDS: Final = 2.0
AGAIN: Final = Backoff(first_seconds=0.1, limit_seconds=2.0)

_HELP: Final = """Shows alerts, their timelines and open deliveries at http://127.0.0.1:<port>/ and
as JSON at /v1/alerts, /v1/alerts/{id} and /v1/deliveries?state=; /openapi.json describes them.
There is no login yet, so it listens on this machine only. Settings: ALDEBARAN_HTTP_PORT,
ALDEBARAN_POSTGRES_URL, ALDEBARAN_CONSOLE_REFRESH_SECONDS (5)."""


@dataclass
class LedgerWatch:
    """Keeps asking whether the ledger answers, so that health never waits for it."""

    settings: ConsoleSettings
    reader: LedgerReader
    life: Life
    trouble: str | None = "not asked yet"

    def watch_until_stopped(self) -> None:
        """Bring the schema up to date, as soon as Postgres is there; then ask again and again."""
        attempt = 0
        rng = random.SystemRandom()
        migrated = False
        while not self.life.stop.is_set():
            try:
                if not migrated:
                    migrate(self.settings)
                    migrated = True
                self.reader.ping()
                attempt, self.trouble = 0, None
            except Transient as error:
                attempt, self.trouble = attempt + 1, "the ledger does not answer"
                log.warning("ledger_away", attempt=attempt, reason=str(error))
            wait = AGAIN.seconds(attempt, rng) if attempt else PING_SECONDS
            self.life.clock.wait(self.life.stop, wait)


def main(arguments: Sequence[str]) -> int:
    """Run until SIGTERM; return the exit code."""
    argparse.ArgumentParser("python -m services.console", description=_HELP).parse_args(arguments)
    settings = read_settings(ConsoleSettings)
    pool = open_pool(settings)
    reader = LedgerReader(pool)

    def body(life: Life) -> None:
        watch = LedgerWatch(settings, reader, life)
        life.health.add_ready("ledger", lambda: watch.trouble)
        watch.watch_until_stopped()

    def app(life: Life) -> ASGIApp:
        return create_app(reader, life.health, life.clock, settings.console_refresh_seconds)

    try:
        return service.run("console", settings, body, app)
    finally:
        pool.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
