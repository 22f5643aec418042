"""The routes in use: a changed file is taken over whole while the lookout runs, or not at all."""

import threading
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from services.backbone.clock import Clock
from services.backbone.log import logger
from services.backbone.service import Life
from services.lookout import metrics
from services.lookout.routes.lint import Surroundings, lint
from services.lookout.routes.problems import BadRoutes, Problem
from services.lookout.routes.reading import Reading
from services.lookout.routes.source import RoutesSource
from services.lookout.routes.watches_folder import WatchesFolder
from services.lookout.routing import Routes

LOOK_SECONDS: Final = 1.0
WARNINGS_LIMIT: Final = 20
"""Most warnings that are logged; `check` shows all."""

log = logger(__name__)


class RoutesHolder:
    """Holds the routes of a file; safe to ask from any thread.

    Raises BadRoutes at construction if the file cannot be used.
    """

    def __init__(
        self,
        source: RoutesSource,
        reading: Reading,
        clock: Clock,
        watches: WatchesFolder | None = None,
    ) -> None:
        self._source = source
        self._watches = watches
        self._reading = reading
        self._clock = clock
        self._lock = threading.Lock()
        self._names: Mapping[str, Collection[str]] = {}
        self._warnings: list[Problem] = []
        self._problem: BadRoutes | None = None
        self._bug: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._routes = self._load()

    def current(self) -> Routes:
        """Return the routes in use; a batch asks once, so that one file decides on all of it."""
        return self._routes

    @property
    def problem(self) -> BadRoutes | None:
        """Why the newest file could not be taken over; None if it was."""
        return self._problem

    @property
    def warnings(self) -> Sequence[Problem]:
        """What the file in use says and hardly means."""
        return self._warnings

    def heed(self, names: Mapping[str, Collection[str]]) -> None:
        """Take over which recipients deliverers know by name; warn of others if that is news."""
        with self._lock:
            if names != self._names:
                self._names = names
                self._warn()

    def note(self) -> str | None:
        """Say for the health page that older routes are in use; None if the newest are."""
        problem = self._problem
        if problem is None:
            return None
        return f"the changed file is not in use, the routes before it are; {problem}"

    def reload(self) -> None:
        """Take over the file as it is now.

        Raises:
            BadRoutes: it cannot be used; the routes in use stay.
        """
        with self._lock:
            before = self._routes.version_id
            self._routes = self._load()
            if self._routes.version_id != before:
                log.info("routes_reloaded", version_id=self._routes.version_id, before=before)

    def look(self) -> None:
        """Take over the file if it, or a template beside it, has changed since it was read; warn
        anew if the watches have.
        """
        with self._lock:
            changed = self._source.changed()
            if not changed and self._watches is not None and self._watches.changed():
                self._warn()
        if not changed:
            return
        try:
            self.reload()
        except BadRoutes:
            return  # logged, counted and noted already

    def start(self, life: Life) -> None:
        """Look every second on a thread of its own; ends with the life."""
        self._thread = threading.Thread(target=self._run, args=(life,), name="routes", daemon=True)
        self._thread.start()

    def close(self, timeout_seconds: float) -> None:
        """Wait for the look in hand; raise what has ended the thread, if it was a bug."""
        if self._thread is not None:
            self._thread.join(timeout_seconds)
        if self._bug is not None:
            raise self._bug

    def _load(self) -> Routes:
        try:
            checked = self._reading.checked(self._source)
            routes = checked.routes()
        except BadRoutes as error:
            self._problem = error
            metrics.ROUTES_FAILED.set(1)
            log.error("routes_refused", reason=str(error))
            raise
        self._checked = checked
        self._warn()
        self._problem = None
        metrics.ROUTES_FAILED.set(0)
        metrics.ROUTES_LOADED.set(self._clock.now_ms() / 1000)
        return routes

    def _warn(self) -> None:
        """Look for warnings anew, and log those that were not there before."""
        now = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC)
        watches = None if self._watches is None else self._watches.known()
        around = Surroundings(now, self._reading.variables, watches, self._names)
        before, self._warnings = self._warnings, lint(self._checked, around)
        metrics.ROUTES_WARNINGS.set(len(self._warnings))
        for each in [each for each in self._warnings if each not in before][:WARNINGS_LIMIT]:
            log.warning("routes_warning", line=each.line, reason=each.reason)

    def _run(self, life: Life) -> None:
        try:
            while not life.clock.wait(life.stop, LOOK_SECONDS):
                self.look()
        except Exception as error:  # handed to the main thread, which ends the program with it
            self._bug = error
            life.stop.set()
