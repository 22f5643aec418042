"""A page that comes in pieces, as over a slow line, is painted when all of it is there."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from urllib.parse import urlsplit

import httpx2
import pytest
from playwright.sync_api import Page, Route

from tests.integration.browser.conftest import OpenTab, Tab
from tests.integration.console.conftest import Console

pytestmark = [pytest.mark.kafka, pytest.mark.postgres]

WAITS = '<link rel="expect" href="#keys" blocking="render">'
LAST = '<dialog id="keys"'
PAINTED = '() => performance.getEntriesByType("paint").length > 0'
LATER = "() => new Promise(done => setTimeout(done))"


@contextmanager
def slow(page: str, go_on: Event) -> Iterator[str]:
    """Serve a page up to what comes last, and that when it may go on."""
    first, last, rest = page.partition(LAST)

    class Slowly(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(first.encode())
            go_on.wait()
            self.wfile.write((last + rest).encode())

        def log_message(self, *told: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Slowly)
    serving = Thread(target=server.serve_forever)
    serving.start()
    yield f"http://127.0.0.1:{server.server_port}/login"
    go_on.set()
    server.shutdown()
    serving.join()
    server.server_close()


def files_of(one: Tab) -> None:
    """Take a page's files from the console, wherever the page itself is from.

    Not by the browser: it throws away what it has fetched for a page that is left meanwhile.
    """

    def take(route: Route) -> None:
        found = httpx2.get(one.url + urlsplit(route.request.url).path, timeout=30)
        route.fulfill(headers=dict(found.headers), body=found.content)

    one.page.route("**/static/**", take)


def painted_meanwhile(page: Page) -> bool:
    for _ in range(5):
        page.evaluate(LATER)
    painted: bool = page.evaluate(PAINTED)
    return painted


@pytest.mark.parametrize("told_to_wait", [True, False])
def test_a_page_is_painted_when_all_of_it_is_there(
    tab: OpenTab, console: Console, told_to_wait: bool
) -> None:
    one, go_on = tab(), Event()
    page = one.page.request.get(f"{console.url}/login").text()
    assert WAITS in page
    files_of(one)
    with slow(page if told_to_wait else page.replace(WAITS, ""), go_on) as url:
        one.page.goto(url, wait_until="commit")
        one.page.wait_for_function("document.querySelector('main button')", polling=10)
        if told_to_wait:
            assert not painted_meanwhile(one.page)
        else:
            one.page.wait_for_function(PAINTED, polling=10)
        go_on.set()
        one.page.wait_for_function(PAINTED)
        one.page.wait_for_load_state()
