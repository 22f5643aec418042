"""Takes changes of the declared watches while all watches run: checked first, then step by step."""

from typing import Final

from auditor import metrics
from auditor.changes.change import Change, Kind
from auditor.changes.goal import Goal
from auditor.changes.handover import Handover
from auditor.changes.kept import Kept
from auditor.changes.means import Means
from auditor.changes.turn import Turn
from auditor.changes.untaken import Untaken
from auditor.fleet import Fleet
from auditor.job import Scene
from auditor.queries.declared import Declarations
from auditor.states import Stopped
from services.backbone.errors import Refused, Transient
from services.backbone.log import logger

RETRY_SECONDS: Final = 10.0
"""Wait after a look that brokers or disk cut short."""

log = logger(__name__)


class Reload:
    """Brings what runs to what is declared; `look` does one bounded step at a time.

    A rejected declaration is not tried again until a file changes or another rule is replaced;
    meanwhile its watch goes on as it was. What cannot be tried now waits, and holds up no other
    watch. What stops a query or competes with it needs the turn, so that of two auditors one at a
    time changes and the other is whole.
    """

    def __init__(self, scene: Scene, means: Means, fleet: Fleet, turn: Turn) -> None:
        self._scene = scene
        self._means = means
        self._fleet = fleet
        self._turn = turn
        self._kept = Kept(scene)
        self._goal: Goal | None = None
        self._untaken = Untaken(fleet, scene.clock)
        self._handover = Handover(scene, means, fleet, self._untaken)
        self._held_up: str | None = None
        self._not_before_seconds = 0.0

    def take(self, declarations: Declarations) -> None:
        """Work towards this reading of the folders from now on."""
        self._goal = Goal(declarations, self._scene.settings.auditor_shuffle_partitions)
        for file, reason in declarations.problems.items():
            log.error("watch_file_rejected", file=file, reason=reason)
        metrics.BAD_FILES.set(len(declarations.problems))
        for watch in declarations.wanted():
            metrics.begin(watch)
        self._untaken.try_all_again()
        for watch in self._fleet.missing:
            if not declarations.may_want(watch):
                self._fleet.excuse(watch)
                self._kept.forget(watch)

    def notes(self) -> str | None:
        """Say which files and changes are not taken, and why."""
        problems = list(self._goal.declarations.problems.values()) if self._goal else []
        held_up = [reason] if (reason := self._held_up) else []
        return "; ".join([*problems, *self._untaken.notes(), *held_up]) or None

    def look(self) -> None:
        """Go on with the change that is under way, or begin the next."""
        if self._goal is None or self._scene.clock.monotonic_seconds() < self._not_before_seconds:
            return
        try:
            self._step(self._goal)
        # What runs was checked: only brokers that have lost its topic refuse it anything.
        except (Transient, Refused) as error:
            self._held_up = str(error)
            self._not_before_seconds = self._scene.clock.monotonic_seconds() + RETRY_SECONDS
            log.warning("change_waits", reason=str(error), wait_seconds=RETRY_SECONDS)
        else:
            self._held_up = None

    def stop(self) -> None:
        """End what is under way for a change, the query that has not caught up among it."""
        self._handover.end()
        self._turn.give_back()

    def _step(self, goal: Goal) -> None:
        self._end_what_is_gone(goal)
        self._kept.note(self._fleet.running)
        self._go_back_where_rows_are_bad(goal)
        if self._handover.stage is not None:
            self._handover.go_on(goal)
        else:
            self._begin(goal)

    def _end_what_is_gone(self, goal: Goal) -> None:
        """Another watch's change may be under way for hours: a watch that is paused ends before."""
        for watch in goal.gone(self._fleet.running):
            if not self._handover.is_changing(watch) and self._fleet.comes_to_rest(watch):
                self._end(watch)

    def _end(self, watch: str) -> None:
        ended = self._fleet.take(watch)
        ended.supervised.stop()
        self._handover.let_go(watch)
        self._kept.forget(watch)
        metrics.forget(watch)
        log.info("watch_ended", watch=watch, checkpoint=str(ended.recipe.checkpoint.folder))

    def _go_back_where_rows_are_bad(self, goal: Goal) -> None:
        """That its query stands still already needs no turn: nothing that judges is stopped."""
        for name, bad in list(self._fleet.running.items()):
            state = bad.supervised.state
            if not isinstance(state, Stopped) or state.earlier is None:
                continue
            prepared = self._means.prepare(state.earlier, bad.phase)
            self._kept.go_back(bad.declared, state.earlier, state.reason)
            self._fleet.take(name).supervised.stop()
            self._fleet.put(name, prepared)
            self._handover.prove_instead(prepared)
            if goal.wants(bad.declared):
                self._untaken.reject(name, state.reason)

    def _begin(self, goal: Goal) -> None:
        running = {name: one.declared for name, one in self._fleet.running.items()}
        steps = (step for step in goal.steps(running) if self._untaken.may_try(step.watch))
        step = next(steps, None)
        if step is None:
            self._turn.give_back()
        elif self._may_go(step):
            self._handover.begin(step, goal.declarations.watches[step.watch])

    def _may_go(self, step: Change) -> bool:
        """Whether this auditor has the turn if it takes one, and nothing is done for the watch.

        What is to stop and does not rest yet holds up all others: they may need its slots.
        """
        if step.kind is Kind.STOP:
            return False
        if step.kind.needs_turn and not self._turn.take():
            return False
        return step.kind is not Kind.CONTINUE or self._fleet.comes_to_rest(step.watch)
