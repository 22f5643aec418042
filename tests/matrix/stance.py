"""How a far end that is the real thing misbehaves: it refuses, or its answers are not heard."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field

from tests.matrix.peer import Refusal, Refusals
from tests.passage import Passage


@dataclass
class Stance:
    """Brings a far end to refuse, and back, by what its operator could do to it."""

    ways: Mapping[Refusal, Callable[[], AbstractContextManager[None]]]
    """Each lets it refuse while its block lasts."""
    _taken: ExitStack = field(default_factory=ExitStack)

    @property
    def refusals(self) -> Refusals:
        """The dials, for each refusal that it can be brought to."""
        return {kind: {"refuse": kind} for kind in self.ways}

    def turn(self, faults: Mapping[str, object]) -> None:
        """Refuse as the dials say, or no more; dials of something else change nothing."""
        if "refuse_share" not in faults:
            return
        self.end()
        kind = faults.get("refuse")
        if faults["refuse_share"] and isinstance(kind, Refusal):
            self._taken.enter_context(self.ways[kind]())

    def end(self) -> None:
        """Refuse no more."""
        self._taken.close()


def play(passage: Passage, faults: Mapping[str, object], word: bytes) -> None:
    """Keep back what is answered to a message, known by a word, or say it late, or go on."""
    answering = {name: value for name, value in faults.items() if not name.startswith("refuse")}
    if any(answering.values()):
        passage.armed = word
        late = answering.get("delay_seconds")
        passage.late_seconds = late if isinstance(late, int | float) else None
    elif not answering:
        return
    elif passage.late_seconds is None:
        passage.hang_up()
    else:
        passage.armed = None
