"""What tests with real parts need beyond `tests/conftest.py`."""

import pytest

_DRAWN_BESIDE = (
    "ignore:Do not use the `random` module inside strategies"
    ":hypothesis.errors.HypothesisDeprecationWarning"
)


def pytest_configure(config: pytest.Config) -> None:
    """Let a pool's worker draw a random lifetime while Hypothesis draws an example.

    Hypothesis compares the state of the global `random` before and after a draw, and psycopg_pool
    spreads its connections' ends with it on a thread of its own; unit tests stay strict.
    """
    config.addinivalue_line("filterwarnings", _DRAWN_BESIDE)
