"""A token bucket: sends wait for their turn, none is dropped."""


class TokenBucket:
    """Allows `per_second` sends on average and `burst` at once; None means no limit."""

    def __init__(self, per_second: float | None, burst: int, now: float) -> None:
        self._per_second = per_second
        self._burst = burst
        self._tokens = float(burst)
        self._filled_at = now

    def available(self, now: float, wanted: int) -> int:
        """Return how many of `wanted` sends may begin now."""
        if self._per_second is None:
            return wanted
        gained = (now - self._filled_at) * self._per_second
        self._tokens = min(float(self._burst), self._tokens + max(0.0, gained))
        self._filled_at = now
        return max(0, min(wanted, int(self._tokens)))

    def take(self, count: int) -> None:
        """Use tokens; more than are there are a debt, which delays the next."""
        if self._per_second is not None:
            self._tokens -= count

    def seconds_to_next(self) -> float:
        """Return how long until one more send may begin; 0 without a limit."""
        if self._per_second is None:
            return 0.0
        return max(0.0, (1.0 - self._tokens) / self._per_second)
