"""The command line, asking a running console; and what it shows of a trace that another ends."""

import io
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from services.aldebaran.__main__ import carry_out, parser
from services.aldebaran.client import CommandSettings, console_client
from services.backbone.clock import Clock
from tests.integration.console.conftest import Console


def run_with(console: Console, clock: Clock) -> Callable[..., str]:
    """Return what runs commands by this clock."""
    settings = CommandSettings.model_validate(
        {"console_url": console.url, "operator_key": "secret"}
    )

    def run(*arguments: str) -> str:
        out, client = io.StringIO(), console_client(settings)
        with closing(client):
            carry_out(parser().parse_args(arguments), client, clock, out)
        return out.getvalue()

    return run


def followed_to_its_end(console: Console, key: str, clock: Clock) -> str:
    """Follow the trace of a key, have it ended once it is followed; return what is shown."""
    end = partial(run_with(console, clock), "trace", key, "--end")
    return run_with(console, Meanwhile(clock, end))("trace", key)


@dataclass
class Meanwhile:
    """A clock that lets something happen at the first wait."""

    clock: Clock
    deed: Callable[[], object]

    def now_ms(self) -> int:
        """Return the clock's own time."""
        return self.clock.now_ms()

    def monotonic_seconds(self) -> float:
        """Return the clock's own seconds."""
        return self.clock.monotonic_seconds()

    def awake_seconds(self) -> float:
        """Return the clock's own seconds."""
        return self.clock.awake_seconds()

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """Wait by the clock, after what is to happen."""
        self.deed()
        self.deed = lambda: None
        return self.clock.wait(stop, seconds)
