"""People at the API: they silence, end silences and acknowledge; again until it is kept."""

import itertools
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Final

from services.backbone.ledger.operators.silences import NewSilence
from services.contracts.ids import alert_id
from tests.simulation.keeper_judge import KeeperJudge
from tests.simulation.kernel import Kernel
from tests.simulation.memory.following import MemoryAcknowledgements
from tests.simulation.memory.silences import MemorySilences
from tests.simulation.memory.suppressions import moment
from tests.simulation.plan import Saying, Word
from tests.simulation.store import Store

AGAIN_SECONDS: Final = 0.5
WATCH: Final = "simulated"


@dataclass
class People:
    """Their words go to the store, past the programs that are put to the test."""

    kernel: Kernel
    store: Store
    keepers: KeeperJudge
    _names: "itertools.count[int]" = field(default_factory=itertools.count)

    def say(self, saying: Saying) -> None:
        """Do what a person does, as soon as the store answers."""
        if self.store.is_away:
            self.kernel.after(AGAIN_SECONDS, partial(self.say, saying))
            return
        self.kernel.tell("ann", f"{saying}")
        match saying.word:
            case Word.SILENCE:
                self._silence(saying)
            case Word.END:
                self._end()
            case Word.ACKNOWLEDGE:
                self._acknowledge(saying)
        self.store.synced()

    def _silence(self, saying: Saying) -> None:
        now = moment(self.store.now())
        match = {"labels": {"crowd": saying.crowd}} if saying.crowd != "*" else {"watch": WATCH}
        name = f"s{next(self._names)}"
        ends = now + timedelta(seconds=saying.seconds)
        new = NewSilence(name, match, now, ends, "ann", "works")
        MemorySilences(self.store.tables).create(new)
        self.keepers.said_at[name] = self.kernel.now

    def _end(self) -> None:
        silences = MemorySilences(self.store.tables)
        for each in silences.standing()[:1]:
            silences.end(each.silence_id, "ann")

    def _acknowledge(self, saying: Saying) -> None:
        """Only what is recorded can be acknowledged; a person tries again."""
        named = alert_id(WATCH, [str(saying.number)])
        if named not in self.store.tables.alerts:
            self.kernel.after(AGAIN_SECONDS, partial(self.say, saying))
            return
        MemoryAcknowledgements(self.store.tables).acknowledge(named, person="ann", via="api")
