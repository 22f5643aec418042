"""A full disk, as files of this process meet it."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def full_after(size_bytes: int) -> Iterator[None]:
    """Let no file of this process become larger; what is written is cut off there."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
