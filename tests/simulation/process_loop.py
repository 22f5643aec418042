"""An asyncio event loop on virtual time, one per simulated process."""

import asyncio
from asyncio.events import _get_running_loop, _set_running_loop
from asyncio.tasks import _enter_task, _leave_task
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context
from typing import Any, Final, TypeVar, TypeVarTuple, Unpack

from tests.simulation.kernel import Kernel, Process, Violation

TURNS_LIMIT: Final = 20_000
"""More callbacks than this at one moment are an endless loop."""

Result = TypeVar("Result")
Terms = TypeVarTuple("Terms")
_Ready = tuple[asyncio.Handle, Callable[..., object], tuple[Any, ...], Context | None]


class ProcessLoop(asyncio.AbstractEventLoop):
    """Runs a process's tasks whenever the kernel lets something happen to it.

    Callbacks run in the sequence in which they became ready, as in asyncio's own loop. A dead
    process's loop is left as it is: its tasks never run again.
    """

    def __init__(self, kernel: Kernel, process: Process) -> None:
        self._kernel = kernel
        self._process = process
        self._ready: deque[_Ready] = deque()
        self._turning = False
        self._open: dict[asyncio.Task[Any], Coroutine[Any, Any, Any]] = {}
        process.drain = self.drain

    def drain(self) -> None:
        """Run what is ready, and what gets ready by that; a frozen task goes on first."""
        if self._turning:
            return
        before, self._turning = _get_running_loop(), True
        _set_running_loop(self)
        try:
            self._turn()
        finally:
            self._turning = False
            _set_running_loop(before)

    def _turn(self) -> None:
        ready, process = self._ready, self._process
        turns = 0
        while ready and process.alive and not process.stopped:
            handle, callback, args, context = ready.popleft()
            if handle.cancelled():
                continue
            if context is None:
                callback(*args)
            else:
                context.run(callback, *args)
            turns += 1
            if turns > TURNS_LIMIT:
                raise Violation(f"{process.slot} turns without end at one moment")

    def spawn(self, work: Coroutine[Any, Any, Result]) -> "asyncio.Task[Result]":
        """Start a task whose exception, if it ends with one, is a bug of the program."""
        task = self.create_task(work)
        self._open[task] = work
        task.add_done_callback(self._ended)
        return task

    def close(self) -> None:
        """Let go of tasks that will never run again."""
        for work in self._open.values():
            with suppress(Exception):  # a dead process would not have come to its last words
                work.close()

    def freeze(self, seconds: float) -> bool:
        """Stop the process between two of its instructions, inside the running task.

        Returns:
            Whether the process is still alive when the time is over.
        """
        task = asyncio.current_task(self)
        assert task is not None
        _leave_task(self, task)
        self._kernel.stop(self._process, seconds)
        while self._process.alive and self._process.stopped:
            self._kernel.run(self._process.resumed_at)
        _enter_task(self, task)
        return self._process.alive

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._open.pop(task, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            if isinstance(error, Violation):
                raise error
            raise Violation(f"bug: in {self._process.slot}: {error!r}") from error

    def time(self) -> float:
        return self._kernel.now

    def call_soon(
        self,
        callback: Callable[[Unpack[Terms]], object],
        *args: *Terms,
        context: Context | None = None,
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append((handle, callback, args, context))
        return handle

    def call_later(
        self,
        delay: float,
        callback: Callable[[Unpack[Terms]], object],
        *args: *Terms,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        return self.call_at(self._kernel.now + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[Terms]], object],
        *args: *Terms,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        ready = (timer, callback, args, context)
        self._kernel.at(when, lambda: self._ready.append(ready), self._process)
        return timer

    def create_future(self) -> "asyncio.Future[Any]":
        return asyncio.Future(loop=self)

    def create_task(
        self,
        coro: Any,
        *,
        name: str | None = None,
        context: Context | None = None,
    ) -> "asyncio.Task[Any]":
        return asyncio.Task(coro, loop=self, name=name or "", context=context)

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Ignore tasks that a kill has left behind; everything else is a bug."""
        if "was destroyed but it is pending" not in context["message"]:
            raise Violation(f"bug: in {self._process.slot}: {context}")

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Leave it on the heap: it does nothing when its time comes."""
