"""Signals as something one waits for, so that no code runs inside a signal handler."""

import select
import signal
import socket
from types import FrameType, TracebackType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """While entered, the signals that ask to stop are collected and seen by `wait`."""

    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        self._heard: tuple[signal.Signals, ...] = ()

    def __enter__(self) -> "Interrupts":
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        self._heard = tuple(number for number in STOP_SIGNALS if not _is_barred(number))
        for number in self._heard:
            signal.signal(number, _ignore)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number in self._heard:
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        self._reader.close()
        self._writer.close()

    def wait(self, seconds: float) -> bool:
        """Wait this long at most; return at once, and True, when a signal to stop has come."""
        readable, _, _ = select.select([self._reader], [], [], seconds)
        if not readable:
            return False
        numbers = self._reader.recv(64)
        return any(number in STOP_SIGNALS for number in numbers)


def _is_barred(number: signal.Signals) -> bool:
    """`nohup` bars a hang-up. A script bars Ctrl-C from what it starts with `&`: that is heard."""
    return number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN


def _ignore(number: int, frame: FrameType | None) -> None:
    """The signal's number reaches `wait` by itself."""
