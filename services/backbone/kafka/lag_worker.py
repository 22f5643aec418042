"""`python -m services.backbone.kafka.lag_worker`: asks the brokers for `lag_apart`, over pipes.

On standard input comes one line that says what to ask (never arguments: options hold secrets),
then a line for each question; for each one line of JSON goes out. It ends when its input does.
"""

import json
import os
import sys
import threading
from dataclasses import asdict, dataclass
from queue import SimpleQueue
from typing import Any, Final

from pydantic import TypeAdapter

from services.backbone.errors import Refused, Transient
from services.backbone.kafka.lag import LagReader, Told
from services.backbone.kafka.made_again import NOTHING, MadeAgain
from services.backbone.log import set_up_logging
from services.backbone.settings import KafkaSettings
from services.contracts.topics import is_core

QUESTION: Final = b"?\n"


@dataclass(frozen=True, slots=True)
class Errand:
    """What to ask: `settings` as JSON has them, secrets laid open; `own` topics beside the core's.

    The settings' logs are this process's too, under the name of the `program` that has started it.
    `made_again` is what the process before has remembered.
    """

    settings: dict[str, Any]
    program: str
    own: tuple[str, ...]
    made_again: MadeAgain = NOTHING

    def line(self) -> bytes:
        """Return it as the line that it goes out as."""
        return json.dumps(asdict(self), default=sorted).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one question: `told`, or why there is nothing, by what kind of trouble.

    With it comes what is remembered, as this process may not live until the next one.
    """

    told: Told | None = None
    made_again: MadeAgain = NOTHING
    transient: str = ""
    refused: str = ""


ANSWERS: Final = TypeAdapter(Answer)
ERRANDS: Final = TypeAdapter(Errand)


class Asking:
    """Answers questions; opens its client with the first."""

    def __init__(self, settings: KafkaSettings, errand: Errand) -> None:
        self._settings = settings
        self._errand = errand
        self._own = frozenset(errand.own)
        self._reader: LagReader | None = None

    def answer(self) -> Answer:
        """Return what the brokers say now."""
        try:
            self._reader = self._reader or self._opened()
            return Answer(told=self._reader.read(), made_again=self._reader.made_again)
        except Transient as error:
            return Answer(transient=str(error))
        except Refused as error:
            return Answer(refused=str(error))

    def _opened(self) -> LagReader:
        errand = self._errand
        return LagReader(self._settings, errand.program, self._is_ours, errand.made_again)

    def _is_ours(self, topic: str) -> bool:
        return topic in self._own or is_core(topic)


def main() -> None:
    """Answer until the input ends."""
    lines: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), name="listen", daemon=True).start()
    errand = ERRANDS.validate_json(lines.get())
    settings = KafkaSettings(**errand.settings)
    set_up_logging(errand.program, settings)
    asking = Asking(settings, errand)
    while lines.get():
        _say(ANSWERS.dump_json(asking.answer()) + b"\n")


def _listen(lines: "SimpleQueue[bytes]") -> None:
    """Pass lines on until whoever has started this closes our input or dies, and end at once."""
    with open(0, "rb", closefd=False) as given:  # sys.stdin's lock would hold up our own end
        for line in given:
            if line.endswith(b"\n"):
                lines.put(line)
    os._exit(0)


def _say(line: bytes) -> None:
    try:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os._exit(0)  # nobody is there any more, which is no bug to be told of


if __name__ == "__main__":
    main()
