"""A lookout's keeper as a simulated thread: the real duties, on statements that may fail."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from services.backbone.clock import Clock
from services.backbone.service import Life
from services.lookout.duties.following import Escalating, FallingBack, Following
from services.lookout.duties.judging import Bench, Gathering, Releasing, Sweeping
from services.lookout.duties.later import Announcing
from services.lookout.duties.refreshing import Refreshing
from services.lookout.duties.telling import Teller
from services.lookout.intake.circumstances import Circumstances
from services.lookout.keeper import Duty, Keeper
from services.lookout.outbox.publishing import Publisher, Writer
from services.lookout.routing import Routes
from services.lookout.templates.words import NO_LINKS
from tests.simulation.keeper_judge import KeeperJudge
from tests.simulation.keeper_ledger import (
    Knowledge,
    KnownCircumstances,
    LineEscalations,
    LineFallbacks,
    LineInhibitors,
    LineSilences,
    LineSuppressions,
)
from tests.simulation.ledger import LineOutbox
from tests.simulation.memory.following import MemoryEscalations, MemoryFallbacks
from tests.simulation.memory.outbox import MemoryOutbox
from tests.simulation.memory.silences import MemoryInhibitors, MemorySilences
from tests.simulation.memory.suppressions import MemorySuppressions
from tests.simulation.store import Line

AGE_LIMIT: timedelta = timedelta(hours=1)
INTERVAL_SECONDS = 2.0


@dataclass(frozen=True)
class KeeperParts:
    """What a lookout with a keeper has besides: what it knows, what it reads first, its duties."""

    circumstances: Circumstances
    fresh: Refreshing
    keeper: Keeper


def keeper_parts(
    line: Line,
    clock: Clock,
    routes: Callable[[], Routes],
    publisher: Publisher,
    writer: Writer,
    promises: KeeperJudge,
) -> KeeperParts:
    """Put a keeper together as the program does (services/lookout/duties/roster.py)."""
    tables, knowledge = line.store.tables, Knowledge()
    circumstances = KnownCircumstances(clock, knowledge)
    silences = LineSilences(line, MemorySilences(tables), knowledge)
    inhibitors = LineInhibitors(line, MemoryInhibitors(tables))
    fresh = Refreshing(circumstances, silences, inhibitors, routes)
    suppressions = LineSuppressions(line, MemorySuppressions(tables), promises, knowledge)
    teller = Teller(publisher, writer, LineOutbox(line, MemoryOutbox(tables)), clock)
    bench = Bench(suppressions, circumstances, routes, teller, AGE_LIMIT)
    shared = Following(circumstances, routes, NO_LINKS, Announcing(publisher, writer, clock.now_ms))
    duties: list[Duty] = [
        fresh,
        FallingBack(LineFallbacks(line, MemoryFallbacks(tables)), shared),
        Escalating(LineEscalations(line, MemoryEscalations(tables)), shared),
        Releasing(bench),
        Gathering(bench),
        Sweeping(bench, ("webhook",)),
    ]
    life = Life(clock=clock, stop=threading.Event())
    return KeeperParts(circumstances, fresh, Keeper(duties, life, INTERVAL_SECONDS))
