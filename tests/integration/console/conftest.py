"""A ledger of its own, and the console in front of it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import pytest
from fastapi import FastAPI
from httpx2 import Client

from services.backbone.ledger.answers.overview import Overviews
from services.backbone.ledger.answers.reading import LedgerReader
from services.backbone.ledger.database import Pool
from services.backbone.service import HttpServer, Life
from services.backbone.settings import KafkaSettings
from services.backbone.web.client import ApiClient
from services.console.app import create_app
from services.console.behind import Topics
from services.console.desk import open_desk
from services.console.live import Board
from services.console.lookout import lookout_client
from services.console.oidc.provider import Provider
from services.console.parts.looking import Looker
from services.console.people.brake import Brake
from services.console.people.door import Door
from services.console.people.roles import Person, Role
from services.console.people.sessions import Sessions
from services.console.people.users import Users
from services.console.watches import WatchShelf
from services.console.watching import LedgerWatch, Watcher
from services.contracts.streams import SHIPPED_STREAMS
from services.contracts.watches import SHIPPED_WATCHES
from services.machine.ports import free_ports
from services.machine.waiting import wait_until

LOOK_SECONDS = 0.2


@pytest.fixture
def reader(pool: Pool) -> LedgerReader:
    return LedgerReader(pool)


PASSWORD = "correct horse battery"
TESTER = Person("test", Role.ADMIN, "command")


@dataclass
class Console:
    """A running console."""

    url: str
    board: Board
    watcher: Watcher
    parts: dict[str, str]
    door: Door
    users: Users
    brake: Brake
    ledger_url: str
    app: FastAPI

    @contextmanager
    def client(self, name: str = "", role: Role = Role.RESPONDER) -> Iterator[Client]:
        """Give a browser without scripts; with a name it has logged in as such a user."""
        with Client(base_url=self.url, follow_redirects=True, timeout=60) as made:
            if name:
                if self.users.find(name) is None:
                    self.users.add(TESTER, name, PASSWORD, role)
                answer = made.post("/login", data={"name": name, "password": PASSWORD})
                assert answer.status_code == 200, answer.text
            yield made


@contextmanager
def running(
    pool: Pool,
    ledger_url: str,
    lookout: ApiClient | None = None,
    open_to_readers: bool = True,
    brokers: str = "127.0.0.1:9",
    streams: Path = SHIPPED_STREAMS,
    provided: Callable[[str], Provider] | None = None,
) -> Iterator[Console]:
    life, board, port, parts = Life(), Board(), free_ports(1)[0], dict[str, str]()
    looker = Looker(life.clock)
    watch = LedgerWatch(lambda: None, Overviews(pool).with_newest)
    watcher = Watcher(watch, looker, parts, board.publish, life, LOOK_SECONDS)
    lookout, sessions = lookout or lookout_client("http://127.0.0.1:9", ""), Sessions(pool)
    door = Door(sessions, open_to_readers=open_to_readers)
    shelf = WatchShelf(SHIPPED_WATCHES)
    kafka = KafkaSettings(kafka_bootstrap_servers=brokers)
    topics = Topics(kafka, life.clock, streams_dir=streams)
    desk = open_desk(pool, board, life, sessions, lookout, shelf, topics, parts)
    thread = Thread(target=watcher.watch_until_stopped)
    url = f"http://127.0.0.1:{port}"
    if provided:
        desk = desk.beside(provided(url))
    app = create_app(desk, door)
    with HttpServer(app, "127.0.0.1", port):
        thread.start()
        wait_until(lambda: board.now is not None, 30, "the console has not looked around")
        try:
            yield Console(
                url, board, watcher, parts, door, desk.users, desk.login.brake, ledger_url, app
            )
        finally:
            life.stop.set()
            thread.join(30)
            looker.close()
            lookout.close()
            if desk.oidc:
                desk.oidc.provider.close()


@pytest.fixture
def console(pool: Pool, ledger_url: str) -> Iterator[Console]:
    with running(pool, ledger_url) as made:
        yield made


@pytest.fixture
def browser(console: Console) -> Iterator[Client]:
    """An HTTP client of a running console."""
    with Client(base_url=console.url, timeout=60) as client:
        yield client
