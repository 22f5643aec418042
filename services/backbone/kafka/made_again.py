"""Which topics were made again; with the one before, brokers forget what groups settled of it."""

from collections.abc import Mapping, Set

Pair = tuple[str, str]
"""Group and topic."""


class MadeAgain:
    """Remembers which groups had settled records of which topic, by the brokers' ids of topics.

    It knows what it has heard: of what happened before its making it says nothing.
    """

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        self._settled: Set[Pair] = frozenset()
        self._forgotten: Set[Pair] = frozenset()

    def topics(self) -> Set[str]:
        """Return the topics whose ids it is to hear next."""
        return {topic for _, topic in self._settled | self._forgotten}

    def forgotten(self, settled: Set[Pair], ids: Mapping[str, str]) -> Set[Pair]:
        """Return the groups that have settled nothing of a topic since it was made again.

        `ids` are those of topics that are there: between the two topics there is none.
        """
        anew = {topic for topic, found in ids.items() if self._ids.get(topic, found) != found}
        made = {pair for pair in self._settled if pair[1] in anew}
        # What brokers still tell at first may be of the topic before: it stays until the next look.
        self._forgotten = (self._forgotten - settled) | made
        self._settled = settled | {pair for pair in self._settled if pair[1] not in ids}
        self._ids |= ids
        return self._forgotten - settled
