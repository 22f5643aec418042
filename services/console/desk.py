"""What pages and the API act on."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import BoundedSemaphore
from typing import Annotated, Final

from fastapi import Depends, Request

from services.backbone.clock import Clock
from services.backbone.errors import Trouble
from services.backbone.health import Health
from services.backbone.ledger.answers.reading import LedgerReader
from services.backbone.ledger.answers.why import Answers
from services.backbone.ledger.database import Pool
from services.backbone.ledger.rows import AlertDetail
from services.backbone.service import Life
from services.backbone.web.client import ApiClient
from services.backbone.web.problems import away
from services.console.aside import Aside
from services.console.behind import Behind, Topics
from services.console.deeds.silences import Deeds
from services.console.live import Board
from services.console.newest_first import NewestFirst
from services.console.oidc.login import OidcLogin
from services.console.oidc.provider import Provider
from services.console.parts.figures import WatchFigures
from services.console.people.audit import Audit
from services.console.people.brake import Brake
from services.console.people.guests import Guests
from services.console.people.login import Login
from services.console.people.sessions import Sessions
from services.console.people.users import Users
from services.console.tracing.store import Traces
from services.console.unjudged import Unjudged
from services.console.watches import WatchShelf

BEHIND_AT_ONCE: Final = 2
"""So many look up at once what is behind an alert; each takes memory, and a thread of all."""


@dataclass(frozen=True)
class Desk:
    """The parts of a running console."""

    pool: Pool
    reader: LedgerReader
    answers: Answers
    users: Users
    guests: Guests
    audit: Audit
    login: Login
    lookout: ApiClient
    deeds: Deeds
    board: Board
    life: Life
    shelf: WatchShelf
    traces: Traces
    topics: Topics
    aside: Aside
    unjudged: Unjudged
    parts: Mapping[str, str] = field(default_factory=dict)
    oidc: OidcLogin | None = None
    """Logging in by a provider; None: local users only."""
    looking: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(BEHIND_AT_ONCE))
    """Held by who looks up what is behind an alert."""

    def behind(self, detail: AlertDetail) -> Behind:
        """Return what the topics still have of an alert.

        Raises:
            Problem: 503, they cannot be read now, or others are reading them.
        """
        declared = self.shelf.one(detail.alert.watch)
        if not self.looking.acquire(blocking=False):
            raise away("topics_busy", "others are reading the topics now; ask again")
        try:
            return self.topics.behind(detail.record, declared.streams if declared else ())
        except (Trouble, KeyError, ValueError):
            raise away("topics_away", "the topics cannot be read now") from None
        finally:
            self.looking.release()

    @property
    def clock(self) -> Clock:
        """The program's clock."""
        return self.life.clock

    def watch_figures(self) -> dict[str, WatchFigures]:
        """Return what the auditors tell of each watch now; nothing of one that none runs."""
        now = self.board.now
        return {each.watch: each for each in now.figures.watches} if now and now.figures else {}

    @property
    def health(self) -> Health:
        """The program's own health."""
        return self.life.health

    def beside(self, provider: Provider) -> "Desk":
        """Return the same desk, where people may also log in by a provider."""
        own = self.login
        oidc = OidcLogin(provider, self.guests, own.sessions, own.audit, own.brake)
        return replace(self, oidc=oidc)


def open_desk(
    pool: Pool,
    board: Board,
    life: Life,
    sessions: Sessions,
    lookout: ApiClient,
    shelf: WatchShelf,
    topics: Topics,
    parts: Mapping[str, str],
) -> Desk:
    """Return a desk on a ledger, with local users only."""
    users, audit = Users(pool), Audit(pool)
    newest_first = NewestFirst(topics.settings, topics.clock)
    return Desk(
        pool=pool,
        reader=LedgerReader(pool),
        answers=Answers(pool),
        users=users,
        guests=Guests(pool),
        audit=audit,
        login=Login(users, sessions, audit, Brake(life.clock)),
        lookout=lookout,
        deeds=Deeds(lookout, audit),
        board=board,
        life=life,
        shelf=shelf,
        traces=Traces(pool),
        topics=topics,
        aside=Aside(newest_first, topics.streams_dir),
        unjudged=Unjudged(newest_first),
        parts=parts,
    )


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


Served = Annotated[Desk, Depends(_desk)]
"""The desk, for a route's parameter."""
