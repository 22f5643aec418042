"""A real browser, which notes every error that its console shows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright
from pydantic import SecretStr

from services.backbone.clock import SystemClock
from services.backbone.ledger.database import Pool, open_pool
from services.backbone.settings import LedgerSettings
from services.console.oidc.provider import Provider
from services.console.people.roles import Role
from tests.integration.browser.scenes import Scene, fill
from tests.integration.console.conftest import PASSWORD, TESTER, Console, running
from tests.integration.console.login_provider import LoginProvider, login_provider, settings_for
from tests.integration.deliverer import conftest as deliverers
from tests.integration.deliverer.ledgers import Ledger

bus = deliverers.bus
ledger = deliverers.ledger
receiver = deliverers.receiver
start = deliverers.start

CHROMIUM = Path("/usr/bin/chromium")
MISSING = "no Chromium here: apt-get install chromium"
WAIT_MS = 30_000.0


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run Debian's browser; its own sandbox needs rights that root in a container lacks."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def chrome() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip(MISSING)
    with chromium() as browser:
        yield browser


@pytest.fixture
def pool(ledger: Ledger) -> Iterator[Pool]:
    with open_pool(LedgerSettings(postgres_url=SecretStr(ledger.url))) as made:
        yield made


@pytest.fixture
def keyring() -> Iterator[LoginProvider]:
    with login_provider() as made:
        yield made


@pytest.fixture
def console(pool: Pool, ledger: Ledger, keyring: LoginProvider) -> Iterator[Console]:
    def provided(url: str) -> Provider:
        return Provider(settings_for(keyring, url), SystemClock())

    with running(pool, ledger.url, provided=provided) as made:
        yield made


@dataclass
class Tab:
    """A page, and what went wrong on it."""

    page: Page
    url: str
    troubles: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(WAIT_MS)
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(message.text)

    def go(self, path: str) -> None:
        """Load a page of the console."""
        self.page.goto(self.url + path)

    def log_in(self, console: Console, name: str = "ann", role: Role = Role.RESPONDER) -> None:
        """Log in by the page, as a user who is made if there is none."""
        if console.users.find(name) is None:
            console.users.add(TESTER, name, PASSWORD, role)
        self.go("/login")
        self.page.fill("input[name=name]", name)
        self.page.fill("input[name=password]", PASSWORD)
        self.page.click("main button")
        self.page.wait_for_selector(f"text={name}")


OpenTab = Callable[..., Tab]


@pytest.fixture
def tab(chrome: Browser, console: Console) -> Iterator[OpenTab]:
    """Open pages; at the end none of them may have shown an error."""
    opened: list[Tab] = []

    def open_one(**options: object) -> Tab:
        context = chrome.new_context(**options)  # type: ignore[arg-type]  # passed on as given
        opened.append(Tab(context.new_page(), console.url))
        return opened[-1]

    yield open_one
    for each in opened:
        each.page.context.close()
    assert [each.troubles for each in opened] == [[] for _ in opened]


@pytest.fixture
def scene(pool: Pool, ledger: Ledger) -> Scene:
    """Give a ledger in which every page has something to show."""
    return fill(pool, ledger.url)
