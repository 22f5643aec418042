"""Keeps a plan of programs running: starts them in order, restarts what dies, ends all together."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from services.machine.problems import MachineProblem
from services.machine.supervision.child import Child, start
from services.machine.supervision.logs import cut_long_logs
from services.machine.supervision.programs import Program, check_plan, stop_levels
from services.machine.supervision.readiness import Liveness, Look
from services.machine.supervision.restarts import RestartPolicy
from services.machine.supervision.undertaker import Undertaker
from services.machine.supervision.watched import Phase, Watched

TICK_SECONDS = 0.1
TICKS_BETWEEN_LOOKS = 50
"""Between looks at the logs' length."""
EXIT_BAD_SETTINGS = 78
# A terminal and make may each pass on one and the same request to stop.
HURRY_AFTER_SECONDS = 1.0


@dataclass(frozen=True)
class Surroundings:
    """What the supervisor is given: base environment, log folder, and ways to tell and wait.

    `wait` pauses for some seconds and returns True when a signal to stop came; `now_seconds` never
    goes back; `say` shows one line to the user.
    """

    environment: Mapping[str, str]
    logs: Path
    say: Callable[[str], None]
    wait: Callable[[float], bool]
    now_seconds: Callable[[], float]


class Supervisor:
    """Runs the programs until a signal comes or one of them cannot be kept alive."""

    def __init__(
        self,
        programs: tuple[Program, ...],
        surroundings: Surroundings,
        policy: RestartPolicy,
        when_ready: Callable[[], None],
    ) -> None:
        check_plan(programs)
        self._all = {program.name: Watched(program) for program in programs}
        self._programs = programs
        self._around = surroundings
        self._policy = policy
        self._when_ready = when_ready
        self._undertaker = Undertaker()
        self._hurried = False

    def run(self) -> int:
        """Return 0 after a signal to stop, 1 after giving up; nothing is left running."""
        told = False
        ticks = 0
        try:
            while self._goes_on():
                if not told and all(each.phase is Phase.READY for each in self._all.values()):
                    told = True
                    self._when_ready()
                ticks += 1
                if ticks % TICKS_BETWEEN_LOOKS == 0:
                    cut_long_logs(self._around.logs)
        except MachineProblem as problem:
            self._around.say(f"{problem}; ending everything")
            return 1
        else:
            self._around.say("stopping")
        finally:
            self._stop_all()
        return 0

    def _goes_on(self) -> bool:
        """Advance every program; return False once a signal to stop has come.

        A program that is silent holds up its look for seconds, and a signal waits for one, not all.
        """
        if self._around.wait(TICK_SECONDS):
            return False
        for watched in self._all.values():
            self._advance(watched)
            if self._around.wait(0):
                return False
        return True

    def _advance(self, watched: Watched) -> None:
        if watched.phase is Phase.WAITING:
            self._start_when_due(watched)
        elif watched.child is None:
            return
        elif (code := watched.child.exit_code) is not None:
            self._ended(watched, code)
        elif watched.phase is Phase.STARTING:
            self._look_whether_ready(watched)
        elif watched.program.liveness is not None:
            self._look_whether_live(watched, watched.program.liveness)

    def _look_whether_live(self, watched: Watched, liveness: Liveness) -> None:
        if watched.asked_to_end_at_seconds is not None:
            grace_seconds = min(liveness.grace_seconds, watched.program.stop_timeout_seconds)
            if self._seconds_since(watched.asked_to_end_at_seconds) > grace_seconds:
                watched.kill()
        elif not self._looked_lately(watched, liveness):
            self._judge(watched, liveness, liveness.look())

    def _judge(self, watched: Watched, liveness: Liveness, look: Look) -> None:
        watched.dead_looks = watched.dead_looks + 1 if look.dead else 0
        now = self._around.now_seconds()
        since = now if watched.silent_since_seconds is None else watched.silent_since_seconds
        watched.silent_since_seconds = since if look.is_silent else None
        if watched.dead_looks >= liveness.looks_limit:
            self._ask_to_end(watched, f"only a restart heals it, once that can help: {look.dead}")
        elif look.is_silent and now - since >= liveness.silence_limit_seconds:
            self._ask_to_end(watched, f"has not answered for {now - since:.0f} s; it is ended")

    def _ask_to_end(self, watched: Watched, why: str) -> None:
        """Ask, and do not kill yet: what it has under way comes to an end too."""
        self._around.say(f"{watched.program.name}: {why}")
        watched.ask_to_stop()
        watched.asked_to_end_at_seconds = self._around.now_seconds()

    def _looked_lately(self, watched: Watched, liveness: Liveness) -> bool:
        if self._seconds_since(watched.looked_at_seconds) < liveness.every_seconds:
            return True
        watched.looked_at_seconds = self._around.now_seconds()
        return False

    def _start_when_due(self, watched: Watched) -> None:
        program = watched.program
        needs = [] if watched.has_served else program.after
        held_back = any(self._all[name].phase is not Phase.READY for name in needs)
        if held_back or self._around.now_seconds() < watched.not_before_seconds:
            return
        if watched.has_served and self._would_be_dead(watched):
            return
        try:
            watched.child = start(program, self.log_file(program.name), self._around.environment)
        except OSError as error:  # no room on the disk, or for one more process
            self._crashed(watched, f"cannot be started: {error}")
            return
        self._tell_undertaker(watched.child)
        watched.started_at_seconds = self._around.now_seconds()
        watched.phase = Phase.STARTING

    def _would_be_dead(self, watched: Watched) -> bool:
        """Tell whether a start cannot help yet, the user too, once."""
        why = watched.program.liveness.look().dead if watched.program.liveness else None
        if why and not watched.is_held:
            self._around.say(f"{watched.program.name} waits until a start can help: {why}")
        watched.is_held = bool(why)
        return watched.is_held

    def _tell_undertaker(self, child: Child) -> None:
        try:
            self._undertaker.started(child.group)
        except BrokenPipeError:
            raise MachineProblem("the undertaker process was killed") from None

    def _look_whether_ready(self, watched: Watched) -> None:
        program = watched.program
        if not program.once and (program.readiness is None or program.readiness.is_ready()):
            self._serves(watched)
        elif self._ran_seconds(watched) > (limit_seconds := self._patience_seconds(watched)):
            self._not_ready(watched, f"was not ready within {limit_seconds:g} s")

    def _serves(self, watched: Watched) -> None:
        watched.phase = Phase.READY
        watched.has_served = True

    def _not_ready(self, watched: Watched, what: str) -> None:
        """A start from the front gives nothing to what works as far as it can."""
        work = watched.program.work
        lacks = work.lacks() if work is not None else None
        if lacks is None:
            self._crashed(watched, what)
        else:
            self._around.say(f"{watched.program.name} {what}, and goes on without: {lacks}")
            self._serves(watched)

    def _patience_seconds(self, watched: Watched) -> float:
        given, crashes = watched.program.ready_timeout_seconds, watched.crashes_in_a_row
        return self._policy.patience_seconds(given, crashes, watched.has_served)

    def _ended(self, watched: Watched, code: int) -> None:
        if watched.is_done(code):
            self._done(watched)
        elif code == EXIT_BAD_SETTINGS:
            self._refused(watched)
        else:
            self._crashed(watched, f"ended with {_described(code)}")

    def _done(self, watched: Watched) -> None:
        """What needs it may start, and it is not started again."""
        self._bury(watched)
        watched.phase = Phase.READY
        if not watched.program.once:
            self._around.say(f"{watched.program.name} has ended")

    def _refused(self, watched: Watched) -> None:
        """What has served is tried again: a file that is bad by now may be mended."""
        name, what = watched.program.name, "refused its settings or its input"
        if not watched.has_served:
            raise MachineProblem(f"{name} {what}: read {self.log_file(name)}")
        self._crashed(watched, what)

    def _crashed(self, watched: Watched, what: str) -> None:
        name = watched.program.name
        served = self._ran_seconds(watched) if watched.phase is Phase.READY else 0.0
        self._bury(watched)
        watched.phase, watched.asked_to_end_at_seconds = Phase.WAITING, None
        watched.dead_looks, watched.silent_since_seconds = 0, None
        watched.crashes_in_a_row = self._policy.crashes_in_a_row(watched.crashes_in_a_row, served)
        pause = self._policy.pause_seconds(watched.crashes_in_a_row, watched.has_served)
        log_file = self.log_file(name)
        if pause is None:
            times = watched.crashes_in_a_row
            raise MachineProblem(f"{name} {what}, {times} times in a row: read {log_file}")
        watched.not_before_seconds = self._around.now_seconds() + pause
        self._around.say(f"{name} {what}; it starts again in {pause:g} s (log: {log_file})")

    def _ran_seconds(self, watched: Watched) -> float:
        return self._seconds_since(watched.started_at_seconds)

    def _seconds_since(self, seconds: float) -> float:
        return self._around.now_seconds() - seconds

    def log_file(self, name: str) -> Path:
        """Return where the output of a program is kept."""
        return self._around.logs / f"{name}.log"

    def _stop_all(self) -> None:
        """End level by level, so that nothing loses what it still needs; a second signal hurries.

        The last step is unconditional: whatever happens on the way, every group is killed.
        """
        asked_at = self._around.now_seconds()
        try:
            for level in stop_levels(self._programs):
                children = [child for name in level if (child := self._all[name].child)]
                self._stop_level(children, asked_at)
        finally:
            for watched in self._all.values():
                self._bury(watched)
            self._undertaker.close()

    def _bury(self, watched: Watched) -> None:
        if watched.child is not None:
            watched.child.end(0)
            self._undertaker.ended(watched.child.group)
        watched.child = None

    def _stop_level(self, children: list[Child], asked_at: float) -> None:
        for child in children:
            child.ask_to_stop()
        begun = now = self._around.now_seconds()
        while running := [each for each in children if each.exit_code is None]:
            patience = max(each.program.stop_timeout_seconds for each in running)
            if self._hurried or now - begun > patience:
                break
            again = self._around.wait(TICK_SECONDS / 2)
            now = self._around.now_seconds()
            self._hurried = again and now - asked_at > HURRY_AFTER_SECONDS
        for child in children:
            if child.exit_code is None:
                self._around.say(f"{child.program.name} did not end when asked: killed")
            child.end(0)


def _described(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
