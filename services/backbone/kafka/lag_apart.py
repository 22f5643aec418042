"""How far groups are behind, asked by a process of its own, whose crash costs one answer.

The Kafka client crashes when it asks a broker for a group's offsets in the moment at which another
broker takes the group over (librdkafka 5040, open): just when a broker is lost.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Collection, Iterator
from dataclasses import replace
from select import PIPE_BUF
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from typing import Any, Final

from pydantic import ValidationError

from services.backbone.clock import Clock
from services.backbone.errors import Refused, Transient
from services.backbone.kafka.lag import LagReader, Told
from services.backbone.kafka.lag_worker import ANSWERS, QUESTION, Answer, Errand
from services.backbone.settings import PREFIX, KafkaSettings

SECONDS: Final = 30.0
"""For one answer, and the start of Python before the first, on an overloaded machine too."""
ANSWER_LIMIT_BYTES: Final = 4 * 1024 * 1024
LOOK_SECONDS: Final = 0.1
_COMMAND: Final = (sys.executable, "-m", "services.backbone.kafka.lag_worker")
_PART_BYTES: Final = 64 * 1024


class LagApart:
    """Reads as `LagReader` does; use from one thread only, and close at the end.

    `own` are our topics beside the core's. Once `stop` is set nobody waits for an answer.

    Raises:
        Refused: at its making, by options that the client cannot be opened with.
    """

    def __init__(
        self,
        settings: KafkaSettings,
        program: str,
        own: Collection[str],
        clock: Clock,
        stop: threading.Event,
        within_seconds: float = SECONDS,
    ) -> None:
        LagReader(settings, program, own.__contains__)  # opens a client, to be refused here
        self._errand = Errand(laid_open(settings), program, tuple(own))
        self._clock = clock
        self._stop = stop
        self._within_seconds = within_seconds
        self._child: subprocess.Popen[bytes] | None = None

    def read(self) -> Told:
        """Return how far each group is behind on each of our topics that it has settled some of.

        Raises:
            Transient: the brokers do not answer in time, or what asks them has ended, or does
                not answer and is ended.
            Refused: they do not allow it.
        """
        answer = self._answer()
        if answer.refused:
            raise Refused(answer.refused)
        if answer.told is None:
            raise Transient(answer.transient)
        self._errand = replace(self._errand, made_again=answer.made_again)
        return answer.told

    def close(self) -> int:
        """End the process, if there is one; return how it has ended, as `Popen.returncode` does."""
        child, self._child = self._child, None
        if child is None:
            return 0
        child.kill()  # it has nothing to finish; of one that has ended this changes nothing
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()
        return child.wait()

    def _answer(self) -> Answer:
        try:
            question = QUESTION if self._child else self._errand.line() + QUESTION
            self._child = self._child or _started()
            return ANSWERS.validate_json(self._line(self._child, question))
        except (OSError, EOFError):
            raise _nothing(_end_of(self.close())) from None
        except ValidationError:
            self.close()
            raise _nothing("said what is no answer, and was ended") from None
        except BaseException:
            self.close()
            raise

    def _line(self, child: "subprocess.Popen[bytes]", question: bytes) -> bytes:
        """Return the line that a child answers with.

        Raises:
            Transient: none is waited for any more.
            EOFError, OSError: the child has ended.
        """
        said, end = bytearray(), self._clock.monotonic_seconds() + self._within_seconds
        for part in _talk(child, question):
            said += part
            if said.endswith(b"\n"):
                break
            if self._stop.is_set():
                raise Transient("Kafka: the lag is not waited for, as the program ends")
            if len(said) > ANSWER_LIMIT_BYTES:
                raise _nothing(f"said more than {ANSWER_LIMIT_BYTES} bytes, and was ended")
            if self._clock.monotonic_seconds() > end:
                raise _nothing(f"said nothing for {self._within_seconds:g} s, and was ended")
        return bytes(said)


def laid_open(settings: KafkaSettings) -> dict[str, Any]:
    """Return what a Kafka client needs of a program's settings, as JSON has it, secrets too."""
    plain = settings.model_dump(mode="json", include=set(KafkaSettings.model_fields))
    options = settings.kafka_options.items()
    return plain | {"kafka_options": {name: each.get_secret_value() for name, each in options}}


def _started() -> "subprocess.Popen[bytes]":
    # All settings come with the errand: what is read once is not read again, and may have changed.
    own = {name: each for name, each in os.environ.items() if not name.startswith(PREFIX)}
    return subprocess.Popen(
        _COMMAND,
        env=own,
        bufsize=0,
        stdin=subprocess.PIPE,  # it ends when this closes, also when we are killed
        stdout=subprocess.PIPE,
        start_new_session=True,  # a terminal's Ctrl-C is for us
    )


def _talk(child: "subprocess.Popen[bytes]", question: bytes) -> Iterator[bytes]:
    """Write a question, and yield what is said to it; after `LOOK_SECONDS` if only nothing.

    Raises:
        EOFError, OSError: the child has ended.
    """
    assert child.stdin is not None  # noqa: S101 - it is started with both
    assert child.stdout is not None  # noqa: S101
    with DefaultSelector() as ready:
        ready.register(child.stdin, EVENT_WRITE)
        ready.register(child.stdout, EVENT_READ)
        while True:
            read = b""
            for key, _ in ready.select(LOOK_SECONDS):
                if key.fileobj is child.stdout:
                    read = os.read(key.fd, _PART_BYTES)
                    if not read:
                        raise EOFError
                else:
                    question = question[os.write(key.fd, question[:PIPE_BUF]) :]
                    if not question:
                        ready.unregister(key.fileobj)
            yield read


def _end_of(code: int) -> str:
    """Say how a process has ended, by its code as `Popen.returncode` has it."""
    if code >= 0:
        return f"has ended with {code}, and its last words are in this log"
    name = signal.Signals(-code).name
    known = " (the Kafka client has such a fault: librdkafka 5040)" if name == "SIGSEGV" else ""
    return f"was ended by {name}{known}"


def _nothing(why: str) -> Transient:
    return Transient(f"the process that asks Kafka for the lag {why}; the next question starts it")
