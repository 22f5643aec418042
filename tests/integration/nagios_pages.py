"""The JSON pages of a real Nagios (Debian's nagios4-cgi) behind a small web server."""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from tests.integration.nagios import Nagios

PAGES: Final = Path(os.environ.get("NAGIOS_CGI", "/usr/lib/cgi-bin/nagios4"))
"""NAGIOS_CGI names another folder, for example of the unpacked package."""


def complaint() -> str | None:
    """Say why there are no pages here, or None."""
    if (PAGES / "statusjson.cgi").exists():
        return None
    return "no pages of Nagios here: apt-get install nagios4-cgi"


@contextmanager
def shown(nagios: Nagios) -> Iterator[str]:
    """Serve the pages of one Nagios; yields their address."""
    settings = nagios.folder / "cgi.cfg"
    settings.write_text(
        f"main_config_file={nagios.folder}/nagios.cfg\n"
        "physical_html_path=/nowhere\nurl_html_path=/nagios\nuse_authentication=0\n"
    )

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page, _, query = self.path.lstrip("/").partition("?")
            told = {"REQUEST_METHOD": "GET", "QUERY_STRING": query}
            run = subprocess.run(
                [str(PAGES / page)],
                env={**told, "NAGIOS_CGI_CONFIG": str(settings)},
                capture_output=True,
                check=True,
                timeout=30,
            )
            _, _, body = run.stdout.partition(b"\r\n\r\n")
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
