"""How long a doubt waits for evidence, and when evidence is asked for."""

from dataclasses import dataclass

from services.deliverer.channel import Traits


@dataclass(frozen=True, slots=True)
class DoubtTerms:
    """The terms of one channel's doubts; times are counted from the beginning of the doubt."""

    wait_seconds: float
    look_up_seconds: tuple[float, ...]
    """When the channel's witness is asked, ascending; empty if it has none."""

    @classmethod
    def of(cls, traits: Traits, wait_seconds: float, *, has_witness: bool) -> "DoubtTerms":
        """Return a channel's terms: where the receiver drops repeats by key, nothing is waited for.

        What is in doubt there goes out again at once, and nobody is asked about it.
        """
        if traits.dedupes_by_key:
            return cls(0.0, ())
        return cls(wait_seconds, traits.look_up_after_seconds if has_witness else ())

    @property
    def last_look_up(self) -> int:
        """Number of the look-up whose answer is waited for, -1 if none is."""
        return sum(each <= self.wait_seconds for each in self.look_up_seconds) - 1
