"""Puts the parts of the lookout together."""

from dataclasses import dataclass
from functools import partial
from typing import Protocol

from services.backbone.kafka.producer import Producer
from services.backbone.ledger.alerts.intake import Intake
from services.backbone.ledger.alerts.outbox import Outbox
from services.backbone.ledger.alerts.repeats import RepeatsBook
from services.backbone.ledger.database import Pool
from services.backbone.ledger.deliveries.names import known_names
from services.backbone.service import Life
from services.backbone.web.links import open_links
from services.lookout.duties.following import Following
from services.lookout.duties.later import Announcing
from services.lookout.duties.naming import Naming
from services.lookout.duties.refreshing import Refreshing
from services.lookout.duties.roster import following, judging, refreshing
from services.lookout.duties.telling import Teller
from services.lookout.intake.circumstances import Circumstances
from services.lookout.intake.counting import Repeats
from services.lookout.intake.mirror import mirrored
from services.lookout.intake.pipeline import Lookout
from services.lookout.intake.repeats import SettledAlerts
from services.lookout.keeper import Duty, Keeper
from services.lookout.outbox.marking import LaterMarks
from services.lookout.outbox.publishing import Publisher
from services.lookout.outbox.relay import Relay
from services.lookout.routes.holder import RoutesHolder
from services.lookout.settings import LookoutSettings
from services.lookout.templates.words import Words


class Closing(Protocol):
    """What has work in hand when the lookout ends."""

    def close(self, timeout_seconds: float) -> None:
        """End, at the latest after so long."""


@dataclass(frozen=True)
class Parts:
    """What the lookout is made of, beside its consumer and its API."""

    holder: RoutesHolder
    lookout: Lookout
    marks: LaterMarks
    relay: Relay
    keeper: Keeper
    repeats: Repeats
    fresh: Refreshing
    """Must be done once before the first alert is judged: what is silenced now."""

    def start(self, life: Life) -> None:
        """Begin what runs beside the pipeline; it ends with the life."""
        self.marks.start()
        self.relay.start()
        self.keeper.start()
        self.holder.start(life)
        life.health.add_ready("outbox", self.relay.trouble)
        life.health.add_ready("keeper", self.keeper.trouble)
        life.health.add_note("routes", self.holder.note)
        life.health.add_note("silences", self.fresh.unreadable.note)

    def close(self, timeout_seconds: float) -> None:
        """Wait for what is in hand; raise what has ended a thread, if it was a bug."""
        threads: tuple[Closing, ...] = (self.keeper, self.marks, self.holder)
        for thread in threads:
            thread.close(timeout_seconds)
        self.relay.close()
        self.repeats.close()


@dataclass(frozen=True)
class _Making:
    """What the parts are made from."""

    settings: LookoutSettings
    life: Life
    holder: RoutesHolder
    producer: Producer
    pool: Pool
    outbox: Outbox
    publisher: Publisher
    circumstances: Circumstances
    words: Words
    repeats: Repeats

    def duties(self, first: Duty) -> list[Duty]:
        """Return what the keeper looks after, in the sequence of a round."""
        clock, routes = self.life.clock, self.holder.current
        teller = Teller(self.publisher, self.producer, self.outbox, clock)
        announcing = Announcing(self.publisher, self.producer, clock.now_ms)
        shared = Following(self.circumstances, routes, self.words, announcing)
        return [
            first,
            self.repeats,
            Naming(partial(known_names, self.pool), self.holder.heed),
            *following(self.settings, self.pool, shared),
            *judging(self.settings, self.pool, self.circumstances, routes, teller),
        ]

    def lookout(self) -> Lookout:
        intake = Intake(self.pool)
        whole = Lookout(
            routes=self.holder.current,
            ledger=intake,
            publisher=self.publisher,
            writer=self.producer,
            settled=SettledAlerts(self.settings.lookout_settled_alerts),
            circumstances=self.circumstances,
            clock=self.life.clock,
            words=self.words,
            channels=self.settings.channels,
            dropped=self.repeats.dropped,
        )
        return mirrored(whole, intake.recorded) if self.settings.is_mirror else whole

    def relay(self) -> Relay:
        publisher = Publisher(self.producer, self.outbox)
        return Relay(self.outbox, publisher, self.settings, self.life)


def assemble(
    settings: LookoutSettings, life: Life, holder: RoutesHolder, producer: Producer, pool: Pool
) -> Parts:
    """Make the parts of the lookout; none of them runs yet."""
    outbox, circumstances = Outbox(pool), Circumstances(life.clock)
    marks, repeats = LaterMarks(outbox, life), Repeats(RepeatsBook(pool))
    making = _Making(
        settings,
        life,
        holder,
        producer,
        pool,
        outbox,
        Publisher(producer, marks),
        circumstances,
        Words(open_links(settings), settings.callbacks_public_url, settings.console_public_url),
        repeats,
    )
    fresh = refreshing(pool, circumstances, holder.current)
    keeper = Keeper(making.duties(fresh), life, settings.lookout_keeper_seconds)
    return Parts(holder, making.lookout(), marks, making.relay(), keeper, repeats, fresh)
