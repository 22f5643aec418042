"""A mark for the processes of one test."""

import uuid

import pytest


@pytest.fixture
def mark() -> str:
    """A number of seconds to sleep that no other process on this machine sleeps."""
    return f"86400.{uuid.uuid4().int % 10**12:012d}"
