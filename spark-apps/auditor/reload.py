"""Takes changes of the declared watches while all watches run: checked first, then step by step."""

from collections.abc import Callable
from functools import partial
from typing import Final

from auditor import metrics
from auditor.asked import Asked
from auditor.candidate import Candidate
from auditor.change import Change, Kind
from auditor.declared import Declarations, Declared
from auditor.fleet import Fleet, Running
from auditor.goal import Goal
from auditor.groundwork import prepare_step
from auditor.job import Scene, prepare
from auditor.kept import Kept
from auditor.proof import Proof, Verdict
from auditor.turn import Turn
from auditor.untaken import Untaken
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

    def __init__(self, scene: Scene, fleet: Fleet, turn: Turn) -> None:
        self._scene = scene
        self._fleet = fleet
        self._turn = turn
        self._kept = Kept(scene)
        self._goal: Goal | None = None
        self._untaken = Untaken(fleet, scene.clock)
        self._held_up: str | None = None
        self._asked: Asked | None = None
        self._candidate: Candidate | None = None
        self._settling: Proof | None = None
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
        held_up = [self._held_up] if self._held_up else []
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
        if self._asked is not None:
            self._asked.end()
        if self._candidate is not None:
            self._candidate.end()
        if self._settling is not None:
            self._settling.end()
        self._turn.give_back()

    def _step(self, goal: Goal) -> None:
        self._end_what_is_gone(goal)
        self._kept.note(self._fleet.running)
        self._go_back_where_rows_are_bad(goal)
        if self._asked is not None:
            self._follow(self._asked, goal)
        elif self._candidate is not None:
            self._go_on(self._candidate, goal)
        elif self._settling is not None:
            self._settle(self._settling)
        else:
            self._begin(goal)

    def _go_back_where_rows_are_bad(self, goal: Goal) -> None:
        """That its query stands still already needs no turn: nothing that judges is stopped."""
        for name, bad in list(self._fleet.running.items()):
            if (earlier := bad.supervised.earlier) is None:
                continue
            why = str(bad.supervised.stopped)
            prepared = prepare(self._scene, earlier, bad.phase)
            self._kept.go_back(bad.declared, earlier, why)
            self._fleet.take(name).supervised.stop()
            self._fleet.put(name, prepared)
            if self._settling is not None and self._settling.watch == name:
                self._settling.end()
                self._settling = Proof(self._scene, prepared)
            if goal.wants(bad.declared):
                self._untaken.reject(name, why)

    def _end_what_is_gone(self, goal: Goal) -> None:
        """Another watch's change may be under way for hours: a watch that is paused ends before."""
        for watch in goal.gone(self._fleet.running):
            if not self._is_changing(watch) and self._rests(watch):
                self._end(watch)

    def _is_changing(self, watch: str) -> bool:
        """Whether a step of this watch is under way, which is broken off first."""
        return watch in (each.watch for each in (self._asked, self._candidate) if each is not None)

    def _begin(self, goal: Goal) -> None:
        step = self._next_step(goal)
        if step is None:
            self._turn.give_back()
        elif self._may_go(step):
            self._try(step, goal.declarations.watches[step.watch])

    def _may_go(self, step: Change) -> bool:
        """Whether this auditor has the turn if it takes one, and nothing is done for the watch.

        What is to stop and does not rest yet holds up all others: they may need its slots.
        """
        if step.kind is Kind.STOP:
            return False
        if step.kind.needs_turn and not self._turn.take():
            return False
        return step.kind is not Kind.CONTINUE or self._rests(step.watch)

    def _rests(self, watch: str) -> bool:
        """Whether nothing is done for a watch that may be in trouble; it is broken off before."""
        return self._fleet.running[watch].supervised.comes_to_rest()

    def _next_step(self, goal: Goal) -> Change | None:
        running = {name: one.declared for name, one in self._fleet.running.items()}
        steps = goal.steps(running)
        return next((step for step in steps if self._untaken.may_try(step.watch)), None)

    def _try(self, step: Change, declared: Declared) -> None:
        work = partial(prepare_step, self._scene, self._fleet, step, declared)
        if (ready := self._untaken.judge(step.watch, work)) is None:
            return
        step, prepared = ready
        if step.kind.needs_trial:
            self._asked = Asked(self._scene, step, prepared)
        else:
            self._do(step, prepared)

    def _follow(self, asked: Asked, goal: Goal) -> None:
        """Begin the step once Spark has taken it, unless something else is declared by now."""
        declared = asked.prepared.declared
        wanted = goal.wants(declared)
        if not wanted:
            asked.break_off()
        if not asked.is_over(self._scene.clock.monotonic_seconds()):
            return
        self._asked = None
        if wanted and (taken := self._untaken.judge(declared.name, asked.taken)) is not None:
            self._do(asked.step, taken)

    def _do(self, step: Change, prepared: Running) -> None:
        log.info("change_begins", watch=step.watch, kind=step.kind.value)
        self._untaken.begin(step.watch)
        does: dict[Kind, Callable[[Running], None]] = {
            Kind.START: self._start,
            Kind.RESUME: self._start,
            Kind.CONTINUE: self._continue,
            Kind.REPLACE: self._compete,
        }
        does[step.kind](prepared)

    def _start(self, prepared: Running) -> None:
        self._fleet.put(prepared.declared.name, prepared)
        self._untaken.settle(prepared.declared.name)
        log.info("change_done", watch=prepared.declared.name)

    def _end(self, watch: str) -> None:
        ended = self._fleet.take(watch)
        ended.supervised.stop()
        if self._settling is not None and self._settling.watch == watch:
            self._settling.end()
            self._settling = None
        self._kept.forget(watch)
        metrics.forget(watch)
        log.info("watch_ended", watch=watch, checkpoint=str(ended.recipe.checkpoint.folder))

    def _continue(self, prepared: Running) -> None:
        """Start the same state under the new declaration; another auditor covers the moment."""
        self._fleet.take(prepared.declared.name).supervised.stop()
        self._start(prepared)
        self._settling = Proof(self._scene, prepared)

    def _settle(self, proof: Proof) -> None:
        """Keep the turn until the new query judges; else another auditor's would stop meanwhile."""
        if proof.verdict() is not Verdict.WAIT:
            self._settling = None

    def _compete(self, prepared: Running) -> None:
        self._candidate = Candidate(self._scene, prepared)

    def _go_on(self, candidate: Candidate, goal: Goal) -> None:
        declared = candidate.running.declared
        if not goal.wants(declared):
            if candidate.running.supervised.comes_to_rest():
                self._drop(candidate)
            return
        candidate.look()
        supervised = candidate.running.supervised
        if (why := supervised.stopped) is not None:
            self._drop(candidate)
            self._untaken.reject(declared.name, why)
        elif (why := supervised.failing) is not None and supervised.comes_to_rest():
            self._drop(candidate)
            self._untaken.postpone(declared.name, why, lasting=True)
        elif candidate.caught_up and self._rests(declared.name):
            self._promote(candidate)

    def _drop(self, candidate: Candidate) -> None:
        self._candidate = None
        candidate.end()
        candidate.show_no_more()

    def _promote(self, candidate: Candidate) -> None:
        old = self._fleet.running[candidate.watch]
        candidate.take_name()
        self._start(candidate.running)
        old.supervised.stop()
        self._candidate = None
        candidate.show_no_more()
        self._untaken.try_all_again()
