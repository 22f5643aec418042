"""`python -m services.callbacks`: the public door for what providers tell back."""

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.backbone import service
from services.backbone.backoff import Backoff
from services.backbone.errors import Transient
from services.backbone.ledger.database import Pool, open_pool, sorted_troubles
from services.backbone.ledger.deliveries.evidence import EvidenceBook
from services.backbone.ledger.operators.acknowledgements import Acknowledgements
from services.backbone.ledger.schema import migrate
from services.backbone.log import logger
from services.backbone.service import HttpServer, Life
from services.backbone.settings import EXIT_BAD_SETTINGS, read_settings
from services.backbone.web.links import open_links
from services.callbacks.acknowledge import AcknowledgePage
from services.callbacks.app import create_app
from services.callbacks.provider import open_providers
from services.callbacks.settings import CallbacksSettings

log = logger(__name__)

PING_SECONDS: Final = 2.0
AGAIN: Final = Backoff(first_seconds=0.1, limit_seconds=2.0)

_HELP: Final = """Takes signed callbacks at POST /twilio/<delivery id> on ALDEBARAN_CALLBACKS_PORT
(18094), which a TLS proxy shows to the public as ALDEBARAN_CALLBACKS_PUBLIC_URL, and gives them to
the ledger as evidence. Health and metrics: ALDEBARAN_HTTP_PORT (18093), for nobody outside. Needs
ALDEBARAN_SMS_AUTH_TOKEN to check Twilio's signatures, ALDEBARAN_LINK_SECRETS for the page at
/acknowledge/<link>, or both. See docs/callbacks.md and docs/escalation.md."""
_NEEDED: Final = (
    "ALDEBARAN_SMS_AUTH_TOKEN and ALDEBARAN_CALLBACKS_PUBLIC_URL for Twilio, "
    "or ALDEBARAN_LINK_SECRETS for links that acknowledge"
)


@dataclass
class LedgerWatch:
    """Keeps asking whether the ledger answers, so that health never waits for it."""

    settings: CallbacksSettings
    pool: Pool
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
                with sorted_troubles(), self.pool.connection() as connection:
                    connection.execute("SELECT 1")
                attempt, self.trouble = 0, None
            except Transient as error:
                attempt, self.trouble = attempt + 1, "the ledger does not answer"
                log.warning("ledger_away", attempt=attempt, reason=str(error))
            wait = AGAIN.seconds(attempt, rng) if attempt else PING_SECONDS
            self.life.clock.wait(self.life.stop, wait)


def serve(settings: CallbacksSettings, pool: Pool, life: Life) -> None:
    """Keep the door open until the stop; it answers 503 while the ledger is away."""
    providers = list(open_providers())
    watch = LedgerWatch(settings, pool, life)
    life.health.add_ready("ledger", lambda: watch.trouble)
    page = _page(settings, pool, life)
    app = create_app(providers, EvidenceBook(pool), life.clock, settings, page)
    names = [each.name for each in providers]
    log.info("door_opens", port=settings.callbacks_port, providers=names, links=page is not None)
    with HttpServer(app, settings.callbacks_host, settings.callbacks_port):
        watch.watch_until_stopped()


def _page(settings: CallbacksSettings, pool: Pool, life: Life) -> AcknowledgePage | None:
    links = open_links(settings)
    return AcknowledgePage(links, Acknowledgements(pool), life.clock) if links else None


def main(arguments: Sequence[str]) -> int:
    """Run until SIGTERM; return the exit code."""
    argparse.ArgumentParser("python -m services.callbacks", description=_HELP).parse_args(arguments)
    settings = read_settings(CallbacksSettings)
    if not list(open_providers()) and not settings.link_secrets:
        sys.stderr.write(f"nobody could come to this door: set {_NEEDED}\n")
        return EXIT_BAD_SETTINGS
    pool = open_pool(settings)
    try:
        return service.run("callbacks", settings, lambda life: serve(settings, pool, life))
    finally:
        pool.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
