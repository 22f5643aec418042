"""Far ends that note when the first byte of each delivery came."""

Seen = dict[str, list[int]]
"""Nanoseconds of the monotonic clock, by delivery id."""
