"""Takes rehearsals from the ledger, one after the other, until stopped."""

import random
from dataclasses import dataclass
from typing import Final, Protocol

from services.backbone.backoff import Backoff
from services.backbone.errors import Transient
from services.backbone.ledger.database import open_pool
from services.backbone.ledger.operators.rehearsals import Rehearsals, Taken
from services.backbone.ledger.schema import migrate
from services.backbone.log import logger
from services.backbone.outage import until_there
from services.backbone.service import Life
from services.contracts.rehearsals import Answer, Rehearsal
from services.rehearsal import metrics
from services.rehearsal.settings import RehearsalSettings
from services.rehearsal.trying import Failed, Stopped, Trying

LEASE_MARGIN_SECONDS: Final = 60.0
AGAIN: Final = Backoff(first_seconds=0.2, limit_seconds=5.0)

log = logger(__name__)


class Tries(Protocol):
    """What tries a rehearsal."""

    def answer(self, rehearsal: Rehearsal) -> Answer:
        """Return what came of it; raises Failed or Stopped."""


@dataclass
class Runner:
    """Tries what is asked; `trouble` is why it cannot, or None."""

    name: str
    rehearsals: Rehearsals
    trying: Tries
    life: Life
    lease_seconds: float
    look_seconds: float
    trouble: str | None = "has not asked the ledger yet"

    def run(self) -> None:
        """Work until the life's stop."""
        attempt, rng = 0, random.SystemRandom()
        while not self.life.stop.is_set():
            try:
                busy = self.step()
                attempt, self.trouble = 0, None
            except Transient as error:
                attempt, busy = attempt + 1, False
                self.trouble = "the ledger does not answer"
                log.warning("ledger_away", reason=str(error))
            if not busy:
                wait = AGAIN.seconds(attempt, rng) if attempt else self.look_seconds
                self.life.clock.wait(self.life.stop, wait)

    def step(self) -> bool:
        """Try one rehearsal, if one waits; return whether one did.

        Raises:
            Transient: Postgres is away; the rehearsal is tried again after its lease.
        """
        taken = self.rehearsals.take(self.name, self.lease_seconds)
        if taken is None:
            return False
        log.info("rehearsal_begins", rehearsal=taken.rehearsal_id)
        with metrics.RUNS.track_inprogress():
            outcome = self._try(taken)
        metrics.ENDED.labels(outcome).inc()
        log.info("rehearsal_ended", rehearsal=taken.rehearsal_id, outcome=outcome)
        return True

    def _try(self, taken: Taken) -> str:
        try:
            answer = self.trying.answer(taken.rehearsal)
        except Failed as error:
            self.rehearsals.fail(taken, self.name, str(error))
            return "failed"
        except Stopped:
            self.rehearsals.let_go(taken, self.name)
            return "stopped"
        self.rehearsals.answer(taken, self.name, answer)
        return "refused" if answer.refused else "done"


def rehearse(settings: RehearsalSettings, life: Life) -> None:
    """Be the rehearsal program until the life's stop.

    Raises:
        Refused: the ledger's version cannot be used.
    """
    with open_pool(settings) as pool:
        runner = Runner(
            name=settings.instance,
            rehearsals=Rehearsals(pool),
            trying=Trying(settings, life.clock, life.stop),
            life=life,
            lease_seconds=settings.rehearsal_seconds + LEASE_MARGIN_SECONDS,
            look_seconds=settings.rehearsal_look_seconds,
        )
        life.health.add_ready("ledger", lambda: runner.trouble)
        if until_there(lambda: migrate(settings), life):
            runner.run()
