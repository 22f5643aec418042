"""Waiting for a store or a broker that is away."""

import random
from collections.abc import Callable
from typing import Final

from services.backbone.backoff import Backoff
from services.backbone.errors import Transient
from services.backbone.log import logger
from services.backbone.service import Life

log = logger(__name__)

SOON: Final = Backoff(first_seconds=0.05, limit_seconds=2.0)
"""A store or broker that is away is asked again within two seconds."""


def until_there(attempt: Callable[[], object], life: Life) -> bool:
    """Try until nothing is away any more; False if the life stops before."""
    tries, rng = 0, random.SystemRandom()
    while not life.stop.is_set():
        try:
            attempt()
            return True
        except Transient as error:
            tries += 1
            log.warning("not_there_yet", attempt=tries, reason=str(error))
            life.clock.wait(life.stop, SOON.seconds(tries, rng))
    return False
