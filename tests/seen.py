"""Properties whose assertions hold for some examples only: they must have met such ones."""

from collections.abc import Callable
from functools import wraps


class Seen:
    """The kinds of cases that a property's examples were."""

    def __init__(self) -> None:
        self._met: set[object] = set()

    def add(self, kind: object) -> None:
        """Note what an example is."""
        self._met.add(kind)

    def must_be(self, *kinds: object) -> Callable[[Callable[..., None]], Callable[..., None]]:
        """Fail a property none of whose examples was of one of these kinds."""

        def guarded(test: Callable[..., None]) -> Callable[..., None]:
            @wraps(test)
            def judged(*args: object, **named: object) -> None:
                self._met.clear()
                test(*args, **named)
                unmet = [each for each in kinds if each not in self._met]
                assert not unmet, f"what it asserts of these was never tried: {unmet}"

            return judged

        return guarded
