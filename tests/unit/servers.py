"""The example of docs/streams.md: its files, and the events that the page sends."""

import re
from pathlib import Path

from services.contracts.streams import load_streams

DOCS = Path(__file__).parents[2] / "docs"
SERVERS = DOCS / "examples" / "servers"
STREAM_FILE = SERVERS / "streams" / "server_metrics.yaml"
WATCH_FILE = SERVERS / "watches" / "cpu-high.yaml"
STREAMS = load_streams(STREAM_FILE.parent)
PAGE = (DOCS / "streams.md").read_text("utf-8")
SENT = [each.encode() for each in re.findall(r"^send '(\{.*?\})'", PAGE, re.MULTILINE)]
"""Bodies of the page's requests, the last one wrong."""
