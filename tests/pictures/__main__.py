"""`python -m tests.pictures`: draws every page of the console into docs/pictures."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psycopg
from playwright.sync_api import Browser
from pydantic import SecretStr

from services.backbone.clock import SystemClock
from services.backbone.ledger.database import open_pool
from services.backbone.ledger.schema import migrate
from services.backbone.settings import LedgerSettings
from services.console.people.roles import Role
from services.machine.ports import free_ports
from services.machine.servers import postgres
from services.machine.supervision import child
from tests.integration.browser.conftest import CHROMIUM, MISSING, Tab, chromium
from tests.integration.console.conftest import Console, running
from tests.pictures.actors import playing
from tests.pictures.rehearsed import add_rehearsal
from tests.pictures.scene import fill
from tests.pictures.traced import add_trace

FOLDER: Final = Path(__file__).parents[2] / "docs" / "pictures"
WIDE: Final = {"width": 1360, "height": 900}
PHONE: Final = {"width": 390, "height": 844}
WARM_UP_MS: Final = 20_000
"""Time in which the lines of the first page get some points."""


@contextmanager
def ledger() -> Iterator[str]:
    """Run a Postgres in a folder that is removed; give the address of an empty ledger."""
    with tempfile.TemporaryDirectory() as folder:
        server = postgres.PostgresServer(Path(folder) / "postgres", free_ports(1)[0])
        binaries = postgres.find_binaries()
        postgres.prepare(server, binaries)
        started = child.start_and_wait(
            postgres.program(server, binaries), Path(folder) / "log", os.environ
        )
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute("CREATE DATABASE pictures")
        yield f"{server.url().rpartition('/')[0]}/pictures"
        started.stop()


def draw(browser: Browser, console: Console, shown: dict[str, str]) -> None:
    """Draw every page: wide and dark or light, and the first ones on a phone."""
    alert, delivery = f"/alerts/{shown['alert']}", f"/deliveries/{shown['delivery']}"
    pages = {
        "now": "/", "alerts": "/alerts", "alert": alert, "delivery": delivery, "todo": "/todo",
        "silences": f"{alert}/silence", "test": "/test", "users": "/users", "audit": "/audit",
        "rehearsal": f"/rehearsals/{shown['rehearsal']}", "trace": f"/traces/{shown['trace']}",
        "channels": "/channels", "watches": "/watches", "watch": "/watches/over-purchase",
    }  # fmt: skip
    for scheme in ("dark", "light"):
        names = pages if scheme == "dark" else {name: pages[name] for name in ("now", "alert")}
        _draw(browser, console, WIDE, scheme, names, f"-{scheme}" if scheme == "light" else "")
    _draw(
        browser, console, PHONE, "dark", {name: pages[name] for name in ("now", "alert")}, "-phone"
    )


def _draw(
    browser: Browser,
    console: Console,
    size: dict[str, int],
    scheme: str,
    pages: dict[str, str],
    end: str,
) -> None:
    context = browser.new_context(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]  # plain values
    tab = Tab(context.new_page(), console.url)
    tab.log_in(console, "ann", Role.ADMIN)
    for name, path in pages.items():
        tab.go(path)
        if name == "now":
            tab.page.wait_for_selector("body[data-live=yes]")
            tab.page.wait_for_timeout(WARM_UP_MS if end == "" else 1000)
        tab.page.screenshot(path=FOLDER / f"{name}{end}.png", animations="disabled")
        sys.stdout.write(f"docs/pictures/{name}{end}.png\n")
    context.close()
    if tab.troubles:
        raise SystemExit(f"the pages have shown errors: {tab.troubles}")


def main() -> int:
    """Draw; return the exit code."""
    if not CHROMIUM.exists():
        sys.stderr.write(f"{MISSING}\n")
        return 1
    FOLDER.mkdir(parents=True, exist_ok=True)
    with ledger() as url, playing() as parts:
        settings = LedgerSettings(postgres_url=SecretStr(url))
        migrate(settings)
        shown = fill(url) | {"rehearsal": add_rehearsal(url, SystemClock().now_ms())}
        with open_pool(settings) as pool, running(pool, url) as console, chromium() as browser:
            shown["trace"] = add_trace(pool, SystemClock().now_ms())
            console.parts.update(parts)
            draw(browser, console, shown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
