"""Structured logs: one line per happening, as JSON or as text, on standard error.

Our own lines go straight there, since there is one for each alert and each delivery; what libraries
say by `logging` takes the longer way, and looks the same.
"""

import logging
import sys
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from typing import Any, Final

import structlog
from structlog.dev import ConsoleRenderer, plain_traceback
from structlog.processors import ExceptionRenderer
from structlog.tracebacks import ExceptionDictTransformer
from structlog.typing import FilteringBoundLogger, Processor

from services.backbone.lines import harmless
from services.backbone.settings import Settings
from services.backbone.writing import json_text

_TALKATIVE: Final = ("httpx2", "httpcore2", "h2", "hpack", "uvicorn.access")
"""Libraries that write a line for each request; clients' lines hold addresses and secrets."""
_OF_SEVERAL_LINES: Final = {"exception", "stack"}
_SHARED: Final[list[Processor]] = [
    structlog.processors.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]


class _Writer(structlog.WriteLogger):
    """Writes whole lines on standard error, for one module."""

    def __init__(self, name: str) -> None:
        super().__init__(sys.stderr)
        self.name = name

    def msg(self, message: str) -> None:
        """Write one line; a full disk takes the line, never the work that it tells of."""
        with suppress(OSError):
            super().msg(message)

    log = debug = info = warning = error = critical = msg


def set_up_logging(program: str, settings: Settings) -> None:
    """Send our logs and those of libraries to one place, in one form."""
    level, last = settings.log_level.upper(), _last(settings)
    shared = [_whose(program, settings.instance), *_SHARED]
    structlog.configure(
        processors=[*shared, *last],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=_Writer,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    remove = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=[remove, *last])
    )
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for library in _TALKATIVE:
        logging.getLogger(library).setLevel(logging.WARNING)


def logger(name: str) -> FilteringBoundLogger:
    """Return a logger that takes a happening's name and its facts as keywords."""
    bound: FilteringBoundLogger = structlog.get_logger(name)
    return bound


def _whose(program: str, instance: str) -> Processor:
    """Return what says of each line whose it is; a context would be empty on other threads."""

    def add(_: Any, __: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
        return {"program": program, "instance": instance, **event}

    return add


def _last(settings: Settings) -> list[Processor]:
    if settings.log_format == "json":
        # Local variables are left out: they hold addresses with passwords, and people's messages.
        as_json = structlog.processors.JSONRenderer(serializer=json_text)
        return [ExceptionRenderer(ExceptionDictTransformer(show_locals=False)), as_json]
    return [_harmless, ConsoleRenderer(colors=False, exception_formatter=plain_traceback)]


def _harmless(_: Any, __: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Write out what would move the terminal of whoever reads: far ends say some of these."""
    texts = {name for name, value in event.items() if isinstance(value, str)} - _OF_SEVERAL_LINES
    return dict(event) | {name: harmless(event[name]) for name in texts}
