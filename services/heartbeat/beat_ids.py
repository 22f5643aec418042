"""Ids of beats: reserved prefix, this run of the program, number; all of one length."""

from typing import Final

from services.contracts.fields import HEARTBEAT_PREFIX
from services.contracts.ids import digest
from services.contracts.records import Alert
from services.contracts.watches import BEAT_LENGTH

_RUN_LENGTH: Final = 8
_NUMBER_LENGTH: Final = BEAT_LENGTH - len(f"{HEARTBEAT_PREFIX}-") - _RUN_LENGTH


def run_name(instance: str, start_ms: int) -> str:
    """Return a short name of one run of the program."""
    return digest("heartbeat", instance, str(start_ms))[:_RUN_LENGTH]


def beat_id(run: str, number: int) -> str:
    """Return the id of beat `number`."""
    return f"{HEARTBEAT_PREFIX}{run}-{number:0{_NUMBER_LENGTH}x}"


def answered_beat(alert: Alert) -> str | None:
    """Return the id of the beat that an answer is about; its key may carry more after the id."""
    for value in alert.key.values():
        if value.startswith(HEARTBEAT_PREFIX) and len(value) >= BEAT_LENGTH:
            return value[:BEAT_LENGTH]
    return None
