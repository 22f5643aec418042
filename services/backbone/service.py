"""The life of a program: settings, logs, health, signals, a body, and a bounded end."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from services.backbone.clock import Clock, SystemClock
from services.backbone.errors import Ended, Refused, Transient
from services.backbone.health import Health, health_app
from services.backbone.http.connections import BoundedConnections, connections_limit, files_limit
from services.backbone.log import logger, set_up_logging
from services.backbone.settings import EXIT_BAD_SETTINGS, Settings
from services.backbone.spelling import sentence, unknown_settings

EXIT_BUG = 70
"""`EX_SOFTWARE` of sysexits.h: a bug ended the process."""
EXIT_DEPENDENCY = 69
"""`EX_UNAVAILABLE` of sysexits.h: something outside was away for too long, or its client ended."""
IDLE_CONNECTION_SECONDS = 75
"""Longer than the 60 s of load balancers (nginx, AWS): were we the first to end a connection, their
next request would meet a closed line and be answered 502."""

log = logger(__name__)


@dataclass(frozen=True)
class Life:
    """What a program's body gets: when to stop, what time it is, where to report health."""

    clock: Clock = field(default_factory=SystemClock)
    stop: threading.Event = field(default_factory=threading.Event)
    health: Health = field(default_factory=Health)


def run(
    program: str,
    settings: Settings,
    body: Callable[[Life], None],
    app: Callable[[Life], ASGIApp] | None = None,
) -> int:
    """Run a program until its body returns; return the exit code.

    SIGTERM and SIGINT set `life.stop`; the body then has `drain_timeout_seconds` to finish its
    work and return (exit 0). `app` adds pages of the program's own to health and metrics.
    """
    set_up_logging(program, settings)
    life = Life()
    _stop_on_signals(life, settings.drain_timeout_seconds)
    own = app or (lambda alive: health_app(alive.health))
    with HttpServer(own(life), settings.http_host, settings.http_port):
        log.info("started", http_port=settings.http_port, settings=settings.model_dump(mode="json"))
        if unknown := unknown_settings(os.environ):
            log.warning("unknown_settings", reason=sentence(unknown))
        code = _outcome(body, life)
    log.info("stopped", exit_code=code)
    return code


def _outcome(body: Callable[[Life], None], life: Life) -> int:
    try:
        body(life)
    except Refused as error:
        log.error("refused", reason=str(error))
        return EXIT_BAD_SETTINGS
    except Transient as error:
        log.error("dependency_away", reason=str(error))
        return EXIT_DEPENDENCY
    except Ended as error:
        log.error("client_ended", reason=str(error))
        return EXIT_DEPENDENCY
    except Exception:
        log.exception("bug")
        return EXIT_BUG
    return 0


def _stop_on_signals(life: Life, drain_timeout_seconds: float) -> None:
    """Hand signals to a thread of their own.

    A handler runs inside whatever the main thread does; setting an Event there can deadlock when
    the main thread is just waiting on that Event, and writing to a pipe cannot.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)

    def on_signal(number: int, _: FrameType | None) -> None:
        os.write(writer, bytes([number]))

    def see_to_the_end() -> None:
        name = signal.Signals(os.read(reader, 1)[0]).name
        life.stop.set()
        threading.Event().wait(drain_timeout_seconds)
        sys.stderr.write(f"not drained {drain_timeout_seconds:g} s after {name}: ending now\n")
        os._exit(EXIT_BUG)

    threading.Thread(target=see_to_the_end, name="signals", daemon=True).start()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)


class HttpServer:
    """Uvicorn on a thread of its own; leaves signals to the program."""

    def __init__(self, app: ASGIApp, host: str, port: int) -> None:
        config = uvicorn.Config(
            app,
            host=host,
            port=port,
            http=BoundedConnections,
            log_config=None,
            lifespan="off",
            timeout_keep_alive=IDLE_CONNECTION_SECONDS,
            limit_concurrency=connections_limit(files_limit()),
        )
        self._server = uvicorn.Server(config)
        self._address = f"{host}:{port}"
        self._thread = threading.Thread(target=self._server.run, name="http", daemon=True)

    def __enter__(self) -> "HttpServer":
        self._thread.start()
        while not self._server.started:
            self._thread.join(timeout=0.01)
            if not self._thread.is_alive():
                raise SystemExit(f"cannot listen on {self._address}: is the port taken?")
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=5)
