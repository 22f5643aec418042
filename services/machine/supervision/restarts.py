"""When a crashed program is started again, and when to give up: a decision on values."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RestartPolicy:
    """Start again after a growing pause; give up on what crashed too often and never served.

    What has served once is worth trying for ever: a store whose disk is full serves again when
    there is room, and meanwhile the rest goes on without it. A run of at least `stable_seconds`
    that came to serve is a success and starts the count anew. The pause doubles from
    `first_pause_seconds` up to `longest_pause_seconds`.
    """

    crashes_in_a_row_limit: int = 5
    stable_seconds: float = 60.0
    first_pause_seconds: float = 0.5
    longest_pause_seconds: float = 8.0
    patience_doublings: int = 3

    def crashes_in_a_row(self, before: int, ran_seconds: float) -> int:
        """Return the new count after a crash, given the count before and how long it had run.

        What never came to serve has run for 0 seconds.
        """
        return 1 if ran_seconds >= self.stable_seconds else before + 1

    def pause_seconds(self, crashes_in_a_row: int, has_served: bool) -> float | None:
        """Return how long to wait before the next start; None means to give up."""
        if crashes_in_a_row >= self.crashes_in_a_row_limit and not has_served:
            return None
        doublings = min(crashes_in_a_row, self.crashes_in_a_row_limit) - 1
        doubled: float = self.first_pause_seconds * 2.0**doublings
        return min(doubled, self.longest_pause_seconds)

    def patience_seconds(self, given: float, crashes_in_a_row: int, has_served: bool) -> float:
        """Return how long a start may take, twice as long with each crash of what has served.

        A machine so busy that a start takes too long is not helped by starting from the front.
        """
        doublings = min(crashes_in_a_row, self.patience_doublings) if has_served else 0
        patience: float = given * 2.0**doublings
        return patience
