"""A far end in a process of its own.

It prints what was seen as JSON when it is told to end on its standard input.
"""

import argparse
import asyncio
import json
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from tests.bench.delivering.receivers import Seen
from tests.bench.delivering.receivers.files import READERS, taking_files
from tests.bench.delivering.receivers.mail import taking_mails
from tests.bench.delivering.receivers.web import taking_requests


def taking(told: argparse.Namespace, seen: Seen) -> AbstractAsyncContextManager[None]:
    """Return what notes in `seen` whatever comes on the channel."""
    if told.channel in READERS:
        return taking_files(told.channel, told.folder, seen)
    if told.channel == "email":
        return taking_mails(told.port, told.answer_after, seen)
    return taking_requests(told.channel, told.port, told.answer_after, seen)


async def receive(told: argparse.Namespace) -> Seen:
    """Listen until a line comes in; return what was seen."""
    seen: Seen = {}
    async with taking(told, seen):
        sys.stdout.write("listening\n")
        sys.stdout.flush()
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    return seen


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--channel", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--answer-after", type=float, default=0.0)
    json.dump(asyncio.run(receive(parser.parse_args())), sys.stdout)
