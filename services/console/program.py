"""The console as a program: its stores, what looks at everything, and the web application."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from starlette.types import ASGIApp

from services.backbone import service
from services.backbone.clock import SystemClock
from services.backbone.kafka.lag_apart import LagApart
from services.backbone.ledger.answers.overview import Overviews
from services.backbone.ledger.answers.reading import LedgerReader
from services.backbone.ledger.database import Pool, open_pool
from services.backbone.ledger.schema import migrate
from services.backbone.log import logger
from services.backbone.service import Life
from services.backbone.web.keys import ApiKey, Keys, KeysReloader
from services.console.app import create_app
from services.console.behind import Topics
from services.console.desk import open_desk
from services.console.lagging import LagWatch
from services.console.live import Board
from services.console.lookout import lookout_client
from services.console.oidc.provider import Provider
from services.console.parts.looking import Looker
from services.console.people.door import Door
from services.console.people.sessions import Lifetimes, Sessions
from services.console.people.users import Users
from services.console.settings import ConsoleSettings
from services.console.tracing.store import Traces
from services.console.tracing.tracer import Tracer, topic_reading
from services.console.watches import WatchShelf
from services.console.watching import LedgerWatch, Watcher
from services.contracts.declarations import AS_IT_RAN, BadDeclaration
from services.contracts.streams import StreamDeclaration, load_streams, stream_topics

log = logger(__name__)

PROGRAM = "console"
FIRST_ADMIN = "admin"
MIGRATED_SECONDS = 0.2
"""Between two looks whether the ledger is up to date."""


def run(settings: ConsoleSettings) -> int:
    """Run until SIGTERM; return the exit code.

    Raises:
        Refused: the file of keys cannot be used.
    """
    door_keys = read_keys(settings.operator_keys_file)
    pool, board = open_pool(settings), Board()
    lookout = lookout_client(settings.lookout_url, settings.operator_key.get_secret_value())
    provider = Provider(settings, SystemClock()) if settings.console_oidc_issuer else None
    lifetimes = Lifetimes(settings.console_session_hours * 3600, settings.console_idle_minutes * 60)
    sessions = Sessions(pool, lifetimes)
    door = Door(sessions, *door_keys, settings.open_to_readers, settings.is_secure)

    def body(life: Life) -> None:
        ledger = ledger_watch(settings, pool)
        own = declared_topics(read_streams(settings.streams_dir))
        with closing(LagApart(settings, PROGRAM, own, life.clock, life.stop)) as apart:
            lagging = LagWatch(apart.read, life)
            at_once(
                life,
                lambda: watch(settings, ledger, board, lagging, life),
                lambda: trace(settings, pool, ledger, life),
                lagging.watch_until_stopped,
            )

    def app(life: Life) -> ASGIApp:
        shelf = WatchShelf(settings.watches_dir)
        topics = Topics(settings, life.clock, streams_dir=settings.streams_dir)
        parts = settings.console_parts
        life.health.add_note("keys", door.note)
        desk = open_desk(pool, board, life, sessions, lookout, shelf, topics, parts)
        if provider:
            desk = desk.beside(provider)
        return create_app(desk, door, settings.host_names)

    try:
        return service.run(PROGRAM, settings, body, app)
    finally:
        lookout.close()
        if provider:
            provider.close()
        pool.close()


def ledger_watch(settings: ConsoleSettings, pool: Pool) -> LedgerWatch:
    """Return what asks the ledger how everything stands, once it has brought it up to date."""
    return LedgerWatch(lambda: prepare(settings, pool), Overviews(pool).with_newest)


def at_once(life: Life, *parts: Callable[[], None]) -> None:
    """Run parts that last as long as the life; a bug in one ends them all, and the program."""

    def to_its_end(part: Callable[[], None]) -> None:
        try:
            part()
        finally:
            life.stop.set()

    with ThreadPoolExecutor(len(parts), "part") as threads:
        running = [threads.submit(to_its_end, part) for part in parts]
    for each in running:
        each.result()


def watch(
    settings: ConsoleSettings, ledger: LedgerWatch, board: Board, lagging: LagWatch, life: Life
) -> None:
    """Look at everything until stopped."""
    looker = Looker(life.clock)
    # Nobody reaches what is not ready, and an outage is what the pages tell of. So a rollout with
    # a wrong host goes through here; it stops at programs that do nothing without a ledger.
    life.health.add_ready("looked", lambda: None if board.now else "it has not looked around yet")
    life.health.add_ready("ledger", ledger.behind)
    life.health.add_note("ledger", lambda: ledger.trouble)
    Watcher(
        ledger=ledger,
        looking=looker,
        parts=settings.console_parts,
        publish=board.publish,
        life=life,
        seconds=settings.console_look_seconds,
        lags=lambda: lagging.last,
    ).watch_until_stopped()
    looker.close()


def read_streams(folder: Path) -> dict[str, StreamDeclaration]:
    """Return the declared streams; none while they cannot be read, as pages serve without them."""
    try:
        return load_streams(folder, AS_IT_RAN)
    except BadDeclaration as error:
        log.error("streams_unreadable", reason=str(error))
        return {}


def declared_topics(streams: Mapping[str, StreamDeclaration]) -> frozenset[str]:
    """Return the names of these streams' topics."""
    return frozenset(topic.name for each in streams.values() for topic in stream_topics(each))


def trace(settings: ConsoleSettings, pool: Pool, ledger: LedgerWatch, life: Life) -> None:
    """Follow what is traced until stopped."""
    while not ledger.migrated and not life.clock.wait(life.stop, MIGRATED_SECONDS):
        pass
    opening = topic_reading(settings, settings.streams_dir)
    Tracer(Traces(pool), LedgerReader(pool), opening, life).follow_until_stopped()


def prepare(settings: ConsoleSettings, pool: Pool) -> None:
    """Bring the schema up to date, and make the first admin where a password is set for one."""
    migrate(settings)
    password = settings.console_first_password.get_secret_value()
    if password and Users(pool).add_first(FIRST_ADMIN, password):
        log.info("first_admin_made", name=FIRST_ADMIN)


def read_keys(path: Path | None) -> tuple[Keys[ApiKey] | None, KeysReloader[ApiKey] | None]:
    """Return the operators' keys, and what takes over a changed file."""
    if path is None:
        return None, None
    reloader = KeysReloader(path, ApiKey, SystemClock())
    return reloader.keys, reloader
