"""Which topics were made again; with the one before, brokers forget what groups settled of it."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Final

Pair = tuple[str, str]
"""Group and topic."""


@dataclass(frozen=True, slots=True)
class MadeAgain:
    """What is remembered of topics, by the brokers' ids of them, and of who had settled records.

    It knows what it has heard: of what happened before the first time it says nothing.
    """

    ids: Mapping[str, str] = field(default_factory=dict)
    settled: frozenset[Pair] = frozenset()
    forgotten: frozenset[Pair] = frozenset()
    """Had settled records of the topic before, and may have settled some of this one by now."""

    def topics(self) -> Set[str]:
        """Return the topics whose ids it is to hear next."""
        return {topic for _, topic in self.settled | self.forgotten}

    def heard(self, settled: Set[Pair], ids: Mapping[str, str]) -> "MadeAgain":
        """Return what is remembered once brokers have told what groups have settled.

        `ids` are those of topics that are there: between the two topics there is none.
        """
        anew = {topic for topic, found in ids.items() if self.ids.get(topic, found) != found}
        made = {pair for pair in self.settled if pair[1] in anew}
        away = {pair for pair in self.settled if pair[1] not in ids}
        # What brokers still tell at first may be of the topic before: it stays until the next look.
        forgotten = (self.forgotten - settled) | made
        return MadeAgain({**self.ids, **ids}, frozenset({*away, *settled}), forgotten)


NOTHING: Final = MadeAgain()
"""What is remembered before anything was heard."""
