"""A far end in a process of its own.

It prints what was seen as JSON when it is told to end on its standard input.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

from tests.bench.delivering.receivers import Seen, Site, Taking
from tests.bench.delivering.receivers.files import READERS, taking_files
from tests.bench.delivering.receivers.mail import taking_mails
from tests.bench.delivering.receivers.push import taking_pushes
from tests.bench.delivering.receivers.readers import taking_messages, taking_records
from tests.bench.delivering.receivers.web import WEB, taking_requests

TAKING: Final[Mapping[str, Taking]] = {
    **{channel: partial(taking_requests, channel) for channel in WEB},
    **{channel: partial(taking_files, channel) for channel in READERS},
    "email": taking_mails,
    "push": taking_pushes,
    "bus": taking_records,
    "rabbitmq": taking_messages,
}
"""By channel."""


async def receive(taking: Taking, site: Site) -> Seen:
    """Take what comes until a line, or the end, of the standard input; return what was seen."""
    seen: Seen = {}
    async with taking(site, seen):
        sys.stdout.write("listening\n")
        sys.stdout.flush()
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    return seen


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--channel", choices=TAKING, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--answer-after", type=float, required=True)
    told = parser.parse_args()
    place = Site(told.port, told.folder, told.bootstrap, told.answer_after)
    json.dump(asyncio.run(receive(TAKING[told.channel], place)), sys.stdout)
