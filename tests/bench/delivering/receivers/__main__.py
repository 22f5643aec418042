"""A far end in a process of its own.

It prints what was seen as JSON when it is told to end on its standard input.
"""

import argparse
import asyncio
import json
import sys

from tests.bench.delivering.receivers import Seen
from tests.bench.delivering.receivers.mail import taking_mails
from tests.bench.delivering.receivers.web import taking_requests


async def receive(channel: str, port: int, answer_after_seconds: float) -> Seen:
    """Listen until a line comes in; return what was seen."""
    seen: Seen = {}
    taking = (
        taking_mails(port, answer_after_seconds, seen)
        if channel == "email"
        else taking_requests(channel, port, answer_after_seconds, seen)
    )
    async with taking:
        sys.stdout.write("listening\n")
        sys.stdout.flush()
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    return seen


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--channel", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--answer-after", type=float, default=0.0)
    told = parser.parse_args()
    json.dump(asyncio.run(receive(told.channel, told.port, told.answer_after)), sys.stdout)
